"""What tight cells reveal: minimality, and downcoding.

A method that loses as little as it can publishes cells that are tight: both ends of an interval are values of rows in
its class, so is every member of a set, and a node of a hierarchy is published if rows are below at least two of its
children. Anyone who knows the method therefore knows that each class has these values, though not in which rows, and
can replace published cells by them: the result is finer than the release, and as true (Wong, Fu, Wang, Pei 2007;
Cohen, Attacks on Deidentification's Defenses, 2022). Of a class of s rows, at least two cells are known up to the row;
in small classes that is a large share. `round` widens intervals beyond their rows, which prevents this.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Float64, Int64
from coterie.disclosure.labels import Said, read_labels
from coterie.values.codes import first_rows
from coterie.values.notation import CellText, columns_of, distinct_texts, published_classes, published_names
from coterie.wording import percent_text


class Downcoding(NamedTuple):
    """What tight cells reveal about a column, as shares of its cells."""

    column: str
    exact: float
    """published as one value"""
    known: float
    """published as more, but the value is known up to the row of the class"""
    narrowed: float
    """known to lie in half of what is published, up to the row; those in `known` are among them"""
    complete: float
    """in classes of which every value is known, though published as more than one"""
    guess: float | None = None
    """cells that are guessed right if every value between the ends is as likely; None for categories"""
    guess_tight: float | None = None
    """the same, if both ends are known to occur"""
    halves: bool = False
    """whether it is published by nodes of a hierarchy"""

    @property
    def text(self) -> str:
        """The figures in a sentence, with what prevents it."""
        told = f"`{self.column}`: {percent_text(self.exact)} of the cells are published as one value"
        if not self.narrowed:
            return f"{told}, and tight cells reveal no others"
        why = "cells are no wider than their rows"
        told += f", and since {why}, {percent_text(self.known)} more are known for the group, if not row by row"
        if self.narrowed > self.known:
            told += f", {percent_text(self.narrowed)} are narrowed to half of the published values or fewer"
        if self.guess is not None and self.guess_tight is not None and self.guess_tight > self.guess:
            told += f"; guesses that are right rise from {percent_text(self.guess)} to {percent_text(self.guess_tight)}"
        return f"{told}. {self._mend}"

    @property
    def _mend(self) -> str:
        if self.halves:
            return "A hierarchy whose nodes have more than two children prevents it"
        return "`round` prevents it" if self.guess is not None else "A hierarchy prevents it"


CellCounts: TypeAlias = Mapping[tuple[CellText, int], int]
"""cell and rows of its class → how many classes"""


class _Cells(NamedTuple):
    """The cells of a column, by what they say and how large their classes are."""

    said: list[Said]
    cell: Int64
    sizes: Int64
    classes: Int64


def downcode(
    counted: Mapping[str, CellCounts], *, forms: Mapping[str, Any], rounded: Collection[str] = ()
) -> tuple[Downcoding, ...]:
    """Count the cells that tight intervals, sets and nodes reveal.

    Args:
        counted: The counts of `count_cells` for a release whose cells are no wider than their rows.
        forms: Column → the tree or rule of its hierarchy.
        rounded: Columns whose intervals were rounded outward, so that their ends say nothing.
    """
    found = []
    for name, counts in counted.items():
        cells = None if name in rounded else _read(counts, forms.get(name))
        if cells is not None and len(cells.cell):
            found.append(_downcoded(name, cells)._replace(halves=name in forms and not isinstance(forms[name], tuple)))
    return tuple(found)


def loss_by_label(counts: CellCounts, form: Any) -> float | None:  # noqa: ANN401 - a tree or rule
    """Return what a column lost by its published cells alone, from 0 to 1; None if its labels do not say how much.

    An interval is compared with all that is published of the column, a node with its whole hierarchy.
    """
    cells = _read(counts, form)
    if cells is None or not len(cells.cell):
        return None
    ends = [end for each in cells.said if each.ends is not None for end in each.ends]
    span = max(ends) - min(ends) if ends else 0
    wide = [float((each.ends[1] - each.ends[0]) / span) if each.ends is not None and span else 0 for each in cells.said]
    lost = np.array([each.lost or width for each, width in zip(cells.said, wide, strict=True)])[cells.cell]
    rows = cells.sizes * cells.classes
    return _mean(lost, rows)


def classes_of(table: pa.Table, quasi: Sequence[str]) -> tuple[pa.Table, Int64]:
    """Return the classes of a published table in memory: one row per class, and the number of its rows."""
    of_row, sizes = published_classes(table, quasi)
    names = published_names(table.column_names, quasi)
    return table.select(names).take(pa.array(first_rows(of_row, len(sizes)))), sizes


def count_cells(pieces: Iterable[tuple[pa.Table, Int64]], *, quasi: Sequence[str]) -> Mapping[str, CellCounts]:
    """Column → its cells, by the size of their classes, from pieces such as `classes_of` returns."""
    counted: dict[str, dict[tuple[CellText, int], int]] = {name: {} for name in quasi}
    for table, sizes in pieces:
        for name, held in counted.items():
            columns = [table.column(each) for each in columns_of(name, table.column_names)]
            of_row, texts, _ = distinct_texts(*columns, name=name)
            widest = int(sizes.max(initial=0)) + 1
            keys, classes = np.unique(of_row * widest + sizes, return_counts=True)
            for key, often in zip(keys.tolist(), classes.tolist(), strict=True):
                entry = (texts[key // widest], key % widest)
                held[entry] = held.get(entry, 0) + often
    return counted


def _read(counted: CellCounts, form: Any) -> _Cells | None:  # noqa: ANN401 - a tree or rule
    texts = list(dict.fromkeys(text for text, _ in counted))
    said = read_labels(texts, form)
    if said is None:
        return None
    place = {text: at for at, text in enumerate(texts)}
    cell, sizes = [place[text] for text, _ in counted], [size for _, size in counted]
    return _Cells(said, *(np.array(each, dtype=np.int64) for each in (cell, sizes, list(counted.values()))))


def _downcoded(name: str, cells: _Cells) -> Downcoding:
    sizes, rows = cells.sizes, cells.sizes * cells.classes
    total = int(rows.sum())

    def of_class(values: Iterable[int]) -> Int64:
        return np.array(list(values), dtype=np.int64)[cells.cell]

    single = of_class(each.single for each in cells.said) > 0
    known = np.where(single, 0, np.minimum(of_class(each.values for each in cells.said), sizes))
    narrowed = np.where(single, 0, np.minimum(of_class(max(each.values, each.children) for each in cells.said), sizes))
    guess = _guesses(cells, single)
    return Downcoding(
        name,
        exact=float(rows[single].sum() / total),
        known=float((known * cells.classes).sum() / total),
        narrowed=float((narrowed * cells.classes).sum() / total),
        complete=float(rows[~single & (known == sizes)].sum() / total),
        guess=None if guess is None else _mean(guess[0], rows),
        guess_tight=None if guess is None else _mean(guess[1], rows),
    )


def _mean(values: Float64, rows: Int64) -> float:
    """Return the mean over rows, exactly rounded: it must not depend on the order in which an engine counts classes."""
    return math.fsum((values * rows).tolist()) / int(rows.sum())


def _guesses(cells: _Cells, single: Bool) -> tuple[Float64, Float64] | None:
    """Entry → the chance of a guess without and with the knowledge that both ends occur.

    The values that could lie between two ends are those that are published as an end somewhere: at least these exist.
    Of s rows one holds the lower end for sure, one the upper, and s − 2 any of them.
    """
    ends = sorted({end for each in cells.said if each.ends is not None for end in each.ends})
    if not ends:
        return None
    rank = {end: at for at, end in enumerate(ends)}
    spans = [len(ends) if each.ends is None else rank[each.ends[1]] - rank[each.ends[0]] + 1 for each in cells.said]
    width = np.where(single, 1, np.array(spans)[cells.cell])
    tight = np.array([each.values == 2 for each in cells.said])[cells.cell] & ~single
    rows = np.maximum(cells.sizes, 2)
    return 1 / width, np.where(tight, (1 + (rows - 2) / width) / rows, 1 / width)
