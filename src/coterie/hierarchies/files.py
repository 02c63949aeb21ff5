"""Read and write hierarchy files: ARX-style CSV, and nested mappings as JSON or TOML.

A CSV row goes from a value up to the root: `Bachelors;Undergraduate;Higher education;*`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coterie.errors import ConfigError, HierarchyError, Problem
from coterie.hierarchies.grow import is_root_word

_DELIMITERS = (";", ",", "\t", "|")


class LabelRows(NamedTuple):
    """The rows of a hierarchy file and the line on which each starts."""

    cells: list[list[str]]
    lines: list[int]


def read_text(path: str | os.PathLike[str], *, encoding: str | None = None) -> str:
    """Return the text of a hierarchy file, without a byte order mark."""
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise HierarchyError(f"the hierarchy file {name} cannot be read: {reason}") from None
    if encoding is None:
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except LookupError:
        raise ConfigError([Problem("encoding", f"there is no encoding {encoding!r}")]) from None
    except UnicodeDecodeError:
        raise HierarchyError(
            f"the hierarchy file {name} is not text in {encoding.removesuffix('-sig')}",
            hint="Save it as UTF-8, or name its encoding.",
        ) from None


def read_rows(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
) -> LabelRows:
    """Return the rows of a CSV hierarchy; delimiter and header are detected unless given."""
    if delimiter is not None and len(delimiter) != 1:
        raise ConfigError([Problem("delimiter", "must be a single character, such as ';'")])
    text = read_text(path, encoding=encoding)
    rows = _parse(text, delimiter, path) if delimiter else _sniff(text, path)
    if header or (header is None and _has_header(rows.cells)):
        rows = LabelRows(rows.cells[1:], rows.lines[1:])
    return rows


def _parse(text: str, delimiter: str, path: str | os.PathLike[str]) -> LabelRows:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = LabelRows([], [])
    line = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.cells.append(row)
                rows.lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        # The csv module's messages speak of characters and limits, never of what a cell holds.
        raise HierarchyError(f"the hierarchy file {os.fspath(path)} is broken at line {line:,}: {error}") from None
    return rows


def _sniff(text: str, path: str | os.PathLike[str]) -> LabelRows:
    """Split the text with the delimiter that splits the most rows; the first in the list wins ties."""
    found: list[LabelRows] = []
    faults: list[HierarchyError] = []
    for delimiter in _DELIMITERS:
        try:
            found.append(_parse(text, delimiter, path))
        except HierarchyError as error:
            faults.append(error)
            continue
        if all(len(row) > 1 for row in found[-1].cells):
            break
    if not found:
        raise faults[0]
    return max(found, key=lambda rows: sum(len(row) > 1 for row in rows.cells))


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is a header.

    It is if it is as long as any other row, shares no label with them, and does not end in the root that they
    end in. If rows omit the root, that root must be a conventional one.
    """
    if len(rows) < 3:
        return False
    first, rest = [cell for cell in rows[0] if cell.strip()], rows[1:]
    if len(first) < 2 or len(rows[0]) < max(map(len, rest)):
        return False
    ends = {next(cell for cell in reversed(row) if cell.strip()) for row in rest}
    if len(ends) > 1 and (is_root_word(first[-1]) or not any(is_root_word(end) for end in ends)):
        return False
    if set(first[-1]) == {"*"}:
        return False
    names = set(first)
    return not any(cell in names for row in rest for cell in row)


def csv_text(paths: Iterable[Sequence[str]]) -> str:
    """Return these paths (value … root) as ARX CSV: `;`, no header, all rows the same length.

    ARX requires rows of equal length. A short row repeats its value, which means the same when read back.
    """
    rows = list(paths)
    width = max(map(len, rows), default=0)
    lines = [";".join(map(_quoted, [*[row[0]] * (width - len(row)), *row])) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _quoted(cell: str) -> str:
    # Python's own writer leaves a lone carriage return bare, and a byte order mark would be taken for the file's.
    if cell.startswith("\ufeff") or any(mark in cell for mark in ';"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def read_mapping(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401 - whatever JSON or TOML holds
    """Return the content of a JSON or TOML hierarchy file."""
    text = read_text(path)
    name = os.fspath(path)
    try:
        if Path(path).suffix.lower() == ".toml":
            return tomllib.loads(text)
        return json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, name))
    except tomllib.TOMLDecodeError as error:
        raise HierarchyError(f"the hierarchy file {name} is not valid TOML: {error}") from None
    except json.JSONDecodeError as error:
        raise HierarchyError(f"the hierarchy file {name} is not valid JSON: {error}") from None
    except RecursionError:
        raise HierarchyError(f"the hierarchy file {name} is nested too deeply; write it as CSV") from None


def _object(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        number = Counter(key for key, _ in pairs)
        twice = [key for key in result if number[key] > 1]
        raise HierarchyError(
            [Problem(name, f'"{label}" is listed twice in one place; join the two') for label in twice]
        )
    return result
