"""The judge's input: counts. Delivering them is the only respect in which engines differ.

Classes are the sets of rows whose published quasi-identifiers are equal. An engine that cannot keep all of them in
memory delivers them in pieces, each of whole classes, and the judge runs where the pieces are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from coterie.arrays import Bool, Int64, Integers
from coterie.verification.exact import wide

Found = TypeVar("Found")


class SizeCounts(NamedTuple):
    """The sizes of classes: each entry is one class, or all classes with the same counts."""

    rows: Int64
    """rows of each class"""
    classes: Int64
    """the number of classes"""
    missing: Int64
    """missing cells of the rows of all of these"""
    blank: Bool
    """whether every cell is suppressed, or missing in columns that cannot contain a mark"""
    marked: bool
    """whether some column can contain a mark: without one, blank rows need not be suppressed"""

    def below(self, k: int) -> tuple[int, int]:
        """Return the rows in classes of fewer than k, and the number of such classes."""
        small = self.rows < k
        return int((self.rows * self.classes)[small].sum()), int(self.classes[small].sum())

    @property
    def blank_rows(self) -> int:
        """Rows that are fully suppressed; they look alike."""
        return int((self.rows * self.classes)[self.blank].sum())

    def kept(self, hidden: int) -> ClassFigures:
        """Return the figures of the classes without the shown suppressed rows, which are among the blank ones."""
        rows, classes = self.rows, self.classes
        if hidden:
            left = self.blank_rows - hidden
            rows = np.append(rows[~self.blank], [left] if left else []).astype(np.int64)
            classes = np.append(classes[~self.blank], [1] if left else []).astype(np.int64)
        size, often = wide(int((rows * classes).sum()) ** 2, rows, classes)
        squares = int((size * size * often).sum())
        least = int(rows.min()) if len(rows) else 0
        return ClassFigures(int(classes.sum()), least, int(rows.max(initial=0)), squares)


class ClassFigures(NamedTuple):
    """The summary of class sizes that measures need."""

    groups: int
    smallest: int
    largest: int
    squares: int
    """sum of the squared sizes"""


class PeopleCounts(NamedTuple):
    """The number of people in classes; rows that name nobody count as one person together."""

    people: Int64
    """people of each class"""
    rows: Int64
    """its rows"""
    classes: Int64
    """the number of classes"""


class CellCounts(NamedTuple):
    """The distinct cells of a sensitive attribute."""

    values: pa.Array
    """without missing ones"""
    rows: Int64
    """value → rows of the release"""
    missing: int
    """rows without a value"""


class ClassCells(NamedTuple):
    """The published cells of some classes."""

    table: pa.Table
    """the published quasi-identifiers, one row per class"""
    sizes: Int64
    """class → rows"""


@dataclass(frozen=True, eq=False)
class ClassValues:
    """Some whole classes: the number of rows of each with each value of a sensitive attribute."""

    of: Int64
    """pair → class 0, 1, …, ascending"""
    value: Int64
    """pair → value, ascending within a class"""
    rows: Int64
    """pair → rows, at least 1"""

    @classmethod
    def count(cls, of: Int64, value: Integers, *, values: int, rows: Int64 | None = None) -> ClassValues:
        """Count rows, or partial counts, by class and value. Every class has a row."""
        keys = of * values + value
        if rows is None:
            found, counts = np.unique(keys, return_counts=True)
        else:
            found, at = np.unique(keys, return_inverse=True)
            # Sums are floats here: exact, since no table has 2**53 rows.
            counts = np.bincount(at, weights=rows, minlength=len(found)).astype(np.int64)
        return cls(*np.divmod(found, max(values, 1)), counts)

    @cached_property
    def starts(self) -> Int64:
        """Class → its first pair."""
        return np.flatnonzero(np.diff(self.of, prepend=-1))

    @cached_property
    def values(self) -> Int64:
        """Class → number of values."""
        return np.diff(self.starts, append=len(self.of))

    @cached_property
    def sizes(self) -> Int64:
        """Class → number of rows."""
        return self.sum(self.rows).astype(np.int64)

    @property
    def largest_class(self) -> int:
        """The number of rows of the largest class."""
        return int(self.sizes.max(initial=1))

    def sum(self, of_pair: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return class → sum over its pairs."""
        return np.add.reduceat(of_pair, self.starts) if len(of_pair) else of_pair

    def largest(self, of_pair: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return class → the largest of its pairs."""
        return np.maximum.reduceat(of_pair, self.starts) if len(of_pair) else of_pair

    def every(self, of_pair: Bool) -> Bool:
        """Return class → whether it holds for all of its pairs."""
        return np.logical_and.reduceat(of_pair, self.starts) if len(of_pair) else of_pair


class CellPairs(NamedTuple):
    """Class × cell → rows, as counted by an engine: some whole classes."""

    of: Int64
    """pair → class 0, 1, …"""
    cells: pa.Array | None
    """pair → cell of the sensitive column"""
    places: Integers | None
    """or pair → its place in `CellCounts.values`, whose length stands for a missing cell"""
    rows: Int64 | None
    """pair → rows; None if each pair is one row"""


class Counter(Protocol):
    """The questions that the judge may ask about a published table."""

    def sizes(self) -> SizeCounts:
        """Return the sizes of the classes."""

    def people(self) -> PeopleCounts | None:
        """Return the number of people in them; None if nothing identifies people."""

    def cells(self, column: str) -> CellCounts:
        """Return the distinct cells of a sensitive attribute."""

    def by_value(self, column: str, look: Callable[[CellPairs], Found]) -> Iterable[Found]:
        """Apply a function to the pairs of class and sensitive value, piece by piece, possibly elsewhere."""

    def by_class(self, look: Callable[[ClassCells], Found]) -> Iterable[Found]:
        """Apply a function to the published cells of classes, piece by piece, possibly elsewhere."""
