"""The ancestors of each value, derived by the judge from the hierarchy's plain content.

From a tree it takes the labels and parents; from a rule its numbers: widths, lengths or levels. It uses nothing
of the code that binds hierarchies to columns when a release is made.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Int64
from coterie.errors import HierarchyError, Problem
from coterie.files.csv_out import text_cells
from coterie.verification.cells import is_number, is_text, number_in

Path = tuple[Hashable, ...]
"""the nodes from a value itself up to just below the root"""


class AncestorPaths(NamedTuple):
    """Distinct cells and their ancestors."""

    keys: Sequence[Any]
    """cell → sort key of its value; equal for equal values"""
    paths: Sequence[Path]
    heights: dict[Hashable, int]
    """node → edges down to its deepest leaf; None is the root"""


class Ancestors(NamedTuple):
    """The ancestors of each value of a column."""

    path: Int64
    """[values, levels] the nodes from just below the root down to the value itself; −1 if the path is shorter"""
    weight: Int64
    """node → height of its parent − its own height"""
    height: int
    """of the root"""

    @classmethod
    def of(cls, paths: Sequence[Path], heights: dict[Hashable, int], *, missing: bool) -> Ancestors:
        """Assign numbers to the nodes. Missing values are one more leaf below the root."""
        root = max(heights[None], 1) if missing else heights[None]
        paths = [*paths, (("missing",),)] if missing else paths
        number: dict[Hashable, int] = {}
        weight: list[int] = []
        path = np.full((len(paths), max(map(len, paths), default=0)), -1, dtype=np.int64)
        for value, nodes in enumerate(paths):
            for level, node in enumerate(nodes):
                if node not in number:
                    number[node] = len(number)
                    above = heights[nodes[level + 1]] if level + 1 < len(nodes) else root
                    weight.append(above - heights.get(node, 0))
                path[value, len(nodes) - 1 - level] = number[node]
        return cls(path, np.array(weight, dtype=np.int64), root)


def climb(form: Any, cells: pa.Array, rows: Int64, *, name: str) -> AncestorPaths:  # noqa: ANN401 - a tree or a rule: plain fields
    """Find the ancestors of some cells in a hierarchy.

    Args:
        form: A hierarchy's tree (`labels`, `parent`) or rule (`widths` and `start`, `lengths`, `levels`, or nothing).
        cells: Distinct cells, none of them missing.
        rows: Cell → rows of the release.
        name: The column's name.

    Raises:
        HierarchyError: The hierarchy lacks some cells.
    """
    if hasattr(form, "labels"):
        return _in_tree(form.labels, form.parent, cells, rows, name=name)
    texts = cell_texts(cells, name=name)
    lacks = "is missing from the hierarchy", "are missing from the hierarchy", "add the missing rows to the hierarchy"
    if hasattr(form, "widths"):
        keys, paths = _by_intervals(form, texts)
        lacks = "is not a number", "are not numbers", "intervals are for numbers only"
    elif hasattr(form, "lengths"):
        keys, paths = _by_prefixes(form, texts)
    elif hasattr(form, "levels"):
        keys, paths = _by_dates(form, cells, texts)
        lacks = "is not a date", "are not dates", "dates are written as 2024-03-05"
    else:
        keys = texts if is_text(cells.type) else np.argsort(pc.sort_indices(cells).to_numpy()).tolist()
        paths = [(text,) for text in texts]
    _refuse([([at for at, key in enumerate(keys) if key is None], *lacks)], rows, name)
    heights: dict[Hashable, int] = {None: max(map(len, paths), default=0)}
    for path in paths:
        for level, node in enumerate(path):
            heights[node] = max(heights.get(node, 0), level)
    return AncestorPaths(keys, paths, heights)


def _refuse(kinds: Sequence[tuple[Sequence[int], str, str, str]], rows: Int64, name: str) -> None:
    """Raise a HierarchyError that counts the cells that do not fit: (positions, singular, plural, advice)."""
    problems, lost = [], 0
    for places, one, many, hint in kinds:
        if places:
            count = int(rows[list(places)].sum())
            words = f"{_words(len(places), 'value')} ({_words(count, 'row')}) {one if len(places) == 1 else many}"
            problems.append(Problem(name, f"{words}; {hint}"))
            lost += count
    if problems:
        raise HierarchyError(problems, column=name, rows=lost)


def _words(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _in_tree(labels: Sequence[str], parent: Sequence[int], cells: pa.Array, rows: Int64, *, name: str) -> AncestorPaths:
    """Return the leaves of a tree whose nodes are listed depth-first, the root first."""
    inner = {0, *parent}
    leaf_of = {label: node for node, label in enumerate(labels) if node not in inner}
    heights: dict[Hashable, int] = dict.fromkeys(range(len(labels)), 0)
    for node in range(len(labels) - 1, 0, -1):
        heights[parent[node]] = max(heights[parent[node]], heights[node] + 1)
    texts = cell_texts(cells, name=name)
    leaves = leaves_of(texts, leaf_of, kind=cells.type)
    lost = [at for at, leaf in enumerate(leaves) if leaf is None]
    above = {labels[node] for node in inner if node >= 0}
    groups, unknown = ([at for at in lost if (texts[at] in above) is inside] for inside in (True, False))
    spaced, hint = sum(texts[at].strip() in leaf_of for at in unknown), "add the missing rows to the hierarchy"
    if spaced:
        hint += f", or remove the spaces around {_words(spaced, 'value')} of the data, which would then fit"
    part = "the data are already generalized in part"
    one, many = f"is the label of a group, not a value: {part}", f"are labels of groups, not values: {part}"
    origin = "give the original values, or a row in the hierarchy that starts with the label"
    _refuse(
        [
            (unknown, "is missing from the hierarchy", "are missing from the hierarchy", hint),
            (groups, one, many, origin),
        ],
        rows,
        name,
    )
    paths = []
    for leaf in leaves:
        path = [leaf or 0]
        while parent[path[-1]]:
            path.append(parent[path[-1]])
        paths.append(tuple(path))
    return AncestorPaths([leaf or 0 for leaf in leaves], paths, {**heights, None: heights[0]})


def leaves_of(texts: Sequence[str], leaf_of: dict[str, int], *, kind: pa.DataType) -> list[int | None]:
    """Return text → leaf, also if the hierarchy spells a number, a date or a boolean differently."""
    found = [leaf_of.get(text) for text in texts]
    if None not in found:
        return found
    if is_number(kind):
        by_number: dict[Decimal | None, int] = {}
        for label, leaf in leaf_of.items():
            by_number.setdefault(number_in(label), leaf)
        by_number.pop(None, None)
        return [
            by_number.get(number_in(text)) if leaf is None else leaf for text, leaf in zip(texts, found, strict=True)
        ]
    return [
        next((leaf_of[other] for other in _spellings(text, kind) if other in leaf_of), None) if leaf is None else leaf
        for text, leaf in zip(texts, found, strict=True)
    ]


def _spellings(text: str, kind: pa.DataType) -> list[str]:
    if pa.types.is_boolean(kind):
        return [text.capitalize(), text.upper()]
    if pa.types.is_timestamp(kind):
        return [text.replace(" ", "T"), text.removesuffix(" 00:00:00")]
    number = number_in(text) if is_text(kind) and "." in text and not text.startswith("0") else None
    return [str(int(number))] if number is not None and number == int(number) else []


def cell_texts(cells: pa.Array, *, name: str) -> list[str]:
    """Convert cells to hierarchy text: `17` for 17 and 17.0, dates in ISO 8601."""
    kind = cells.type
    if is_text(kind) or pa.types.is_null(kind):
        return list(cells.to_pylist())
    if pa.types.is_boolean(kind):
        return ["true" if value else "false" for value in cells.to_pylist()]
    if pa.types.is_integer(kind):
        return [str(value) for value in cells.to_pylist()]
    if pa.types.is_floating(kind):
        return [_digits(str(value)) for value in cells.to_numpy(zero_copy_only=False)]
    if pa.types.is_decimal(kind):
        return [_digits(str(value)) for value in cells.to_pylist()]
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        written = text_cells(cells).to_pylist()
        return [re.sub(r"\.[0-9]+", lambda part: part[0].rstrip("0").rstrip("."), text, count=1) for text in written]
    text = f"values of type {kind} cannot be in a hierarchy; convert them to text, numbers or dates"
    raise HierarchyError([Problem(name, text)], column=name)


def _digits(text: str) -> str:
    """Write a number without an exponent and without trailing zeros."""
    number = number_in(text)
    if number is None:
        return text
    written = format(number, "f")
    written = written.rstrip("0").rstrip(".") if "." in written else written
    return "0" if written in ("-0", "") else written


def _by_intervals(form: Any, texts: Sequence[str]) -> tuple[list[Any], list[Path]]:  # noqa: ANN401 - widths and start
    """Place numbers in intervals [start + i · width, start + (i + 1) · width), from narrow to wide."""
    read = [number_in(text) for text in texts]
    numbers = [None if number is None else Fraction(number) for number in read]
    start, widths = Fraction(form.start), [Fraction(width) for width in form.widths]
    whole = all(number is None or number.denominator == 1 for number in (*numbers, *widths, start))
    # Among whole numbers an interval of width 1 is the number itself.
    widths = [width for width in widths if not (whole and width == 1)]
    keys = [None if number is None else (number, text) for number, text in zip(numbers, texts, strict=True)]
    paths: list[Path] = []
    for number, text in zip(numbers, texts, strict=True):
        paths.append((text, *((width, ((number or 0) - start) // width) for width in widths)))
    return keys, paths


def _by_prefixes(form: Any, texts: Sequence[str]) -> tuple[list[Any], list[Path]]:  # noqa: ANN401 - lengths
    """Place codes under their first characters; a shorter code is placed where it ends."""
    longest = max(map(len, texts), default=0)
    lengths = [length for length in form.lengths or range(longest - 1, 0, -1) if length < longest]
    paths: list[Path] = [
        (text, *((length, text[:length]) for length in lengths if length <= len(text))) for text in texts
    ]
    return list(texts), paths


_LEVELS: dict[str, Callable[[int, int, int], Hashable]] = {
    "day": lambda year, month, day: (year, month, day),
    "month": lambda year, month, day: (year, month),
    "quarter": lambda year, month, day: (year, (month - 1) // 3),
    "year": lambda year, month, day: year,
    "decade": lambda year, month, day: year // 10,
}


def _by_dates(form: Any, cells: pa.Array, texts: Sequence[str]) -> tuple[list[Any], list[Path]]:  # noqa: ANN401 - levels
    """Place dates under days, months, …; a date alone in its day, and written like it, needs no day above it."""
    days = _days(cells, texts)
    alone = Counter(days)
    keys = [None if day is None else (day, text) for day, text in zip(days, texts, strict=True)]
    paths: list[Path] = []
    for day, text in zip(days, texts, strict=True):
        levels = form.levels
        if day is not None and levels[0] == "day" and alone[day] == 1 and text == "{:04d}-{:02d}-{:02d}".format(*day):
            levels = levels[1:]
        paths.append((text, *((level, _LEVELS[level](*(day or (0, 1, 1)))) for level in levels)))
    return keys, paths


def _days(cells: pa.Array, texts: Sequence[str]) -> list[tuple[int, int, int] | None]:
    """Return year, month and day, in the value's own time zone."""
    if pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type):
        return list(zip(*(part(cells).to_pylist() for part in (pc.year, pc.month, pc.day)), strict=True))
    days: list[tuple[int, int, int] | None] = []
    for text in texts:
        try:
            moment = dt.datetime.fromisoformat(text.strip())
        except ValueError:
            days.append(None)
        else:
            days.append((moment.year, moment.month, moment.day))
    return days
