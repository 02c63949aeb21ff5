"""The part of a report about identity: risk before and after, class sizes, the risk curve, each column's share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.reporting import model
from coterie.reporting.hide import Hider, joined_edges, rows_by_size
from coterie.reporting.sentences import RELEASE_MODELS
from coterie.settings.threshold import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from coterie.disclosure.risk import Attacker, ClassCounts, Risk
    from coterie.releases.release import Release


EDGES = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)
MOST_COLUMNS = 12
# Pairs of columns are ranked only below this many rows: a report should take seconds.
LARGE = 200_000


def risk_part(release: Release, hider: Hider) -> model.Risk:
    """Report identity disclosure before and after."""
    risk, config = release.risk, release.config
    before, after = release.classes_before, release.classes_after
    limit = risk.after.threshold
    edges = _edges(release, before, hider)
    return model.Risk(
        attack_model=_attack_model(release),
        counted=risk.before.counted,
        threshold=model.Threshold(
            name=limit.name,
            value=float(limit.value),
            smallest_class=limit.rows,
            source="the configuration" if limit.source == "given" else limit.source,
            chosen=config.threshold != DEFAULT_THRESHOLD,
            met=risk.after.prosecutor.above == 0,
        ),
        before=_side(risk.before, hider, edges=edges, before=True),
        after=_side(risk.after, hider, edges=edges),
        class_sizes=_bins(edges, before, after, hider),
        curve=_curve(edges, before, after, hider),
        columns=_columns(release, hider),
        notes=_notes(release),
    )


def class_bins(release: Release, hider: Hider) -> list[model.Bin]:
    """Count the rows in classes by range of sizes, before and after."""
    before, after = release.classes_before, release.classes_after
    return _bins(_edges(release, before, hider), before, after, hider)


def _edges(release: Release, before: ClassCounts, hider: Hider) -> list[int]:
    edges = sorted({*EDGES, release.config.k, release.risk.after.threshold.rows})
    return joined_edges(edges, before.counts, before.rows, hider.k) if hider.external else edges


def _attack_model(release: Release) -> list[str]:
    config = release.config
    told = [
        "Prosecutor: the attacker knows that a person is in the table and knows all of the person's quasi-identifiers: "
        f"{', '.join(config.quasi)}. A record in a class of f {release.risk.after.counted} is the right one with "
        "probability 1 ÷ f. This is the strongest of the three attackers, and the one that the threshold is held "
        "against.",
        "Journalist: the attacker does not know who is in the table and compares with the population. "
        + (
            "The sampling fraction is not set, so this risk was not estimated; it is never above the prosecutor's."
            if config.fraction is None
            else f"The table is assumed to be a random sample of {config.fraction:g} of it."
        ),
        "Marketer: the attacker links all records and accepts errors; the figure is the expected share of correct "
        "links.",
    ]
    if config.release_model is not None:
        told.append(RELEASE_MODELS[config.release_model])
    return told


def _notes(release: Release) -> list[str]:
    if not release.by_rows:
        return []
    return [
        f"Method {release.config.method} publishes rows one by one: it guarantees nothing about equivalence classes, "
        f"so class sizes after publishing do not apply. Each row counts as hidden among {release.config.k}."
    ]


def _side(risk: Risk, hider: Hider, *, edges: list[int], before: bool = False) -> model.Side:
    """Return one table's risk. For an original, counts are only shown up to the edge of a bar."""

    def whole(end: int, number: int) -> int | None:
        """Count the rows in classes smaller than `end`."""
        shown = not (before and hider.external) or end in edges or number == 0
        return hider.count(number, of=risk.rows) if shown else None

    def attacker(found: Attacker, end: int | None) -> model.Attacker:
        above = None if end is None and hider.external else whole(end or 0, found.above)
        share = None if above is None and hider.external else found.share_above
        return model.Attacker(
            highest=hider.figure(found.highest),
            average=hider.figure(found.average) if not before else hider.of_rows(hider.figure(found.average)),
            above=hider.of_rows(above) if before else above,
            share_above=hider.figure(share),
        )

    uniques = whole(2, risk.uniques)
    estimate = risk.population_uniques
    return model.Side(
        rows=hider.of_rows(risk.rows) if before else risk.rows,
        classes=hider.of_rows(risk.classes) if before else risk.classes,
        uniques=hider.of_rows(uniques) if before else uniques,
        unique_share=None if uniques is None else hider.figure(risk.unique_share),
        prosecutor=attacker(risk.prosecutor, risk.threshold.rows),
        journalist=None if risk.journalist is None else attacker(risk.journalist, None),
        marketer=hider.of_rows(hider.figure(risk.marketer)) if before else hider.figure(risk.marketer),
        population_uniques=None if estimate is None else hider.figure(estimate.share),
    )


def _bins(edges: list[int], before: ClassCounts, after: ClassCounts, hider: Hider) -> list[model.Bin]:
    held = [rows_by_size(edges, side.counts, side.rows) for side in (before, after)]
    totals = [max(int(each.sum()), 1) for each in held]
    last = int(np.flatnonzero(held[0] + held[1]).max(initial=0))
    return [
        model.Bin(
            smallest=edge,
            largest=edges[at + 1] - 1 if at + 1 < len(edges) else None,
            before=hider.of_rows(int(held[0][at])),
            after=int(held[1][at]),
            before_share=hider.figure(held[0][at] / totals[0]),
            after_share=hider.figure(held[1][at] / totals[1]),
        )
        for at, edge in enumerate(edges[: last + 1])
    ]


def _curve(edges: list[int], before: ClassCounts, after: ClassCounts, hider: Hider) -> list[model.CurvePoint]:
    """Return the share of records whose risk is at least 1 ÷ f, for f at the end of each bar."""
    below = [np.cumsum(rows_by_size(edges, side.counts, side.rows)) for side in (before, after)]
    totals = [max(int(each[-1]), 1) for each in below]
    ends = [edge - 1 for edge in edges[1:]]
    made = [
        model.CurvePoint(
            risk=1 / end,
            before=hider.figure(below[0][at] / totals[0]),
            after=hider.figure(below[1][at] / totals[1]),
        )
        for at, end in enumerate(ends)
    ]
    # The curve is constant beyond the largest class.
    full = next((at for at, point in enumerate(made) if point.before == 1 and point.after == 1), len(made) - 1)
    return made[: full + 1]


def _columns(release: Release, hider: Hider) -> list[model.ColumnRisk]:
    from coterie.disclosure.columns import rank_columns

    if not release.complete:
        return []  # a sample has more unique rows than the table
    table = release.source.table
    ranked = rank_columns(table, quasi=release.config.quasi, pairs=table.num_rows <= LARGE)
    return [
        model.ColumnRisk(
            columns=list(each.columns),
            adds=hider.of_rows(hider.figure(each.adds)),
            distinct=each.distinct,
            separation=hider.of_rows(hider.figure(each.separation)),
        )
        for each in (*ranked.single[:MOST_COLUMNS], *ranked.pairs[: MOST_COLUMNS // 2])
    ]
