"""Verify rows that are published one by one, from their published cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32
from coterie.table.recoding import OneByOne
from coterie.verification.rows import RowSums, count_rows, read_boxes, summed

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.domain import Domain


def save(rows: OneByOne, path: Path) -> None:
    """Save the check data of a block."""
    with path.open("wb") as file:
        np.savez(file, **rows._asdict())


def load(path: Path) -> OneByOne:
    """Load what `save` stored."""
    with np.load(path) as held:
        return OneByOne(**{name: held[name] for name in OneByOne._fields})


def count_pairs(rows: OneByOne, boxes: Int32, k: int) -> RowSums:
    """Count the pairs of rows and boxes: [rows, 2 d] smallest and largest codes as published, by row number."""
    if len(boxes) != len(rows.rank):
        # Rows that are missing cannot be among the groups; nor can others.
        return RowSums(0, len(rows.rank), max(len(rows.rank), 1))
    shown, width = boxes[rows.rank], boxes.shape[1] // 2
    lo, hi = np.ascontiguousarray(shown[:, :width]), np.ascontiguousarray(shown[:, width:])
    return summed(count_rows(rows.codes, lo=lo, hi=hi, start=rows.start, back=rows.back, k=k), k)


def cells_as_boxes(published: pa.Table, domains: Sequence[Domain], config: Config) -> Int32:
    """Parse published cells as [rows, 2 d] smallest and largest codes; unreadable cells are empty."""
    return np.hstack(read_boxes(published, {domain.name: domain.values for domain in domains}, config))
