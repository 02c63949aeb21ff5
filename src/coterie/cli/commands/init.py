"""`coterie init`: suggest a configuration for a file, for the user to edit."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.flags import Force, Quiet, option, takes_settings
from coterie.cli.show import Voice
from coterie.errors import without_passwords


@takes_settings("init")
def init(
    *,
    data: Annotated[str, typer.Argument(metavar="FILE")],
    output: Path = option(Path("coterie.toml"), "FILE", "Output file.", "--output", "-o"),
    force: Force = False,
    reading: dict[str, Any],
    quiet: Quiet = False,
) -> None:
    """Suggest roles, types and hierarchies, and write a commented configuration for you to edit.

    FILE is a file or a database table. Suggestions come from column names and counts; no cells are written.
    """
    from coterie.api.suggest import suggestion_of
    from coterie.files import tables
    from coterie.files.destinations import check_apart
    from coterie.files.output import check_target
    from coterie.suggesting.toml import ROLE_SETTINGS, decision

    voice = Voice(quiet=quiet, output=output)
    to_file = str(output) != "-"
    check_apart(data, None, output=output, settings_beside=False)
    check_target(output, force=force)
    suggestion = suggestion_of(tables.read(data, **reading), reading)
    guesses, text = suggestion.columns, suggestion.toml
    if to_file:
        output.write_text(text, encoding="utf-8")
    else:
        typer.echo(text, nl=False)
    order = list(ROLE_SETTINGS)
    rows = [
        [
            guess.name,
            decision(guess.role) + ", entity" * guess.entity,
            f"{guess.distinct:,}",
            f"{guess.missing:,}",
            guess.reason,
        ]
        for guess in sorted(guesses, key=lambda guess: order.index(decision(guess.role)))
    ]
    voice.table(["column", "role", "distinct", "missing", "why"], rows, numbers=["distinct", "missing"])
    if not any(guess.role == "quasi" for guess in guesses):
        voice.note(
            "warning: no column looks like a quasi-identifier; list the attributes that others may know in quasi"
        )
    if to_file:
        # Quoted where the shell would take part of an address for something else.
        again = shlex.quote(without_passwords(data))
        voice.say(f"Wrote {output}. Review it, then run: coterie anonymize {again} -c {output} -o out.csv")
