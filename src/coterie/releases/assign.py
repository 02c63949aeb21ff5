"""Assign later rows to the groups of an earlier release, so that a growing table is published consistently.

A row fits a group if the group's published cell admits each of its quasi-identifiers: a number within the
interval, a value below the label, a member of the set. Values absent from the first table may still fit.
Of several groups that it fits, a row joins the one whose box costs least; ties go to the one with the lowest
number. Rows that fit none are listed and left to the user: a new release, or suppression.

Groups only grow, so k and distinct l-diversity still hold. Other models may be violated; verification of the
grown table reports that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.arrays import AnyFrame, AnyTable, Float64, Int32, Int64
from coterie.disclosure.link import Link, link_tables
from coterie.errors import DataError, Problem, refuse
from coterie.files import tables
from coterie.files.door import bare_table
from coterie.measures.costs import interval_costs
from coterie.publishing.labels import Boxes, label
from coterie.values.notation import columns_of
from coterie.verification.verify import Verification, verify_table

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.settings.config import Config


@dataclass(frozen=True, eq=False)
class Assignment:
    """Later rows, as far as they fit the groups of a release."""

    groups: Int32 = field(repr=False)
    """new row → group of the release, −1 if it fits none"""
    arrow: pa.Table = field(repr=False)
    """the rows that fit, ready for publication: the columns of the release, in the order of the new rows"""
    verification: Verification
    """the verification of the release together with these rows"""
    source: tables.Source = field(repr=False)
    config: Config = field(repr=False)

    @cached_property
    def placed(self) -> Int64:
        """Positions of the new rows that fit, in the order of `frame`."""
        return np.flatnonzero(self.groups >= 0)

    @cached_property
    def unplaced(self) -> Int64:
        """Positions of the new rows that fit no group."""
        return np.flatnonzero(self.groups < 0)

    @cached_property
    def frame(self) -> AnyFrame:
        """The rows that fit, as the caller's kind of frame."""
        kept = None if len(self.placed) == len(self.groups) else self.placed
        return tables.to_native(self.arrow, self.source, kept=kept, recoded=self.config.quasi)

    def __repr__(self) -> str:
        kept = "kept" if self.verification.passed else "broken"
        return f"<Assignment: {len(self.placed):,} of {len(self.groups):,} rows fit; guarantees {kept}>"


def assign_rows(release: Release, data: AnyTable) -> Assignment:
    """Assign later rows to the groups of a release.

    Args:
        release: The release.
        data: Rows with the columns of the original: a frame, a path or "-". Direct identifiers are not needed.
    """
    config = release.config
    source = tables.read_source(data, config)
    others = [name for name in release.arrow.column_names if name in release.source.table.column_names]
    _check(release, source.table, others)
    first = _first_rows(release)
    shown = _cells(release, first)
    # Means and medians do not determine the original values: they are compared as intervals.
    forms = {name: form for name, form in config.publish.items() if form not in ("mean", "median")}
    link = link_tables(shown, source.table, on=config.quasi, config=config.replace(publish=forms), unknown="value")
    # Groups with equal published cells are one class, represented by the first of them.
    costs = _costs(release)[link.first.first]
    chosen = _cheapest(link, costs)[link.second.class_of_row]
    groups = np.where(chosen >= 0, link.first.first[chosen], -1).astype(np.int32)
    arrow = _published_rows(release, source.table, groups, first)
    grown = pa.concat_tables([release.arrow, arrow])
    verification = verify_table(
        grown,
        quasi=config.quasi,
        k=config.k,
        roots=release.published.roots,
        config=config,
        people=_people(release, source.table, groups),
    )
    return Assignment(groups, arrow, verification, source, config)


def _check(release: Release, table: pa.Table, others: Sequence[str]) -> None:
    problems = []
    if release.by_rows:
        problems.append(Problem("method", "rows that are published one by one have no groups that others could join"))
    needed = dict.fromkeys([*release.config.quasi, *others])
    if release.config.entity is not None:
        needed[release.config.entity] = None
    problems += [
        Problem("", f"the new rows have no column {name!r}, which the release has")
        for name in needed
        if name not in table.column_names
    ]
    refuse(problems)


def _first_rows(release: Release) -> Int64:
    """Return group → one of its published rows."""
    labels = release.groups[release.published.kept]
    first = np.zeros(release.grouping.groups, dtype=np.int64)
    rows = np.flatnonzero(labels >= 0)[::-1]
    first[labels[rows]] = rows
    return first


def _cells(release: Release, first: Int64) -> pa.Table:
    """Return group → its published cells."""
    columns: dict[str, pa.ChunkedArray | pa.Array] = {}
    table, grouping = release.table, release.grouping
    for at, domain in enumerate(table.domains):
        if release.config.publish.get(domain.name) in ("mean", "median"):
            codes, lo, hi = (np.ascontiguousarray(each[:, at]) for each in (table.codes, grouping.lo, grouping.hi))
            labels = label(Boxes(domain, codes, grouping.labels, lo, hi), "interval")
            columns[domain.name] = labels.values[0].take(pa.array(labels.of_group))
            continue
        names = columns_of(domain.name, release.arrow.column_names)
        columns |= {name: release.arrow.column(name).take(pa.array(first)) for name in names}
    return pa.table(columns)


def _costs(release: Release) -> Float64:
    """Return group → cost per row of its box."""
    total = np.zeros(release.grouping.groups)
    for at, domain in enumerate(release.table.domains):
        lo, hi = release.grouping.lo[:, at], release.grouping.hi[:, at]
        total += domain.weight * interval_costs(domain, lo=lo, hi=hi, leaf_counts=release.config.leaf_counts).ncp
    return total


def _cheapest(link: Link, costs: Float64) -> Int32:
    from coterie.kernels.link import cheapest

    rank = link.first.first.astype(np.int64)
    parts = [cheapest(pairs.found, pairs.met, costs, rank) for pairs in link.pairs()]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


def _published_rows(release: Release, table: pa.Table, groups: Int32, first: Int64) -> pa.Table:
    """Return the placed rows with the cells of their groups."""
    placed = pa.array(np.flatnonzero(groups >= 0))
    model = pa.array(first[groups[groups >= 0]])
    generalized = {name for quasi in release.config.quasi for name in columns_of(quasi, release.arrow.column_names)}
    columns = []
    for part in release.arrow.schema:
        if part.name in generalized:
            columns.append(release.arrow.column(part.name).take(model))
            continue
        column = table.column(part.name).take(placed)
        try:
            columns.append(column.cast(part.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise DataError(
                f"Column {part.name!r} is {part.type} in the release, but not in the new rows.",
                column=part.name,
                rows=len(column),
                hint="Give the new rows in the same types.",
            ) from None
    return bare_table(pa.Table.from_arrays(columns, schema=release.arrow.schema))


def _people(release: Release, table: pa.Table, groups: Int32) -> pa.ChunkedArray | None:
    """Return the people of the grown table, if k counts them."""
    entity = release.config.entity
    if entity is None:
        return None
    old = release.source.table.column(entity).take(pa.array(release.published.kept))
    new = table.column(entity).take(pa.array(np.flatnonzero(groups >= 0))).cast(old.type)
    return pa.chunked_array([*old.chunks, *new.chunks], type=old.type)
