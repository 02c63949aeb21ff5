"""Rows of a table before and after, side by side, one page at a time."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from coterie.web.parquet_file import read_rows
from coterie.web.project import Project

PER_PAGE = 25


class RowPair(NamedTuple):
    """One row of the original and its published version."""

    position: int
    """from 0"""
    group: int
    """−1: suppressed"""
    gone: bool
    """whether the row was removed from the release"""
    quasi: list[tuple[str | None, str | None]]
    """each cell before and after; None is missing, or not published"""
    others: list[str | None]


class Page(NamedTuple):
    """Some rows."""

    first: int
    total: int
    quasi: list[str]
    others: list[str]
    left_out: list[str]
    """columns that are not in the release"""
    rows: list[RowPair]


def page_of(project: Project, run: Path, quasi: list[str], *, first: int = 0, count: int = PER_PAGE) -> Page:
    """Return rows of the original from a position on, with the run's published rows."""
    kept = np.load(run / "kept.npy", mmap_mode="r")
    groups = np.load(run / "groups.npy", mmap_mode="r")
    first = min(max(first, 0), max(len(groups) - 1, 0))
    end = min(first + count, len(groups))
    before = read_rows(project.table_path, first, end)
    low, high = (int(np.searchsorted(kept, at)) for at in (first, end))
    after = read_rows(run / "published.parquet", low, high)
    place = {int(position): at for at, position in enumerate(kept[low:high])}
    others = [name for name in after if name in before and name not in quasi]
    shown = [name for name in quasi if name in before]
    new = {name: _published(after, name) for name in shown}
    rows = []
    for at, position in enumerate(range(first, end)):
        to = place.get(position)
        cells = [(before[name][at], None if to is None else new[name][to]) for name in shown]
        plain = [before[name][at] for name in others]
        rows.append(RowPair(position, int(groups[position]), to is None, cells, plain))
    left_out = [name for name in before if name not in quasi and name not in others]
    return Page(first, len(groups), shown, others, left_out, rows)


def _published(columns: dict[str, list[str | None]], name: str) -> list[str | None]:
    """Return a published quasi-identifier as one text: bounds are two columns."""
    if name in columns:
        return columns[name]
    low, high = columns.get(f"{name}_min"), columns.get(f"{name}_max")
    if low is None or high is None:
        return [None] * max((len(each) for each in columns.values()), default=0)
    return [one if one == other else f"{one or '*'} to {other or '*'}" for one, other in zip(low, high, strict=True)]
