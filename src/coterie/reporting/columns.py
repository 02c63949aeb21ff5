"""The part of a report about columns: role, type, hierarchy, weight, technique, and share of cells changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.hierarchies.whole import WholeTree
from coterie.methods import find_method
from coterie.reporting import model
from coterie.reporting.hide import Hider
from coterie.reporting.sentences import TECHNIQUES

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.settings.config import Config
    from coterie.table.domain import Domain


def role_of(config: Config, name: str) -> model.Role:
    """Return a column's role in the configuration."""
    if name in config.quasi:
        return "quasi-identifier"
    if name in config.sensitive:
        return "sensitive"
    if name == config.entity:
        return "person"
    if name in config.keep:
        return "kept"
    return "dropped" if name in config.drop else "identifier"


def attributes_part(release: Release, hider: Hider) -> list[model.Attribute]:
    """Describe every column of the input, quasi-identifiers first."""
    config, table = release.config, release.source.table
    order = ["quasi-identifier", "sensitive", "identifier", "person", "kept", "dropped"]
    names = sorted(table.column_names, key=lambda name: order.index(role_of(config, name)))
    domains = {domain.name: domain for domain in (*release.table.domains, *release.table.sensitive)}
    return [_attribute(release, name, domains.get(name), hider) for name in names]


def _attribute(release: Release, name: str, domain: Domain | None, hider: Hider) -> model.Attribute:
    config, column = release.config, release.source.table.column(name)
    role, rows = role_of(config, name), release.original_rows
    measured = release.measures.attributes.get(name)
    changed: float | None = 0.0 if role in ("sensitive", "kept") else 1.0
    if measured is not None:
        changed = hider.share(round(measured.changed * rows), of=rows)
    return model.Attribute(
        name=name,
        role=role,
        type=_type(config, name, domain, column.type),
        hierarchy=hierarchy_text(config, domain, name, file=not hider.external),
        weight=config.weights.get(name, 1.0) if role == "quasi-identifier" else None,
        techniques=_techniques(release, name, role),
        changed=changed,
        missing=hider.count(release.missing[name], of=rows),
        distinct=_distinct(release, column, domain) if role in ("quasi-identifier", "sensitive") else None,
    )


def _type(config: Config, name: str, domain: Domain | None, stored: pa.DataType) -> str:
    if name in config.types:
        return config.types[name]
    if domain is None:
        return str(stored)
    if pa.types.is_temporal(domain.values.type):
        return "date"
    kind = "number" if domain.kind == "number" else "category"
    return "ordered category" if domain.order else kind


def _distinct(release: Release, column: pa.ChunkedArray, domain: Domain | None) -> int | None:
    if domain is not None:
        return domain.size - (1 if domain.missing >= 0 else 0)
    return int(pc.count_distinct(column).as_py()) if release.complete else None


def hierarchy_text(config: Config, domain: Domain | None, name: str, *, file: bool = False) -> str | None:
    """Describe a hierarchy's kind and size, without its labels."""
    hierarchy = config.hierarchies.get(name)
    if hierarchy is None:
        return None
    if not isinstance(hierarchy.form, WholeTree):
        spec = hierarchy.spec
        if isinstance(spec, str):
            return spec
        return "; ".join(
            f"{rule} {', '.join(map(str, given))}".strip() if isinstance(given, list) else f"{rule} {given}"
            for rule, given in spec.items()
        )
    levels = int(hierarchy.form.heights[0]) + 1
    text = f"tree of {levels} levels and {len(hierarchy.form.leaf_of):,} values"
    return f"{text} ({hierarchy.source.name})" if file and hierarchy.source is not None else text


def _techniques(release: Release, name: str, role: model.Role) -> list[str]:
    if role in ("identifier", "person", "dropped"):
        return [TECHNIQUES["identifier"]]
    removed = release.original_rows - release.published_rows
    found = [TECHNIQUES["rows"]] if removed else []
    if role != "quasi-identifier":
        return found
    if release.measures.attributes[name].changed > 0:
        recoding = find_method(release.config.method).recoding
        mean = release.config.publish.get(name) in ("mean", "median")
        found.insert(0, TECHNIQUES["mean" if mean else recoding])
    if starred_rows(release, release.config.quasi.index(name)) > removed:
        found.append(TECHNIQUES["cells"])
    return found


def starred_rows(release: Release, at: int) -> int:
    """Count the rows in which a quasi-identifier is fully generalized: its cell could be any value of the column.

    For a release made in blocks this is an estimate from the sampled rows.
    """
    shown, domain = release.grouping.published_boxes(), release.table.domains[at]
    if domain.size <= 1:
        return 0
    lo, hi = shown.lo[:, at], shown.hi[:, at]
    anything = (lo == 0) & (hi == domain.size - 1)
    if domain.tree is not None and domain.labelled:
        # The root is published if no lower node contains the box.
        anything = (domain.tree.common_ancestor(lo, hi) == 0) & (hi > lo)
    grouped = shown.labels[shown.labels >= 0]
    suppressed = release.source.table.num_rows - len(grouped)
    starred = int(np.count_nonzero(anything[grouped])) + int(suppressed)
    if release.complete:
        return starred
    share = starred / max(int(release.source.table.num_rows), 1)
    return round(share * release.published_rows) + release.original_rows - release.published_rows
