"""Detect whether the first line of a text table is a header, a data record, or a line above the header.

A missing header is easily overlooked: the first person would be published as column names. So the first
line is compared with the lines below it. Each column votes on how much more likely its first cell is a value
than a name; the sum decides. Messages never quote a cell, which may be data.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from math import log

from coterie.errors import DataError

ROWS = 1000
"""the maximum number of lines to compare with the first"""
PREAMBLE = 30
"""lines in which to look for the header, if the first line is not one"""

_NO_HEADER = (
    "If the file has no header, header = false (--no-header) reads its first line as data and names the columns "
    "column_1, column_2 and so on"
)
_ENOUGH = 2.0
_MOST = 4.0
# How likely a column name is one of the column's values, a number, a date and so on: rough estimates from real tables.
_NAME_RECURS = 0.01
_NUMBERED = re.compile(r"column_[1-9][0-9]*(_[a-z]+)?")
_MARKS = frozenset(("?", "na", "n/a", "nan", "null", "none", "-", ".", "#n/a", "n.a.", "*", "--"))
_KINDS: tuple[tuple[str, re.Pattern[str], float], ...] = (
    (
        "number",
        re.compile(r"[+-]?[$€£]?\s?(\d[\d.,' ]*|[.,]\d+)([eE][+-]?\d+)?\s?[%€$£]?|[+-]?(inf|infinity)", re.IGNORECASE),
        0.01,
    ),
    (
        "date",
        re.compile(
            r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp]\.?[Mm]\.?)?"
            r"|\d{1,2}[- ][A-Za-z]{3,9}[- ,]+\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}|[A-Za-z]{3}[- ]\d{2}(\d{2})?"
        ),
        0.005,
    ),
    ("address", re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+|https?://\S+|\d+(\.\d+){3}"), 0.001),
    ("range", re.compile(r"[\[(<>{].*|.*[\d*]\*+|\d+ ?(-|–|to) ?\d+"), 0.01),
    ("figures", re.compile(r"(?=(?:\D*\d){3})[A-Za-z]?[\d\s.,:/()eE+-]+"), 0.03),
    ("code", re.compile(r".*\d.*"), 0.12),
)


def refuse_data(
    first: Sequence[str], rows: Sequence[Sequence[str]], *, missing: Collection[str], name: str, skipped: int = 0
) -> None:
    """Raise a DataError if the first line of a table, below the skipped ones, may be data, judging by the rows below.

    `missing` are the texts that mean a missing value, `name` is the file's in messages.
    """
    if generated(first):
        return
    like = data_columns(first, rows, missing=missing)
    if like:
        where = f"line {skipped + 1:,}" if skipped else "first line"
        above = " If there is nothing above the header, as in a release, use skip_rows = 0 (--skip-rows 0)."
        raise DataError(
            f"{name} may have no header: its {where} looks like data. "
            f"{_counted(like, len(first))} like the cells below.",
            hint=f"If it is the header, set header = true (--header). {_NO_HEADER}.{above if skipped else ''}",
        )
    if same := listed_twice(first):
        raise DataError(
            f"{name}: in the first line, columns {same} have the same name.",
            hint=f"If it is the header, give each column a unique name. {_NO_HEADER}.",
        )


def listed_twice(names: Sequence[str], *, shown: bool = False) -> str:
    """Return the numbers of the columns with the same name, "1 and 3", with that name if it may be shown."""
    first: dict[str, int] = {}
    pairs = [(first.setdefault(name, at), at, name) for at, name in enumerate(names, 1)]
    same = [f"{one} and {two}" + f" ({name!r})" * shown for one, two, name in pairs if one != two]
    return ", ".join(same[:5]) + (" and more" if len(same) > 5 else "")


def refuse_preamble(
    first: Sequence[str], rows: Sequence[Sequence[str]], *, above: Sequence[int], missing: Collection[str], name: str
) -> None:
    """Raise a DataError if a title or notes precede the header of a table, and say how to skip them.

    `above` is the number of lines of the file above each of the first ones.
    """
    if not rows:
        return
    (width, count), *_ = Counter(map(len, rows)).most_common(1)
    narrow = len(first) < width or (width > 2 and sum(bool(cell.strip()) for cell in first) == 1)
    whole = (at for at, row in enumerate(rows[:PREAMBLE]) if len(row) == width and all(cell.strip() for cell in row))
    top = next(whole, None)
    if not narrow or width < 2 or top is None or 2 * count <= len(rows):
        return
    skip = above[top + 1]
    hint = f"If so, skip_rows = {skip} (--skip-rows {skip}) skips the lines above line {skip + 1}"
    if data_columns(rows[top], rows[top + 1 :], missing=missing):
        hint += "; that line looks like data, so header = false (--no-header) is needed as well"
    raise DataError(
        f"{name} seems to have lines above its header: the first line has fewer cells than the {width} of the "
        "table below.",
        hint=f"{hint}. If the first line is the header, set header = true (--header).",
    )


def _counted(like: int, cells: int) -> str:
    if cells == 1:
        return "Its only cell is"
    return f"{like} of its {cells} cells {'is' if like == 1 else 'are'}"


def generated(first: Sequence[str]) -> bool:
    """Return whether coterie generated these column names for a file without a header."""
    return all(_NUMBERED.fullmatch(cell) for cell in first) and len(set(first)) == len(first)


def generated_names(count: int) -> list[str]:
    """Return names for the columns of a file without a header."""
    return [f"column_{at}" for at in range(1, count + 1)]


def data_columns(first: Sequence[str], rows: Sequence[Sequence[str]], *, missing: Collection[str]) -> int:
    """Return how many cells of the first line look like data, if the line as a whole does; else 0."""
    found = []
    for at, cell in enumerate(first):
        below = Counter(row[at].strip() for row in rows if at < len(row))
        found.append(_weigh(cell.strip(), below, missing, at=at))
    return max(1, sum(weight > 0 for weight in found)) if sum(found) >= _ENOUGH else 0


def _weigh(cell: str, below: Counter[str], missing: Collection[str], *, at: int) -> float:
    """Return how much more likely a cell is data than a name, as a logarithm; negative for a name."""
    values = Counter({value: count for value, count in below.items() if not _is_missing(value, missing)})
    if _is_missing(cell, missing):
        # pandas writes its index without a name; elsewhere, a missing cell is likely data if others are missing too.
        gone = 1 - values.total() / max(below.total(), 1)
        return min(1.0, 10 * gone) if at else 0.0
    if not values:
        return 0.0
    kind, usual = _kind(cell)
    same = sum(count for value, count in values.items() if _kind(value)[0] == kind)
    weight = _ratio(same, values.total(), usual)
    if kind in ("text", "code"):
        # Letters above letters are no evidence for data: column names look like other words.
        weight = _among_texts(cell, values) + min(weight, 0.0)
    return max(-_MOST, min(_MOST, weight))


def _is_missing(cell: str, missing: Collection[str]) -> bool:
    return not cell or cell in missing or cell.casefold() in _MARKS


def _kind(cell: str) -> tuple[str, float]:
    """Classify a cell's text, and return how often column names are of that kind."""
    return next(((kind, usual) for kind, pattern, usual in _KINDS if pattern.fullmatch(cell)), ("text", 0.85))


def _ratio(hits: int, count: int, usual: float) -> float:
    """Return the log ratio of the frequency among data to that among names; fewer rows weigh less."""
    return log((hits + usual / 2) / (count + 0.5) / usual)


def _among_texts(cell: str, values: Counter[str]) -> float:
    """Return whether a text is one of a column's values, or at least has their format."""
    count = values.total()
    if cell in values:
        return log(1 / _NAME_RECURS) * count / (count + 1)
    # Good–Turing: an unseen value is as likely as all values seen once.
    unseen = sum(times == 1 for times in values.values())
    shape = _shape(cell)
    alike = sum(_shape(value) == shape for value in values)
    digits = sum(sign.isdigit() for sign in cell)
    usual = 0.5 if not digits else 0.2 if digits < 3 else 0.02
    most = 3.0 if digits else 0.0
    return log((unseen + 1) / (count + 1)) + max(-2.0, min(most, _ratio(alike, len(values), usual)))


def _shape(cell: str) -> str:
    """Return a text's shape: digits one by one, letters by case, the rest unchanged."""
    text = re.sub(r"[^\W\d_]+", lambda found: "A" if found[0].isupper() else "a" if found[0].islower() else "Aa", cell)
    return re.sub(r"\d", "9", text)
