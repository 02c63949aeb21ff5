"""Database addresses: their syntax, the part of them that messages may show, and one class for each kind of database.

    sqlite:///people.db#people                          a file in the current folder; four slashes: an absolute path
    postgresql://user@host:5432/census#people           or #schema.people, or #"odd name"."with.dots"
    postgresql://user@host/census#select * from people where age >= 18 order by id

The part after the first # is the table, or a query that begins with `select`, `with`, `values` or `table`. It is
used verbatim, while everything before it is a URL, in which special characters are percent-encoded.

A class registers itself by its scheme; reading, writing, help and messages follow. Drivers are imported when needed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self
from urllib.parse import unquote

from coterie.errors import ConfigError
from coterie.files.registry import Registry

if TYPE_CHECKING:
    import pyarrow as pa

DATABASES: Registry[type[Place]] = Registry("coterie.files.databases.place")
"""every kind of database by its scheme"""

# Recognized so that the error is not "there is no such file".
_OTHERS = frozenset(
    ("mysql", "mariadb", "mssql", "sqlserver", "oracle", "duckdb", "snowflake", "bigquery", "redshift", "clickhouse")
)
_URL = re.compile(r"([a-z][a-z0-9]*)(?:\+[a-z0-9_]+)?:/", re.IGNORECASE)
_QUERY = re.compile(r"[\s(]*(select|with|values|table)[\s(*]", re.IGNORECASE)
_PART = r'(?:"(?:[^"]|"")+"|[^".]+)'
_TABLE = re.compile(rf"({_PART})(?:\.({_PART}))?")


@dataclass(frozen=True)
class Place:
    """A table or a query in a database. A subclass with a `scheme` registers itself."""

    scheme: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    """other schemes with the same meaning"""
    title: ClassVar[str]
    example: ClassVar[str]
    driver: ClassVar[str]
    """the module with `read(place)`, `check(place, force=…)` and `write(table, place, force=…)`"""
    keeps: ClassVar[str] = "types and missing values"
    """what it keeps of a table besides its cells"""
    lists: ClassVar[bool] = False
    """whether a cell may contain a list"""

    url: str = field(repr=False)
    """the driver's argument: a path, or a URL that may contain a password"""
    shown: str
    """the database, without password and parameters"""
    table: str | None
    schema: str | None = None
    query: str | None = field(default=None, repr=False)
    """may contain values, so messages omit it"""

    def __init_subclass__(cls) -> None:
        DATABASES.add(cls.scheme, cls)

    @classmethod
    def locate(cls, rest: str) -> tuple[str, str]:
        """Return `url` and `shown` of the database, from the part of an address between the scheme's :/ and #."""
        raise NotImplementedError

    def read(self) -> pa.Table:
        """Read all rows of a table or query. Columns keep their types if Arrow supports them; others become text.

        Raises:
            DataError: The database, the table or one of its columns cannot be read.
            BackendError: The extra with the driver is not installed.
        """
        return import_module(self.driver).read(self)

    def check(self, *, force: bool) -> None:
        """Refuse a table that cannot be written, before any work is done."""
        import_module(self.driver).check(self, force=force)

    def write(self, table: pa.Table, *, force: bool) -> None:
        """Create and fill a table in one transaction. With force, one that exists loses its indexes and permissions.

        Raises:
            ConfigError: The table already exists, or its schema does not.
            DataError: The database rejects it.
            BackendError: The extra with the driver is not installed.
        """
        import_module(self.driver).write(table, self, force=force)

    @property
    def key(self) -> Hashable:
        """What distinguishes the table from others of this kind of database."""
        return self.shown, self.schema, self.table

    def without_password(self) -> Self:
        """Return the same table with an address without a password."""
        return replace(self, url=self.shown)

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
        known = self.table is not None and other.table is not None
        return known and type(self) is type(other) and self.key == other.key


def quoted(name: str) -> str:
    """Quote a name for SQL, whatever characters it contains."""
    return '"' + name.replace('"', '""') + '"'


def is_database(data: object) -> bool:
    """Return whether this names a database, valid or not, rather than a file."""
    return _scheme(data) is not None


def _scheme(data: object) -> re.Match[str] | None:
    """Return the beginning of the address of a database."""
    found = _URL.match(str(data)) if isinstance(data, str | os.PathLike) else None
    known = found is not None and (found[1].lower() in _OTHERS or _database(found[1]) is not None)
    return found if known else None


def is_address(path: str) -> bool:
    """Return whether this is an address such as hdfs://…, which only Spark can open."""
    return "://" in path and not path.startswith("file://") and not is_database(path)


def place_of(data: object) -> Place | None:
    """Return the table or query that a text names; None for files and frames.

    Raises:
        ConfigError: It looks like a database but names no table, or is a database that coterie does not support.
    """
    if (found := _scheme(data)) is None:
        return None
    text, scheme = found.string, found[1].lower()
    database = _database(scheme)
    if database is None:
        titles = " and ".join(sorted(each.title for each in DATABASES.values()))
        raise ConfigError(f"coterie reads {titles}, and not {scheme}.", hint="Give a frame, or export a file.")
    base, mark, wanted = text.partition("#")
    rest = base[found.end() :]
    if "\0" in text or not rest.startswith("/"):
        raise ConfigError(f"This is not the address of a {scheme} database.", hint=_examples())
    _refuse_open_password(base, wanted)
    url, shown = database.locate(rest[1:])
    if not mark or not wanted.strip():
        raise ConfigError(f"{shown} names no table.", hint=f"Add it: {shown}#TABLE")
    if _QUERY.match(wanted):
        return database(url, shown, None, query=wanted.strip().rstrip(";").rstrip())
    parts = _TABLE.fullmatch(wanted.strip())
    if parts is None:
        raise ConfigError(
            f"The part after # in the address of {shown} is neither a table nor a query.",
            hint='Write #people, #schema.people, #"odd.name" or #select * from people.',
        )
    names = [_unquoted(part) for part in parts.groups() if part is not None]
    return database(url, shown, names[-1], schema=names[0] if len(names) == 2 else None)


def target_of(path: object) -> Place | None:
    """Return the table to write to that a text names; None for files."""
    place = place_of(path)
    if place is not None and place.table is None:
        raise ConfigError("A release must be written to a table, not to a query.", hint=_examples())
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


def _database(scheme: str) -> type[Place] | None:
    """Return the kind of database of a scheme."""
    folded = scheme.lower()
    return DATABASES.get(folded) or next((each for each in DATABASES.values() if folded in each.aliases), None)


def _examples() -> str:
    return f"Write {' or '.join(each.example for each in DATABASES.values())}."


class SQLite(Place):
    """A table of an SQLite file."""

    scheme, title = "sqlite", "SQLite"
    example = "sqlite:///people.db#people"
    driver = "coterie.files.databases.sqlite"
    keeps = "whole numbers, fractions, texts, bytes and missing values; dates and truth values as declared"

    @classmethod
    def locate(cls, rest: str) -> tuple[str, str]:
        """Return the path of the file, and its address."""
        path = unquote(rest.removeprefix("/"))
        if not rest.startswith("/") or not path:
            hint = f"{_examples()} Absolute paths have four slashes."
            raise ConfigError("This is not the address of an SQLite file.", hint=hint)
        return path, f"sqlite:///{path}"

    @property
    def key(self) -> Hashable:
        """The file, and the table, whose case does not matter."""
        return Path(self.url).resolve(), str(self.table).lower()

    def without_password(self) -> Self:
        """Return the same: a file has no password."""
        return self


class PostgreSQL(Place):
    """A table of a PostgreSQL server."""

    scheme, title = "postgresql", "PostgreSQL"
    aliases = ("postgres",)
    example = "postgresql://user@host/database#people"
    driver = "coterie.files.databases.postgres"
    lists = True

    @classmethod
    def locate(cls, rest: str) -> tuple[str, str]:
        """Return the URL, and the same without password and parameters."""
        # After the last @, so that no part of a password is mistaken for a host.
        user, at, place = rest.rpartition("@")
        host = place.partition("?")[0]
        return f"postgresql://{rest}", f"postgresql://{user.partition(':')[0]}{at}{host}"

    @property
    def key(self) -> Hashable:
        """The database without the user, with schema and table."""
        return re.sub(r"//[^@/]*@", "//", self.shown), self.schema or "public", self.table
