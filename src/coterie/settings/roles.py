"""The roles of columns: each column has one, and a column without one is not published.

A person decides what becomes of every column. A column that nobody mentioned may be a name, so a release that has one
is refused, with the lines to paste for whichever decision is meant.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coterie.errors import Problem
from coterie.wording import MOST_LISTED, shortened

if TYPE_CHECKING:
    from coterie.settings.config import Config

ROLES = ("quasi", "sensitive", "identifiers", "keep", "drop")
"""settings that list columns; a column is in one of them"""
PUBLISHED = ("quasi", "sensitive", "keep")
"""those of them whose columns are in the release"""
UNDECIDED = "roles"
"""where the problem of columns without a role is said to be: no setting lists them"""


def role_problems(roles: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Columns that are named twice, in one role or in two."""
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for role, columns in roles.items():
        for column in columns:
            if column not in seen:
                seen[column] = role
            elif seen[column] == role:
                problems.append(Problem(role, f"column {column!r} is listed twice; list it once"))
            else:
                problems.append(
                    Problem(role, f"column {column!r} is already listed in {seen[column]}; a column has one role")
                )
    return list(dict.fromkeys(problems))


def entity_problems(entity: str | None, roles: Mapping[str, Sequence[str]]) -> list[Problem]:
    """A column that says whose row it is may be an identifier or dropped too, but nothing that is published."""
    return [
        Problem("entity", f"column {entity!r} is already listed in {role}; it is left out instead")
        for role in PUBLISHED
        if entity is not None and entity in roles[role]
    ]


def undecided(config: Config, names: Sequence[str]) -> list[str]:
    """Columns of a table for which nobody has said what becomes of them, in the order of the table."""
    decided = {column for role in ROLES for column in getattr(config, role)} | {config.entity}
    return [name for name in dict.fromkeys(names) if name not in decided]


def undecided_problems(config: Config, names: Sequence[str]) -> list[Problem]:
    """The problem of columns without a role, if there are any."""
    found = undecided(config, names)
    if not found:
        return []
    count = "1 column has no role" if len(found) == 1 else f"{len(found):,} columns have no role"
    each = "it" if len(found) == 1 else "each"
    return [
        Problem(
            UNDECIDED,
            f"{count}: {shortened(found)}; decide on {each}: keep (published unchanged), drop (left out), quasi, "
            "sensitive or identifiers",
        )
    ]


def undecided_hint(config: Config, names: Sequence[str]) -> str:
    """The lines to paste for columns without a role; nothing if there are none."""
    found = undecided(config, names)
    if not found:
        return ""
    # Longer lists are no line to paste any more: `coterie init` writes them down one by one.
    if len(found) > MOST_LISTED:
        return "`coterie init FILE` writes a configuration that lists every column, to be looked over."
    what = "it" if len(found) == 1 else "them"
    keep, drop = _lines("keep", config, found), _lines("drop", config, found)
    return f"To publish {what} unchanged: {keep}. To leave {what} out: {drop}."


def _lines(setting: str, config: Config, found: Sequence[str]) -> str:
    """The setting with these columns, for a TOML file or Python and, where it can be said there, as a flag."""
    # A list replaces the one that is there, so it starts with what that has.
    columns = [*getattr(config, setting), *found]
    setting_line = f"`{setting} = [{', '.join(map(toml_text, columns))}]`"
    flag = flag_text(columns)
    return f"{setting_line} or `--{setting} {flag}`" if flag else setting_line


def toml_text(name: str) -> str:
    """A name in double quotes that TOML and Python both read as it is, also after its spaces were tidied up."""
    signs = [f"\\{sign}" if sign in '"\\' else sign if sign.isprintable() else _escaped(sign) for sign in name]
    return '"' + re.sub(r"(?<= ) ", r"\\u0020", "".join(signs)) + '"'


def _escaped(sign: str) -> str:
    code = ord(sign)
    return f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def parse_names(texts: Sequence[str]) -> list[str]:
    """Column names from flags: separated by commas, in double quotes where a name has a comma itself."""
    rows = csv.reader(texts, skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def flag_text(columns: Sequence[str]) -> str:
    """These columns as the value of a flag, quoted for the shell; nothing where a flag cannot say them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(columns)
    text = line.getvalue()
    # Messages are one line whose spaces were tidied up, and flags are stripped of those around names.
    sayable = text.isprintable() and " ".join(text.split()) == text and parse_names([text]) == list(columns)
    return shlex.quote(text) if sayable else ""
