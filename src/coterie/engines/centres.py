"""Check that published means and medians are those of the originals behind them.

A single number does not say which values it stands for. But rows that are published alike are a class, and the mean or
median of their originals is the published number, to the digits that it has. A class may be several groups that
happen to look alike: what is asked of a class here holds for their union, if it holds for each of them. A release
rounds centres to no less than whole numbers and keeps them between the ends of their groups: rounding moves one by up
to a half, however many digits the end has. A missing cell stands for any value, as `*` does elsewhere.

Sums of classes are collected over any pieces of a table. Beyond a million classes a sample of them is followed, by
their keys, so that memory is bounded.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Float64, Int64, UInt64
from coterie.files.csv_out import text_cells
from coterie.verification.cells import is_number, number_in, read_cells

if TYPE_CHECKING:
    from coterie.settings.config import Config

CENTRES = ("mean", "median")
MOST_CLASSES = 1 << 20
_HALF = 0.5
# Sums in other orders differ by less, relative to the values.
_SLACK = 1e-9
_ODD = np.uint64(0x9E3779B97F4A7C15)


# What is known of a class: the published number and half a unit of its last digit;
_SAME = slice(0, 2)
# rows, the sum of the originals' distances from that number, rows whose original is below and above it by more than
# rounding explains, and by more than a half;
_ADDED = slice(2, 8)
# the least original; the greatest, and 1 if some original is the number itself, which may then be the end of a group.
_LEAST, _GREATEST = slice(8, 9), slice(9, 11)


class _Classes(NamedTuple):
    """Sums over the rows of classes."""

    key: UInt64
    sums: Float64
    """[classes, 11] as above"""

    def by_key(self) -> _Classes:
        """Return one entry a key."""
        if not len(self.key):
            return self
        order = np.argsort(self.key, kind="stable")
        key, sums = self.key[order], self.sums[order]
        starts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        added = np.add.reduceat(sums[:, _ADDED], starts)
        least = np.minimum.reduceat(sums[:, _LEAST], starts)
        greatest = np.maximum.reduceat(sums[:, _GREATEST], starts)
        return _Classes(key[starts], np.hstack([sums[starts, _SAME], added, least, greatest]))

    def joined(self, other: _Classes, *, shift: int) -> _Classes:
        """Return both together; only classes whose keys end in this many zero bits."""
        key, sums = np.concatenate([self.key, other.key]), np.concatenate([self.sums, other.sums])
        wanted = key & np.uint64((1 << shift) - 1) == 0
        return _Classes(key[wanted], sums[wanted]).by_key()

    def strangers(self, style: str) -> int:
        """Return the rows of classes whose number is not the centre of their originals."""
        centre, rounding, rows, total, below, above, far_below, far_above, least, greatest, touched = self.sums.T
        slack = _SLACK * np.maximum(np.abs(least), np.abs(greatest))
        wrong = (centre < least - slack) | (centre > greatest + slack)
        if style == "median":
            outweighed = np.where(touched > 0, np.maximum(far_below, far_above), np.maximum(below, above))
            wrong |= outweighed > rows / 2
        else:
            reach = np.where(touched > 0, np.minimum(_HALF, greatest - least), 0.0)
            # Numbers near the largest have no finite sum.
            wrong |= np.isfinite(total) & (np.abs(total) > rows * (np.maximum(reach, rounding) + slack))
        return int(rows[wrong].sum())


_NOTHING = _Classes(np.zeros(0, dtype=np.uint64), np.zeros((0, 11)))


class Centres:
    """Means and medians of a release, collected piece by piece."""

    def __init__(self, config: Config) -> None:
        self.styles = {name: style for name in config.quasi if (style := config.publish.get(name)) in CENTRES}
        self._quasi = config.quasi
        self._found: dict[str, _Classes] = {}
        self._shift = dict.fromkeys(self.styles, 0)
        self._lost: Counter[str] = Counter()

    def add(self, original: pa.Table, published: pa.Table, kept: Int64 | slice = slice(None)) -> None:
        """Add some rows of the original, and the same rows of the release; `kept` says which, if not all."""
        if not self.styles or not published.num_rows:
            return
        keys = _row_keys(published, self._quasi)
        for name in self.styles:
            own, known = _numbers(original.column(name), name)
            own, known = own[kept], known[kept]
            centre, shown = _numbers(published.column(name), name)
            self._lost[name] += int(np.count_nonzero(shown & ~known))
            rows = shown & known & np.isfinite(own)
            found = _classes(keys[rows], own[rows], centre[rows])
            held = self._found.get(name, _NOTHING).joined(found, shift=self._shift[name])
            while len(held.key) > MOST_CLASSES:
                self._shift[name] += 1
                held = held.joined(_NOTHING, shift=self._shift[name])
            self._found[name] = held

    def strangers(self) -> Counter[str]:
        """Return column → rows in classes whose published centre is not that of their originals."""
        found = Counter(self._lost)
        for name, style in self.styles.items():
            found[name] += self._found.get(name, _NOTHING).strangers(style)
        return +found


def _classes(keys: UInt64, own: Float64, centre: Float64) -> _Classes:
    """Return the classes of some rows."""
    distinct, of_row = np.unique(centre, return_inverse=True)
    rounding = np.array([_rounding(each) for each in distinct.tolist()], dtype=np.float64)[of_row]
    with np.errstate(over="ignore"):
        off = own - centre
    slack = _SLACK * np.abs(own)
    fine, coarse = rounding + slack, np.maximum(rounding, _HALF) + slack
    counts = (off < -fine, off > fine, off < -coarse, off > coarse)
    columns = (centre, rounding, np.ones(len(own)), off, *counts, own, own, off == 0)
    return _Classes(keys, np.column_stack(columns).astype(np.float64)).by_key()


def _rounding(centre: float) -> float:
    """Return half a unit of the last digit of a number; digits before the point are never rounded."""
    exponent = Decimal(repr(centre)).normalize().as_tuple().exponent
    return _HALF * 10.0 ** min(exponent, 0) if isinstance(exponent, int) else 0.0


def _numbers(column: pa.ChunkedArray, name: str) -> tuple[Float64, Bool]:
    """Return row → number, NaN if it is none; and whether the cell holds anything."""
    cells = read_cells(column, name=name)
    values = cells.values
    if is_number(values.type):
        floats = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    else:
        read = [number_in(text) if text else None for text in text_cells(values).to_pylist()]
        floats = np.array([np.nan if each is None else float(each) for each in read], dtype=np.float64)
    empty = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    missing = cells.missing
    if empty and len(values):  # a text file has nothing else for a missing cell
        blank = np.append([text == "" for text in values.to_pylist()], True)
        missing = blank[cells.of_row]
    return np.append(floats, np.nan)[cells.of_row], ~missing


def _row_keys(published: pa.Table, quasi: Sequence[str]) -> UInt64:
    """Return row → number of its class: a hash of its published cells, the same in every piece and process."""
    keys = np.zeros(published.num_rows, dtype=np.uint64)
    for name in quasi:
        ends = [name] if name in published.column_names else [f"{name}_min", f"{name}_max"]
        for end in ends:
            cells = read_cells(published.column(end), name=end)
            texts = [*text_cells(cells.values).to_pylist(), None]
            hashed = np.array([_hash(text) for text in texts], dtype=np.uint64)
            keys = (keys ^ (keys >> np.uint64(29))) * _ODD + hashed[cells.of_row]
    mixed: UInt64 = keys ^ (keys >> np.uint64(32))
    return mixed


def _hash(text: str | None) -> int:
    return 0 if text is None else int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
