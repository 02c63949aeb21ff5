"""Rank quasi-identifiers, and pairs of them, by the risk they add.

Distinction and separation follow Motwani and Xu 2007: for a set of columns, the number of distinct values ÷ rows,
and the share of all pairs of rows that differ in them. A column adds what leaving it out would remove.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.values.codes import Codes, column_codes, first_rows, row_classes
from coterie.values.notation import columns_of


class ColumnRisk(NamedTuple):
    """One quasi-identifier, or a pair of them."""

    columns: tuple[str, ...]
    distinct: int
    """distinct values of these columns"""
    distinction: float
    """distinct values ÷ rows: 1 if these columns alone distinguish all rows"""
    separation: float
    """share of pairs of rows that differ in these columns"""
    uniques: int
    """rows that are unique by these columns alone"""
    adds: float
    """the decrease of the average (prosecutor) risk without these columns"""
    adds_uniques: int
    """the number of rows that are unique only because of these columns"""


class ColumnRisks(NamedTuple):
    """All quasi-identifiers and all pairs, those that add most first."""

    single: tuple[ColumnRisk, ...]
    pairs: tuple[ColumnRisk, ...]


class _Spread(NamedTuple):
    """The distribution of rows over classes."""

    classes: int
    separation: float
    uniques: int
    average: float


def rank_columns(table: pa.Table, *, quasi: Sequence[str], pairs: bool = True) -> ColumnRisks:
    """Rank quasi-identifiers and pairs of them by the risk they add.

    Args:
        table: An original or a published table.
        quasi: Its quasi-identifiers; `<name>_min` and `<name>_max` stand for a column published as bounds.
        pairs: Whether to rank pairs too, of which there are many.
    """
    columns = {name: _codes(table, name) for name in quasi}
    everything = [codes for name in quasi for codes in columns[name]]
    of_row, classes = row_classes(everything)
    counts = np.bincount(of_row, minlength=classes).astype(np.int64)
    first = first_rows(of_row, classes)
    # Equal rows stay equal whichever columns are left out: from here on, one row per class with a count.
    fewer = {name: [each._replace(codes=each.codes[first]) for each in codes] for name, codes in columns.items()}

    def spread(names: Sequence[str]) -> _Spread:
        chosen = [codes for name in names for codes in fewer[name]]
        if not chosen:
            return _spread(np.array([counts.sum()], dtype=np.int64))
        part, size = row_classes(chosen)
        return _spread(np.bincount(part, weights=counts, minlength=size).astype(np.int64))

    whole, rows = _spread(counts), max(int(counts.sum()), 1)

    def risk(names: tuple[str, ...]) -> ColumnRisk:
        with_them, without = spread(names), spread([name for name in quasi if name not in names])
        return ColumnRisk(
            columns=names,
            distinct=with_them.classes,
            distinction=with_them.classes / rows,
            separation=with_them.separation,
            uniques=with_them.uniques,
            adds=whole.average - without.average,
            adds_uniques=whole.uniques - without.uniques,
        )

    def ranked(size: int) -> tuple[ColumnRisk, ...]:
        found = [risk(names) for names in combinations(quasi, size)]
        return tuple(sorted(found, key=lambda each: (-each.adds, -each.separation)))

    return ColumnRisks(ranked(1), ranked(2) if pairs else ())


def _codes(table: pa.Table, name: str) -> list[Codes]:
    return [column_codes(table.column(each), name=each) for each in columns_of(name, table.column_names)]


def _spread(sizes: Int64) -> _Spread:
    rows = int(sizes.sum())
    alike = int((sizes * (sizes - 1)).sum())
    return _Spread(
        classes=int(np.count_nonzero(sizes)),
        separation=1.0 - alike / (rows * (rows - 1)) if rows > 1 else 0.0,
        uniques=int(np.count_nonzero(sizes == 1)),
        average=int(np.count_nonzero(sizes)) / rows if rows else 0.0,
    )
