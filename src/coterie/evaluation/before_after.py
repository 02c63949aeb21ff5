"""An original and its release, column by column, for comparing queries, learning and distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import ConfigError, Problem
from coterie.evaluation.cells import Cells, original_cells
from coterie.evaluation.read import published_cells
from coterie.table.encode import encode, encode_values
from coterie.values.plain import plain_array
from coterie.values.scalars import is_text
from coterie.values.scalars import texts as value_texts

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.settings.config import Config
    from coterie.table.domain import Domain
    from coterie.table.encode import EncodedTable


class ColumnPair(NamedTuple):
    """One column before and after, in the same codes."""

    domain: Domain
    before: Cells
    after: Cells


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """An original table and its published version."""

    original: pa.Table
    published: pa.Table
    config: Config
    known_rows: Int64 | None = None
    """published row → position in the original, if known"""
    _columns: dict[str, ColumnPair] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of_release(cls, release: Release) -> BeforeAfter:
        """Return the original and the published table of a release."""
        return cls(release.source.table, release.published.table, release.config, release.published.kept)

    @cached_property
    def encoded(self) -> EncodedTable:
        """All rows of the original as codes; missing is a value, even in suppressed rows."""
        return encode(self.original, self.config.replace(missing="category", privacy=(), sensitive=(), entity=None))

    @cached_property
    def kept(self) -> Int64:
        """Published row → position in the original; matched in order if unknown."""
        if self.known_rows is not None:
            return self.known_rows
        from coterie.measures.published import match_rows

        return match_rows(self.published, table=self.encoded.table, config=self.config)

    def column(self, name: str) -> ColumnPair:
        """Return a column before and after.

        Raises:
            ConfigError: The original has no such column, or the release omits it.
        """
        if name not in self._columns:
            self._columns[name] = self._generalised(name) if name in self.config.quasi else self._plain(name)
        return self._columns[name]

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.config.quasi

    def _generalised(self, name: str) -> ColumnPair:
        at = self.config.quasi.index(name)
        table = self.encoded.table
        domain = table.domains[at]
        return ColumnPair(
            domain, original_cells(domain, table.codes[:, at]), published_cells(self.published, domain, self.config)
        )

    def _plain(self, name: str) -> ColumnPair:
        """Encode a column that is published unchanged: both tables' values share one set of codes."""
        for table, where in ((self.original, "original"), (self.published, "release")):
            if name not in table.column_names:
                text = f"there is no column {name!r} in the {where}"
                raise ConfigError([Problem("column", f"{text}; the columns are {', '.join(table.column_names)}")])
        before, after = (plain_array(table.column(name)) for table in (self.original, self.published))
        if not before.type.equals(after.type):
            before, after = (_as_text(each, name) for each in (before, after))
        count = len(before)
        domain, codes = encode_values(pa.chunked_array([before, after]), name=name, config=self.config)
        return ColumnPair(domain, original_cells(domain, codes[:count]), original_cells(domain, codes[count:]))


def _as_text(values: pa.Array, name: str) -> pa.Array:
    """Convert the values to text, so that 17 in one file equals 17 in another."""
    if is_text(values.type):
        return values.cast(pa.large_string())
    distinct = values.dictionary_encode()
    texts = pa.array(value_texts(distinct.dictionary, column=name), type=pa.large_string())
    return texts.take(distinct.indices)


def joint_cells(columns: list[Cells]) -> tuple[Int64, Int64]:
    """Return row → its combination of cells, and combination → its first row."""
    from coterie.values.codes import Codes, row_classes

    classes, count = row_classes([Codes(each.of_row, max(each.count, 1), -1, pa.nulls(0)) for each in columns])
    # Classes are numbered in the order of their first rows: each begins where the largest number so far grows.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(classes), prepend=-1) > 0)
    assert len(first) == count
    return classes, first
