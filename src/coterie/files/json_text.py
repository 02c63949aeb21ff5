"""JSON and JSON Lines, told from delimited text: read as CSV, the first record would become the names of columns."""

from __future__ import annotations

import json
import re
from contextlib import suppress

from coterie.errors import DataError

_TEXT = r'"(?:[^"\\]|\\.)*"'
# As far as a document that is longer than the sample can be recognized: an object's first key, perhaps in lists.
_OBJECT = re.compile(rf"(?:\[\s*)*\{{\s*(?:{_TEXT}\s*:|\}})")
_LISTS = re.compile(rf"\[\s*\[\s*(?:{_TEXT}|-?[0-9][0-9.eE+-]*|true|false|null)\s*[,\]]")


def refuse_json(text: str, name: str) -> None:
    """Raise a DataError if a text is JSON or JSON Lines, by its first lines, whatever the file is called.

    Args:
        text: The text, or its beginning.
        name: What to call the file.
    """
    start = text.lstrip()
    if not start.startswith(("{", "[")):
        return
    lines = [line for line in start.splitlines()[:3] if line.strip()]
    # The last line may be cut short.
    if all(_is_json(line) for line in lines[:2]):
        kind, lines_too = ("JSON Lines", True) if len(lines) > 1 else ("JSON", False)
    elif _OBJECT.match(start) or _LISTS.match(start):
        kind, lines_too = "JSON", False
    else:
        return
    shown = name if name != "standard input" else "people.json"
    more = ", lines=True" if lines_too else ""
    raise DataError(
        f"{name} is {kind}, which coterie does not read. It reads CSV, Parquet, Feather and Excel.",
        hint='Convert it, for example: python -c "import pandas; '
        f"pandas.read_json({shown!r}{more}).to_csv('people.csv', index=False)\"",
    )


def _is_json(line: str) -> bool:
    """Whether a line is an object or a list of JSON, and nothing else."""
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), dict | list)
    return False
