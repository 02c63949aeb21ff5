"""Database addresses: their syntax, and the part of them that messages may show.

    sqlite:///people.db#people                          a file in the current folder; four slashes: an absolute path
    postgresql://user@host:5432/census#people           or #schema.people, or #"odd name"."with.dots"
    postgresql://user@host/census#select * from people where age >= 18 order by id

The part after the first # is the table, or a query that begins with `select`, `with`, `values` or `table`. It is
used verbatim, while everything before it is a URL, in which special characters are percent-encoded.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from coterie.errors import ConfigError

DatabaseKind = Literal["postgresql", "sqlite"]

_SCHEMES: dict[str, DatabaseKind] = {"postgresql": "postgresql", "postgres": "postgresql", "sqlite": "sqlite"}
# Told apart from files so that the answer is not "there is no such file".
_OTHERS = frozenset(
    ("mysql", "mariadb", "mssql", "sqlserver", "oracle", "duckdb", "snowflake", "bigquery", "redshift", "clickhouse")
)
_URL = re.compile(r"([a-z][a-z0-9]*)(?:\+[a-z0-9_]+)?:/", re.IGNORECASE)
_QUERY = re.compile(r"[\s(]*(select|with|values|table)[\s(*]", re.IGNORECASE)
_PART = r'(?:"(?:[^"]|"")+"|[^".]+)'
_TABLE = re.compile(rf"({_PART})(?:\.({_PART}))?")
_EXAMPLE = "Write sqlite:///people.db#people or postgresql://user@host/database#people."


@dataclass(frozen=True)
class Place:
    """A table or a query in a database."""

    kind: DatabaseKind
    url: str = field(repr=False)
    """the driver's address: a URL for PostgreSQL, which may contain a password, and a path for SQLite"""
    shown: str
    """the database, without password and parameters"""
    table: str | None
    schema: str | None = None
    query: str | None = field(default=None, repr=False)
    """may contain values, so messages omit it"""

    @property
    def name(self) -> str:
        """Its name in messages and reports."""
        return f"{self.shown}#{self.label}" if self.table is not None else f"the query of {self.shown}"

    @property
    def label(self) -> str:
        """The table with its schema, quoted where necessary."""
        parts = [part for part in (self.schema, self.table) if part is not None]
        return ".".join(part if re.fullmatch(r"[^\".\s]+", part) else quoted(part) for part in parts)

    @property
    def quoted(self) -> str:
        """The table in SQL."""
        return ".".join(quoted(part) for part in (self.schema, self.table) if part is not None)

    def same_table(self, other: Place) -> bool:
        """Return whether both are the same table, judging by their names."""
        if self.table is None or other.table is None or self.kind != other.kind:
            return False
        if self.kind == "sqlite":
            return (Path(self.url).resolve(), self.table.lower()) == (Path(other.url).resolve(), other.table.lower())

        def key(place: Place) -> tuple[str, str, str | None]:
            return re.sub(r"//[^@/]*@", "//", place.shown), place.schema or "public", place.table

        return key(self) == key(other)


def quoted(name: str) -> str:
    """Quote a name for SQL, whatever characters it contains."""
    return '"' + name.replace('"', '""') + '"'


def is_database(data: object) -> bool:
    """Return whether this names a database, valid or not, rather than a file."""
    if not isinstance(data, str | os.PathLike):
        return False
    found = _URL.match(str(data))
    return found is not None and found[1].lower() in {*_SCHEMES, *_OTHERS}


def is_address(path: str) -> bool:
    """Return whether this is an address such as hdfs://…, which only Spark can open."""
    return "://" in path and not path.startswith("file://") and not is_database(path)


def place_of(data: object) -> Place | None:
    """Return the table or query that a text names; None for files and frames.

    Raises:
        ConfigError: It looks like a database but names no table, or is a database that coterie does not support.
    """
    if not is_database(data):
        return None
    text = str(data)
    found = _URL.match(text)
    scheme = found[1].lower() if found else ""
    if scheme not in _SCHEMES:
        raise ConfigError(
            f"coterie reads PostgreSQL and SQLite, not {scheme}.",
            hint="Give a frame, or export a file.",
        )
    base, mark, wanted = text.partition("#")
    rest = base[found.end() :] if found else ""
    if "\0" in text or not rest.startswith("/"):
        raise ConfigError(f"This is no address of a {scheme} database.", hint=_EXAMPLE)
    _refuse_open_password(base, wanted)
    kind = _SCHEMES[scheme]
    url, shown = _sqlite(rest[1:]) if kind == "sqlite" else _postgresql(rest[1:])
    if not mark or not wanted.strip():
        raise ConfigError(f"{shown} names no table.", hint=f"Add it: {shown}#TABLE")
    if _QUERY.match(wanted):
        return Place(kind, url, shown, None, query=wanted.strip().rstrip(";").rstrip())
    parts = _TABLE.fullmatch(wanted.strip())
    if parts is None:
        raise ConfigError(
            f"The part after # in the address of {shown} is neither a table nor a query.",
            hint='Write #people, #schema.people, #"odd.name" or #select * from people.',
        )
    names = [_unquoted(part) for part in parts.groups() if part is not None]
    return Place(kind, url, shown, names[-1], schema=names[0] if len(names) == 2 else None)


def target_of(path: object) -> Place | None:
    """Return the table to write to that a text names; None for files."""
    place = place_of(path)
    if place is not None and place.table is None:
        raise ConfigError("A release must be written to a table, not to a query.", hint=_EXAMPLE)
    return place


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part.strip()


def _refuse_open_password(base: str, wanted: str) -> None:
    """Refuse a # or / in a password: it would end there, and messages would show the rest as a name."""
    before_host = re.match(r"[^:]*://[^/@]*:[^/@]*$", base.partition("?")[0])
    if ("@" in wanted and before_host) or re.match(r"[^:]*://[^/@?]*:[^@]*/[^@]*@", base.partition("?")[0]):
        raise ConfigError(
            "The password in the address contains characters that end it early.",
            hint="Write them percent-encoded (# is %23, / is %2F), or leave the password to PGPASSWORD or ~/.pgpass.",
        )


def _sqlite(rest: str) -> tuple[str, str]:
    path = unquote(rest.removeprefix("/"))
    if not rest.startswith("/") or not path:
        raise ConfigError("This is no address of an SQLite file.", hint=f"{_EXAMPLE} Absolute paths have four slashes.")
    return path, f"sqlite:///{path}"


def _postgresql(rest: str) -> tuple[str, str]:
    # After the last @, so that no part of a password is taken for a host, however it is written.
    user, at, place = rest.rpartition("@")
    host = place.partition("?")[0]
    return f"postgresql://{rest}", f"postgresql://{user.partition(':')[0]}{at}{host}"
