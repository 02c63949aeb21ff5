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

from coterie.arrays import Bool, Float64, UInt64
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


class _Sums(NamedTuple):
    """What is known of classes, by key: each array has one entry a class."""

    key: UInt64
    centre: Float64
    """the published number"""
    rounding: Float64
    """half a unit of its last digit"""
    rows: Float64
    total: Float64
    """sum of the originals' distances from the centre"""
    below: Float64
    """rows whose original is below the centre by more than rounding explains"""
    above: Float64
    far_below: Float64
    """rows whose original is below it by more than a half"""
    far_above: Float64
    least: Float64
    greatest: Float64
    touched: Float64
    """1 if some original is the centre itself, which may then be the end of a group"""

    def joined(self, other: _Sums, *, shift: int) -> _Sums:
        """Return both together, one entry a key; only keys that end in this many zero bits."""
        both = [np.concatenate(pair) for pair in zip(self, other, strict=True)]
        wanted = both[0] & np.uint64((1 << shift) - 1) == 0
        return _Sums(*(each[wanted] for each in both)).by_key()

    def by_key(self) -> _Sums:
        """Return one entry a key."""
        order = np.argsort(self.key, kind="stable")
        sorted_ = _Sums(*(each[order] for each in self))
        starts = np.flatnonzero(np.diff(sorted_.key, prepend=~sorted_.key[:1]) != 0)
        if not len(starts):
            return sorted_
        sums = [np.add.reduceat(each, starts) for each in sorted_[3:9]]
        return _Sums(
            *(each[starts] for each in sorted_[:3]),
            *sums,
            np.minimum.reduceat(sorted_.least, starts),
            np.maximum.reduceat(sorted_.greatest, starts),
            np.maximum.reduceat(sorted_.touched, starts),
        )

    def wrong(self, style: str) -> Bool:
        """Return class → whether its centre is not that of its originals."""
        slack = _SLACK * np.maximum(np.abs(self.least), np.abs(self.greatest))
        outside: Bool = (self.centre < self.least - slack) | (self.centre > self.greatest + slack)
        touched = self.touched > 0
        if style == "median":
            below, above = np.where(touched, (self.far_below, self.far_above), (self.below, self.above))
            return outside | (np.maximum(below, above) > self.rows / 2)
        reach = np.where(touched, np.minimum(_HALF, self.greatest - self.least), 0.0)
        off = np.abs(self.total) > self.rows * (np.maximum(reach, self.rounding) + slack)
        # Numbers near the largest have no finite sum.
        return outside | (off & np.isfinite(self.total))


class Centres:
    """Means and medians of a release, collected piece by piece."""

    def __init__(self, config: Config) -> None:
        self.styles = {name: style for name in config.quasi if (style := config.publish.get(name)) in CENTRES}
        self._quasi = config.quasi
        self._found: dict[str, _Sums] = {}
        self._shift = dict.fromkeys(self.styles, 0)
        self._lost: Counter[str] = Counter()

    def add(self, original: pa.Table, published: pa.Table) -> None:
        """Add some rows of the original, and the same rows of the release."""
        if not self.styles or not published.num_rows:
            return
        keys = _row_keys(published, self._quasi)
        for name in self.styles:
            own, known = _numbers(original.column(name), name)
            centre, shown = _numbers(published.column(name), name)
            self._lost[name] += int(np.count_nonzero(shown & ~known))
            rows = shown & known & np.isfinite(own)
            found = _sums(keys[rows], own[rows], centre[rows]).by_key()
            held = self._found[name] = self._found.get(name, _nothing()).joined(found, shift=self._shift[name])
            while len(held.key) > MOST_CLASSES:
                self._shift[name] += 1
                held = self._found[name] = held.joined(_nothing(), shift=self._shift[name])

    def strangers(self) -> Counter[str]:
        """Return column → rows in classes whose published centre is not that of their originals."""
        found = Counter(self._lost)
        for name, style in self.styles.items():
            sums = self._found.get(name, _nothing())
            found[name] += int(sums.rows[sums.wrong(style)].sum())
        return +found


def _nothing() -> _Sums:
    return _Sums(np.zeros(0, dtype=np.uint64), *(np.zeros(0) for _ in _Sums._fields[1:]))


def _sums(keys: UInt64, own: Float64, centre: Float64) -> _Sums:
    """Return one entry a row."""
    distinct, of_row = np.unique(centre, return_inverse=True)
    rounding = np.array([_rounding(each) for each in distinct.tolist()], dtype=np.float64)[of_row]
    with np.errstate(over="ignore"):
        off = own - centre
    slack = _SLACK * np.abs(own)
    fine, coarse = rounding + slack, np.maximum(rounding, _HALF) + slack
    counts = (off < -fine, off > fine, off < -coarse, off > coarse)
    return _Sums(
        keys, centre, rounding, np.ones(len(own)), off, *(each.astype(np.float64) for each in counts),
        own, own, (off == 0).astype(np.float64),
    )  # fmt: skip


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
    return keys ^ (keys >> np.uint64(32))


def _hash(text: str | None) -> int:
    return 0 if text is None else int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
