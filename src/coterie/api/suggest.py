"""suggest(): suggest a role for each column of a table, for a person to review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coterie.arrays import AnyTable
from coterie.files import tables
from coterie.suggesting.proposals import Proposal, propose
from coterie.suggesting.suggest import Guess, guess_table, missing_marks, without_marks
from coterie.suggesting.toml import suggestion_toml

if TYPE_CHECKING:
    from coterie.hierarchies.hierarchy import Hierarchy
    from coterie.settings.config import Config


@dataclass(frozen=True)
class Suggestion:
    """Suggested roles, types and hierarchies of a table's columns, as `coterie init` writes them."""

    columns: tuple[Guess, ...]
    """the suggested role of each column, and the reason"""
    toml: str = field(repr=False)
    """the commented configuration; it has column names and counts, never cells"""

    proposals: tuple[Proposal, ...] = ()
    """hierarchies for what loses most, each with the loss of a sample before and after; not part of `config`"""

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The proposed hierarchies by column, to review and pass to `anonymize`. Learned ones list values."""
        return {each.column: each.hierarchy for each in self.proposals}

    @property
    def config(self) -> Config:
        """The suggested configuration. Review it: only you know what an attacker may know."""
        import tomllib

        from coterie.settings.config import Config

        return Config.from_dict(tomllib.loads(self.toml))


def suggest(data: AnyTable, **reading: Any) -> Suggestion:  # noqa: ANN401 - settings of reading
    """Suggest roles, types and hierarchies from the names and contents of columns.

    Args:
        data: A frame, the path of a file or the address of a table in a database.
        **reading: How to read a text file: `delimiter`, `encoding`, `header`, `skip_rows`, `missing_values`.

    Returns:
        The suggestion; `.config` is a configuration to review, `.toml` the same with the reasons as comments.
    """
    return suggestion_of(tables.read(data, **reading), reading)


def suggestion_of(source: tables.Source, reading: Mapping[str, Any]) -> Suggestion:
    """Suggest a configuration for a table that was read.

    Args:
        source: The table.
        reading: The settings with which it was read.
    """
    table, settings = source.table, dict(reading)
    # Only text files are read by the setting; others know themselves what is missing.
    if source.dialect is not None and "missing_values" not in reading and (marks := missing_marks(table)):
        settings["missing_values"] = ["", *marks]
        table = without_marks(table, marks)
    guesses = guess_table(table)
    name = source.name if source.path is None else source.path.name
    proposals = propose(table, guesses)
    text = suggestion_toml(
        guesses,
        source=name,
        rows=table.num_rows,
        reading=settings,
        proposals=proposals,
        file=source.path is not None,
    )
    return Suggestion(tuple(guesses), text, tuple(proposals))
