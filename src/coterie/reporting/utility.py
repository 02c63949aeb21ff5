"""The part of a report about utility: losses, the bound, queries and distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.errors import CoterieError
from coterie.releases.bound import in_words
from coterie.reporting import model
from coterie.reporting.hide import Hider
from coterie.settings.registry import MEASURES

if TYPE_CHECKING:
    from coterie.evaluation.before_after import BeforeAfter
    from coterie.evaluation.distributions import ColumnDistribution
    from coterie.releases.release import Release

QUERIES = 1000
# Large tables get fewer queries: a report should take seconds.
LARGE, FEWER_QUERIES = 200_000, 300
# Above this, the bound of all rows takes longer than a report should.
BOUND_ROWS = 60_000
BOUND_SAMPLE = 2_000
MOST_VALUES = 12
MOST_PAIRS = 12


def utility_part(release: Release, hider: Hider) -> model.Utility:
    """Report the utility of the data."""
    measures, known = release.measures, release.kind.measures(MEASURES)
    notes: list[str] = []
    if release.by_rows:
        notes.append(
            "Rows are published one by one, so groups, their sizes, discernability and C_AVG do not apply to this "
            "release."
        )

    def of_groups(name: str) -> float | None:
        return hider.figure(measures[name]) if name in known else None

    queries, distributions, associations = _compared(release, hider, notes)
    return model.Utility(
        gcp=hider.figure(measures["gcp"]),
        ncp=hider.of_rows(hider.figure(measures["ncp"])),
        attributes=[
            model.AttributeUtility(
                name=each.name,
                weight=each.weight,
                ncp=hider.figure(each.ncp),
                changed=hider.share(round(each.changed * release.original_rows), of=release.original_rows),
                distortion=hider.figure(each.distortion),
            )
            for each in measures.attributes.values()
        ],
        bound=_bound(release, hider),
        measures=_measures(release, hider),
        groups=int(measures["groups"]) if "groups" in known else None,
        smallest=hider.count(measures["smallest"]) if "smallest" in known else None,
        largest=int(measures["largest"]) if "largest" in known else None,
        average_size=of_groups("average_size"),
        queries=queries,
        distributions=distributions,
        associations=associations,
        notes=notes,
    )


def _measures(release: Release, hider: Hider) -> list[model.MeasureFigure]:
    """Return every applicable measure; sums and small counts are withheld if they would reveal too much."""
    made = []
    for name, each in release.kind.measures(MEASURES).items():
        if name not in release.measures:
            continue
        exact, rows = release.measures[name], release.source.table.num_rows
        if each.unit == "rows":
            value: float | None = hider.count(exact, of=None if each.grouped else rows)
        else:
            value = exact if each.unit == "groups" else hider.figure(exact)
            value = hider.of_rows(value) if each.unit == "sum" else value
        made.append(
            model.MeasureFigure(
                name=name,
                value=value,
                about=each.about,
                better=each.better,
                range=each.range,
                does_not_say=each.silent,
            )
        )
    return made


def _bound(release: Release, hider: Hider) -> model.Bound:
    from coterie.grouping.bound import sampled_bound

    measures, table = release.measures, release.table
    if not release.complete:
        text = "Not computed: a bound compares each row with all others, and not all of them are held in memory."
        return model.Bound(value=None, ratio=None, estimated=False, text=text)
    wanted = release.config.bound_effort is not None
    exact = wanted or table.rows <= BOUND_ROWS or "bound" in measures.known
    if release.by_rows:
        text = (
            "The bound is for groups. Rows that are published one by one may lose less, so it does not bind this "
            "release."
        )
    elif exact:
        text = (
            "No local recoding into groups of at least k rows could lose less than the bound, whatever the method; the "
            "best one may lose more than the bound."
        )
    else:
        text = (
            f"Estimated from {BOUND_SAMPLE:,} rows drawn at random, because the table is large; it is approximate. "
            "release.bound or `bound_effort` computes it in full, and raises it further."
        )
    if exact:
        value, ratio = measures["bound"], measures.get("loss_over_bound")
    else:
        drawn = np.random.default_rng(release.config.seed).choice(table.rows, BOUND_SAMPLE, replace=False)
        value = sampled_bound(table, release.config.k, rows=np.sort(drawn))
        weighted = measures["ncp"] / max(table.rows * table.attributes, 1)
        ratio = weighted / value if value > 0 else (1.0 if weighted == 0 else float("inf"))
    if release.by_rows:
        ratio = None
    shown = hider.figure(ratio)
    if exact and (near := in_words(shown)):
        text = f"The loss is {near}. {text}"
    return model.Bound(value=hider.figure(value), ratio=shown, estimated=not exact, text=text)


def _compared(
    release: Release, hider: Hider, notes: list[str]
) -> tuple[model.Queries | None, list[model.Distribution], list[model.Association]]:
    """Return the results that need the release's cells as ranges of values; a note explains if these cannot be read."""
    from coterie.evaluation.before_after import BeforeAfter

    try:
        tables = BeforeAfter.of_release(release)
        return _queries(tables, release, hider), *_distributions(tables, hider)
    except CoterieError as error:
        notes.append(f"Queries and distributions were not measured: {error}")
        return None, [], []


def _queries(tables: BeforeAfter, release: Release, hider: Hider) -> model.Queries:
    from coterie.evaluation.query_workload import Workload, query_errors

    count = QUERIES if release.table.rows <= LARGE else FEWER_QUERIES
    found = query_errors(tables, Workload(count=count, seed=release.config.seed)).summary
    skipped = f" {found.skipped:,} of them match no rows of the original and are left out." if found.skipped else ""
    return model.Queries(
        count=found.queries,
        median=hider.figure(found.median),
        mean=hider.figure(found.mean),
        percentile_95=hider.figure(found.p95),
        text=f"{found.queries:,} COUNT queries with conditions on random sets of quasi-identifiers, drawn from the "
        f"seed; every value that a published cell admits is assumed to be equally likely.{skipped}",
    )


def _distributions(tables: BeforeAfter, hider: Hider) -> tuple[list[model.Distribution], list[model.Association]]:
    from coterie.evaluation.distributions import distributions

    found = distributions(tables)
    columns = [_distribution(each, hider) for each in found.columns.values()]
    ranked = sorted(
        found.associations, key=lambda each: (-max(_or_zero(each.before), _or_zero(each.after)), each.first)
    )
    pairs = [
        model.Association(
            columns=[each.first, each.second],
            measure={"cramers_v": "Cramér's V"}.get(each.measure, each.measure.replace("_", " ")),
            before=hider.figure(each.before),
            after=hider.figure(each.after),
        )
        for each in ranked[:MOST_PAIRS]
    ]
    return columns, pairs


def _or_zero(value: float | None) -> float:
    return 0.0 if value is None or value != value else abs(value)


def _distribution(found: ColumnDistribution, hider: Hider) -> model.Distribution:
    shares: list[model.Share] = []
    if not hider.external:
        few = found if found.edges is not None else found.top(MOST_VALUES)
        shares = [
            model.Share(label=label, before=before, after=after)
            for label, before, after in zip(few.labels, few.before, few.after, strict=True)
        ]
    return model.Distribution(
        name=found.name,
        distance=hider.figure(found.distance),
        levels=[model.Share(label=each.label, before=None, after=hider.figure(each.share)) for each in found.levels],
        shares=shares,
    )
