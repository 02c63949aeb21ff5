"""Row numbers on Spark, and checksums that identify the same rows.

Every row needs its position in the table, in every pass and after every retry. Spark keeps no order across
partitions, but within each, and numbers partitions; so a row's key is (partition, position in it), and its number
follows once the rows of all partitions have been counted. Files know the positions of their rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32, Int64, UInt64

if TYPE_CHECKING:
    from pyspark.sql import Column


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """Key of a row → its number."""

    SHIFT: ClassVar[int] = 33
    """bits of the place within a partition, as Spark's monotonically_increasing_id has it"""

    offsets: Int64 | None = None
    """partition → number of its first row; None where keys are row numbers"""

    def of(self, keys: pa.Array) -> Int64:
        """Return the numbers of the rows with these keys."""
        values: Int64 = keys.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        if self.offsets is None:
            return values
        place = values & ((1 << self.SHIFT) - 1)
        numbers: Int64 = self.offsets[values >> self.SHIFT] + place
        return numbers


def number_column(numbers: RowNumbers, key: Column) -> Column:
    """Return the numbers of rows as a column of Spark's, from the column of their keys."""
    from pyspark.sql import functions as sql

    if numbers.offsets is None:
        return key
    first = sql.array(*(sql.lit(int(each)) for each in numbers.offsets))
    place = key.bitwiseAND(sql.lit((1 << RowNumbers.SHIFT) - 1))
    return sql.element_at(first, (sql.shiftright(key, RowNumbers.SHIFT) + 1).cast("int")) + place


def numbers_from(partitions: Int64, rows: Int64) -> RowNumbers:
    """Compute numbers from the row counts of all non-empty partitions."""
    counts = np.zeros(int(partitions.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(counts, partitions, rows)
    return RowNumbers(np.cumsum(counts) - counts)


def fingerprints(rows: Int64, *codes: Int32) -> UInt64:
    """Return row → a fingerprint of its number and codes."""
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
    for columns in codes:
        for at in range(columns.shape[1]):
            mixed ^= mixed >> np.uint64(29)
            mixed = (mixed + columns[:, at].astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return mixed * np.uint64(0x94D049BB133111EB)


def sums_by(place: Int32, values: UInt64, places: int) -> UInt64:
    """Return place → sum of its values, modulo 2**64. Up to two million at a time: 32-bit sums are exact in floats."""
    low = np.bincount(place, weights=(values & np.uint64(2**32 - 1)).astype(np.float64), minlength=places)
    high = np.bincount(place, weights=(values >> np.uint64(32)).astype(np.float64), minlength=places)
    return low.astype(np.uint64) + (high.astype(np.uint64) << np.uint64(32))


def all_rows_sum(rows: int) -> int:
    """Return the sum of the fingerprints of the row numbers 0 … rows − 1, modulo 2**64."""
    piece = 2**20
    total = 0
    for start in range(0, rows, piece):
        total += int(fingerprints(np.arange(start, min(start + piece, rows), dtype=np.int64)).sum())
    return total % 2**64


def pack_codes(codes: Int32) -> pa.Array:
    """Pack the codes of each row into bytes: one field for Spark to carry rather than many."""
    packed = np.ascontiguousarray(codes, dtype="<i4").tobytes()
    return pa.Array.from_buffers(pa.binary(4 * codes.shape[1]), len(codes), [None, pa.py_buffer(packed)]).cast("binary")


def unpack_codes(packed: pa.ChunkedArray | pa.Array, columns: int) -> Int32:
    """Unpack bytes into [rows, columns] codes."""
    chunks = packed.chunks if isinstance(packed, pa.ChunkedArray) else [packed]
    parts = [np.zeros((0, columns), dtype=np.int32)]
    for chunk in chunks:
        fixed = chunk.cast(pa.binary(4 * columns))
        codes = np.frombuffer(fixed.buffers()[1] or b"", dtype="<i4").reshape(-1, columns)
        parts.append(codes[fixed.offset : fixed.offset + len(fixed)])
    return np.concatenate(parts)
