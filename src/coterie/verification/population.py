"""Count the people of a population who match the published cells of a class, for k-map.

Both tables are read here: the population's cells are values, the published ones intervals, sets, hierarchy labels
or `*`. Two cells match if the same value may be behind both; missing is a separate value. Classes
are followed column by column, with the people who match so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int64, Integers
from coterie.errors import DataError, Problem, refuse
from coterie.verification.ancestors import cell_texts
from coterie.verification.cells import MARK, ColumnCells, equal_rows, first_rows, read_cells
from coterie.verification.readings import Shown, numbered, read_both

if TYPE_CHECKING:
    from coterie.settings.config import Config


class PublishedColumn(NamedTuple):
    """One quasi-identifier of both tables."""

    of_class: Integers
    """class → distinct published cell"""
    of_person: Integers
    """row of the population → distinct cell"""
    lo: Int64
    """distinct published cell → the start of what it admits"""
    hi: Int64
    own_lo: Int64
    """distinct cell of the population → likewise"""
    own_hi: Int64
    members: Sequence[Int64 | None]
    """distinct published cell → the cells of the population that it lists, if it lists any"""

    def fits(self, cell: int, people: Int64) -> Bool:
        """Return which of some people match a published cell."""
        own, listed = self.of_person[people], self.members[cell]
        if listed is not None:
            return np.isin(own, listed)
        fits: Bool = (self.own_lo[own] <= self.hi[cell]) & (self.own_hi[own] >= self.lo[cell])
        return fits


def matches(classes: pa.Table, population: Any, config: Config) -> Int64:  # noqa: ANN401 - a path, an address or a frame
    """Return class → people who match its published cells; both tables have a row for each."""
    from coterie.files import tables

    people = tables.read(population, missing_values=config.missing_values, header=True).table
    absent = [name for name in config.quasi if name not in people.column_names]
    refuse([Problem("on", f"the first table has no column {name!r}") for name in absent])
    owns = [read_cells(people.column(name), name=name) for name in config.quasi]
    of_row, alike = equal_rows(owns)
    first = first_rows(of_row, alike)
    columns = [
        _column(name, classes, ColumnCells(own.values, own.of_row[first]), config)
        for name, own in zip(config.quasi, owns, strict=True)
    ]
    columns.sort(key=lambda column: len(column.lo))  # if few cells differ, few steps separate many classes
    found = np.zeros(classes.num_rows, dtype=np.int64)
    _follow(columns, np.arange(classes.num_rows), np.arange(alike), np.bincount(of_row, minlength=alike), found)
    return found


def _follow(columns: Sequence[PublishedColumn], classes: Int64, people: Int64, counts: Int64, found: Int64) -> None:
    """Divide classes by their cells in the first column, and keep the people who match each."""
    if not columns or not len(people):
        found[classes] = counts[people].sum()
        return
    cells = columns[0].of_class[classes]
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    for part in np.split(order, starts[1:]) if len(order) else ():
        fitting = people[columns[0].fits(int(cells[part[0]]), people)]
        _follow(columns[1:], classes[part], fitting, counts, found)


def _column(name: str, classes: pa.Table, own: ColumnCells, config: Config) -> PublishedColumn:
    style, hierarchy = config.publish.get(name), config.hierarchies.get(name)
    if style in ("mean", "median"):
        raise DataError(
            f"Column {name!r} was published as {style}: single numbers do not determine the original values.",
            column=name,
            hint="Leave it out, or publish it as interval or bounds.",
        )
    of_class, shown = _published(name, classes)
    owned: list[str | None] = [*cell_texts(own.values, name=name), None]
    form = None if hierarchy is None or style == "set" else hierarchy.form
    kind = config.types.get(name) if hierarchy is None else "category"
    own_read, shown_read = read_both(
        owned, shown, form=form, kind=kind, type_=own.values.type, name=name, order=config.ordered.get(name, ())
    )
    (own_lo, own_hi), (lo, hi) = (side.T for side in numbered(own_read, shown_read))
    place = {text: at for at, text in enumerate(owned)}
    members = [
        np.array([place[each] for each in reading if each in place], dtype=np.int64)
        if isinstance(reading, frozenset)
        else None
        for reading in shown_read
    ]
    return PublishedColumn(of_class, own.of_row, lo, hi, own_lo, own_hi, members)


def _published(name: str, classes: pa.Table) -> tuple[Integers, list[Shown]]:
    """Return class → distinct published cell, and these; a pair of ends if the column was published as bounds."""
    if name in classes.column_names:
        cells = read_cells(classes.column(name), name=name)
        return cells.of_row, [*cell_texts(cells.values, name=name), None]
    low, high = (read_cells(classes.column(f"{name}_{end}"), name=name) for end in ("min", "max"))
    of_class, count = equal_rows([low, high])
    first = first_rows(of_class, count)
    texts = [[*cell_texts(end.values, name=name), None] for end in (low, high)]
    ends = zip(low.of_row[first].tolist(), high.of_row[first].tolist(), strict=True)
    pairs = [(texts[0][one], texts[1][other]) for one, other in ends]
    return of_class, [MARK if one is None or other is None else (one, other) for one, other in pairs]
