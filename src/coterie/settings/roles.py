"""Column roles: each column has one, and a column without one is not published.

A person must decide about every column. An unmentioned column may contain names, so a release with one
is refused, with lines to paste for either decision.
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
"""the location given for problems of columns without a role: no setting lists them"""


def role_problems(roles: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Return the columns that are listed twice, in one role or in two."""
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for role, columns in roles.items():
        for column in columns:
            if column not in seen:
                seen[column] = role
            elif seen[column] == role:
                problems.append(Problem(role, f"column {column!r} is listed twice; list it once"))
            else:
                text = f"column {column!r} is already listed in {seen[column]}; a column has one role"
                problems.append(Problem(role, text))
    return list(dict.fromkeys(problems))


def entity_problems(entity: str | None, roles: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Return the problem of a published entity column: it may only be a direct identifier or dropped."""
    return [
        Problem("entity", f"column {entity!r} is already listed in {role}; it is left out instead")
        for role in PUBLISHED
        if entity is not None and entity in roles[role]
    ]


def named_columns(config: Config) -> dict[str, tuple[str, ...]]:
    """Return the columns that a configuration names, by the setting that names them."""
    entity = () if config.entity is None else (config.entity,)
    return {**{role: getattr(config, role) for role in ROLES}, "entity": entity}


def undecided(config: Config, names: Sequence[str]) -> list[str]:
    """Return a table's columns without a role, in the order of the table."""
    decided = {column for columns in named_columns(config).values() for column in columns}
    return [name for name in dict.fromkeys(names) if name not in decided]


def undecided_problems(config: Config, names: Sequence[str]) -> list[Problem]:
    """Return the problem of columns without a role, if there are any."""
    found = undecided(config, names)
    if not found:
        return []
    count, each = ("1 column has", "it") if len(found) == 1 else (f"{len(found):,} columns have", "each")
    choices = "keep (published unchanged), drop (removed), quasi, sensitive or identifiers"
    return [Problem(UNDECIDED, f"{count} no role: {shortened(found)}; decide on {each}: {choices}")]


def undecided_hint(config: Config, names: Sequence[str]) -> str:
    """Return lines to paste for columns without a role; nothing if there are none."""
    found = undecided(config, names)
    if not found:
        return ""
    # Longer lists are too long to paste; `coterie init` writes them to a file.
    if len(found) > MOST_LISTED:
        return "`coterie init FILE` writes a configuration that lists every column, for you to review."
    what = "it" if len(found) == 1 else "them"
    keep, drop = _lines("keep", config, found), _lines("drop", config, found)
    return f"To publish {what} unchanged: {keep}. To leave {what} out: {drop}."


def _lines(setting: str, config: Config, found: Sequence[str]) -> str:
    """Return the setting with these columns for a TOML file or Python and, if possible, as a flag."""
    # A list replaces the existing one, so it starts with its columns.
    columns = [*getattr(config, setting), *found]
    setting_line = f"`{setting} = [{', '.join(map(toml_text, columns))}]`"
    flag = flag_text(columns)
    return f"{setting_line} or `--{setting} {flag}`" if flag else setting_line


def toml_text(name: str) -> str:
    """Quote a name so that TOML and Python both read it unchanged, even after spaces were normalized."""
    codes = ((sign, f"\\u{ord(sign):04x}" if ord(sign) < 2**16 else f"\\U{ord(sign):08x}") for sign in name)
    signs = [f"\\{sign}" if sign in '"\\' else sign if sign.isprintable() else code for sign, code in codes]
    return '"' + re.sub(r"(?<= ) ", r"\\u0020", "".join(signs)) + '"'


def parse_names(texts: Sequence[str]) -> list[str]:
    """Parse comma-separated column names from flags; names with a comma are in double quotes."""
    rows = csv.reader(texts, skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def flag_text(columns: Sequence[str]) -> str:
    """Return these columns as the value of a flag, quoted for the shell; nothing if a flag cannot express them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(columns)
    text = line.getvalue()
    # Messages are one line with normalized spaces, and flags ignore spaces around names.
    sayable = text.isprintable() and " ".join(text.split()) == text and parse_names([text]) == list(columns)
    return shlex.quote(text) if sayable else ""
