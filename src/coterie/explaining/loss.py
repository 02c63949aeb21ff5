"""Find which attributes and groups drive the loss, and how a different k or fewer attributes would change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.arrays import Float64
from coterie.errors import ConfigError, CoterieError, Problem
from coterie.measures.measures import Measures, measure_grouping
from coterie.publishing.publish import published_nodes
from coterie.table.costs import Measure, interval_costs
from coterie.table.masks import Mask

if TYPE_CHECKING:
    from coterie.engines.memory.source import PreparedTable
    from coterie.methods._method import Progress
    from coterie.releases.release import Release
    from coterie.settings.config import Config

QUICK_METHOD = "compact"
QUICK_OPTIONS = {"effort": "fast"}
MOST_GROUPS = 5


@dataclass(frozen=True)
class Driver:
    """One attribute's contribution to the loss."""

    name: str
    weight: float
    ncp: float
    """mean over its cells"""
    changed: float
    """share of its cells that changed"""
    share: float
    """of the total weighted loss"""


@dataclass(frozen=True)
class CoarseGroup:
    """A group with high information loss."""

    group: int
    """as in `release.groups`"""
    rows: int
    cost: float
    """the weighted cost of each of its rows (the mean, if rows are published one by one)"""
    share: float
    """of the total weighted loss"""
    driver: str
    """the attribute that costs it most"""


@dataclass(frozen=True)
class LossExplanation:
    """Where the loss of a release comes from."""

    method: str
    k: int
    gcp: float
    drivers: tuple[Driver, ...]
    """attributes, the one with the largest share first"""
    coarsest: tuple[CoarseGroup, ...]
    """the groups with the largest shares"""
    suppressed: int
    suppressed_share: float
    """the share of suppressed rows in the weighted loss"""
    dearest_tenth: float
    """share of the weighted loss in the tenth of the rows with the highest cost"""

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values for JSON."""
        return asdict(self)


def explain_loss(release: Release) -> LossExplanation:
    """Explain where the loss of a release comes from."""
    attributes = release.measures.attributes
    total = sum(each.weight * each.ncp for each in attributes.values())
    drivers = [
        Driver(each.name, each.weight, each.ncp, each.changed, each.weight * each.ncp / total if total > 0 else 0.0)
        for each in attributes.values()
    ]
    shown, labels = release.grouping.published_boxes(), release.grouping.labels
    costs = weighted_costs(release)
    rows = release.source.table.num_rows
    most = float(sum(domain.weight for domain in release.table.domains))
    paid = np.full(rows, most)
    grouped = labels >= 0
    paid[release.rows[grouped]] = costs.sum(axis=1)[shown.labels[grouped]]
    loss = float(paid.sum())
    # Where rows are published one by one, what a group pays is the mean of its boxes.
    boxes, groups = shown.labels[grouped], release.grouping.groups
    columns = [np.bincount(labels[grouped], weights=column[boxes], minlength=groups) for column in costs.T]
    by_group = np.stack(columns, axis=1) if columns else np.zeros((groups, 0))
    sums = by_group.sum(axis=1)
    names = [domain.name for domain in release.table.domains]
    coarsest = [
        CoarseGroup(
            group=int(group),
            rows=int(release.grouping.sizes[group]),
            cost=float(sums[group] / release.grouping.sizes[group]),
            share=float(sums[group] / loss) if loss > 0 else 0.0,
            driver=names[int(np.argmax(by_group[group]))],
        )
        for group in np.argsort(-sums, kind="stable")[:MOST_GROUPS]
    ]
    suppressed = rows - int(np.count_nonzero(grouped))
    dearest = np.sort(paid)[rows - max(rows // 10, 1) :]
    return LossExplanation(
        method=release.config.method,
        k=release.config.k,
        gcp=release.measures["gcp"],
        drivers=tuple(sorted(drivers, key=lambda each: -each.share)),
        coarsest=tuple(coarsest),
        suppressed=suppressed,
        suppressed_share=suppressed * most / loss if loss > 0 else 0.0,
        dearest_tenth=float(dearest.sum()) / loss if loss > 0 else 0.0,
    )


def weighted_costs(release: Release) -> Float64:
    """Return the weighted NCP of each published box and attribute, as the measures count it: [boxes, d]."""
    table, shown = release.table, release.grouping.published_boxes()
    measure, nodes = Measure("ncp", table.leaf_counts), published_nodes(table.domains, shown, release.config.publish)
    costs = []
    for at, domain in enumerate(table.domains):
        node = None if nodes is None else nodes[:, at]
        costs.append(domain.weight * interval_costs(domain, shown.lo[:, at], shown.hi[:, at], measure, node=node))
    return np.stack(costs, axis=1) if costs else np.zeros((len(shown.lo), 0))


@dataclass(frozen=True)
class WhatIf:
    """The effect of a change on the remaining attributes: their mean NCP before and after."""

    change: str
    """such as "k = 5" or "without age" """
    k: int
    dropped: str | None
    before: float
    """with the quick method without the change, over the remaining attributes"""
    after: float
    """with the change; NaN if infeasible"""
    groups: int
    reason: str = ""
    """why it is infeasible"""


@dataclass(frozen=True)
class WhatIfs:
    """Several changes, all evaluated with the same method so that they are comparable."""

    method: str
    """the method of all these runs: a quick one, not that of the release"""
    gcp: float
    """the loss of the quick method without any change"""
    release_gcp: float
    """the loss of the release"""
    changes: tuple[WhatIf, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain values for JSON; infeasible changes are null."""
        values = asdict(self)
        values["changes"] = [asdict(each) | ({"after": None} if each.reason else {}) for each in self.changes]
        return values


def what_if(
    release: Release,
    *,
    k: Sequence[int] | None = None,
    drop: Sequence[str] | None = None,
    method: str | None = None,
    progress: Progress | None = None,
) -> WhatIfs:
    """Quickly re-run the release with another k or without an attribute; arguments as for `Release.what_if`."""
    from coterie.wording import did_you_mean

    config = release.config
    names = [domain.name for domain in release.table.domains]
    ks = [max(config.k // 2, 1), config.k * 2] if k is None else list(k)
    dropped = names if drop is None else list(drop)
    unknown = [name for name in dropped if name not in names]
    problems = [Problem("drop", f"{name!r} is not a quasi-identifier{did_you_mean(name, names)}") for name in unknown]
    if problems:
        raise ConfigError(problems)
    settings = config.replace(method=method or QUICK_METHOD, options={} if method else QUICK_OPTIONS, refine=False)
    changes: list[tuple[Config, str, str | None]] = [(settings.replace(k=each), f"k = {each:,}", None) for each in ks]
    if len(names) > 1:
        changes += [(_dropped(settings, name), f"without {name}", name) for name in dropped]
    total, told = len(changes) + 1, progress or (lambda step, done, total: None)
    told("what if", 0, total)
    before = _measured(release, settings, None)
    found = []
    for done, (changed, text, name) in enumerate(changes):
        told("what if", done + 1, total)
        stay = [each for each in names if each != name]
        kept = float(np.mean([before.attributes[each].ncp for each in stay]))
        try:
            after = _measured(release, changed, name)
            found.append(WhatIf(text, changed.k, name, kept, after["gcp"], int(after["groups"])))
        except CoterieError as error:
            found.append(WhatIf(text, changed.k, name, kept, float("nan"), 0, str(error)))
    used = method or f"{QUICK_METHOD}, effort {QUICK_OPTIONS['effort']}"
    return WhatIfs(used, before["gcp"], release.measures["gcp"], tuple(found))


def _dropped(config: Config, name: str) -> Config:
    return config.replace(quasi=[each for each in config.quasi if each != name])


def _measured(release: Release, config: Config, dropped: str | None) -> Measures:
    """Group the rows of the release again and measure the boxes."""
    from coterie.engines.memory.group import check_possible, group_rows
    from coterie.engines.steps import start_run

    prepared = _prepared(release, dropped).under(config)
    check_possible(prepared, config)
    grouping, table = group_rows(prepared, config, start_run(config)), prepared.encoded.table
    return measure_grouping(table, grouping, config, removed=release.source.table.num_rows - table.rows)


def _prepared(release: Release, dropped: str | None) -> PreparedTable:
    from coterie.engines.memory.source import PreparedTable
    from coterie.table.encode import EncodedTable

    table, book = release.table, release.held.encoded.book
    if dropped is not None:
        stay = [at for at, domain in enumerate(table.domains) if domain.name != dropped]
        book = book.only(stay)
        table = replace(table, codes=np.ascontiguousarray(table.codes[:, stay]), domains=book.domains)
    return PreparedTable(release.source, EncodedTable(table, release.rows, replace(book, mask=Mask())))
