"""k-map: every group's published values match at least k rows of a population table: Sweeney 2001."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from coterie.arrays import Int64
from coterie.errors import ConfigError, Problem, without_passwords
from coterie.files.databases.place import is_database
from coterie.privacy.histogram import Groups
from coterie.privacy.model import AtLeastK


@dataclass(frozen=True, eq=False)
class KMap(AtLeastK):
    """Every group's published values match at least k rows of a population table: Sweeney 2001."""

    k: int
    population: Any
    """the population: the path of a file, the address of a table in a database, or a frame"""

    name: ClassVar[str] = "k-map"
    paper: ClassVar[str] = "Sweeney 2001"
    parts: ClassVar[tuple[str, ...]] = ("k", "population")
    meaning: ClassVar[str] = "Every group matches at least k rows of a population table."
    not_proved: ClassVar[str] = (
        "Anything about a person known to be in the table: it counts matches in the population, and is only as "
        "good as the population table."
    )
    parts_help: ClassVar[Mapping[str, str]] = {
        "population": "path of the population table, with the same quasi-identifiers"
    }
    counts: ClassVar[Literal["values", "rows", "population"]] = "population"
    colons_at_the_end: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_whole("k")
        if self.population is None or (isinstance(self.population, str) and not self.population):
            raise ConfigError([Problem("population", "must be the path of a table, such as k-map:5:population.csv")])

    @property
    def path(self) -> Path | None:
        """The path of the population, if it is a file."""
        kept = isinstance(self.population, str | os.PathLike) and not is_database(self.population)
        return Path(self.population) if kept else None

    def located(self, base: Path) -> Self:
        """Return the model with the population's path resolved against a folder."""
        if self.path is None or self.path.is_absolute():
            return self
        return replace(self, population=str(base / self.path))

    @property
    def key(self) -> Hashable:
        """What identifies this population: its path or address, or the frame itself."""
        if self.path is not None:
            return str(self.path)
        return self.population if isinstance(self.population, str) else id(self.population)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KMap) and (self.k, self.key) == (other.k, other.key)

    def __hash__(self) -> int:
        return hash((self.k, self.key))

    def non_defaults(self) -> dict[str, Any]:
        """Return the fields as plain values. Frames and passwords cannot be written; a note replaces a frame."""
        kept = isinstance(self.key, str)
        return {"k": self.k, "population": without_passwords(str(self.key)) if kept else "<a frame>"}

    def count(self, groups: Groups) -> Int64:
        """Return group → matching rows of the population."""
        return groups.matches[self.key]
