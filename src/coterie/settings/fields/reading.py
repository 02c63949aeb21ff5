"""How text files are read."""

from __future__ import annotations

from typing import Literal

from coterie.settings.fields._setting import ALL, READING, Group, setting


class Reading(Group, title="Reading the file", screen="data", commands=READING):
    """The dialect of a text file."""

    delimiter: str | None = setting(
        None,
        "Delimiter of a text file; \\t is a tab.",
        why="Detected by default.",
        metavar="CHARACTER",
        aliases=("sep",),
        read=lambda text: text.strip(" ").replace("\\t", "\t"),
        show=lambda value: str(value).replace("\t", "\\t"),
    )
    encoding: str | None = setting(
        None,
        "Encoding of a text file, such as utf-8 or latin-1.",
        why="Detected by default.",
        metavar="NAME",
    )
    header: bool | None = setting(
        None,
        "Whether the first line of a text file is a header.",
        more="Without a header, columns are named column_1, column_2, ….",
        why="By default it is, and coterie refuses a file whose first line looks like data.",
        choices={"": "header, unless it looks like data", "true": "header", "false": "no header"},
    )
    formulas: Literal["keep", "escape", "refuse"] = setting(
        "keep",
        "Cells of text files that a spreadsheet would run as formulas: keep, escape (by an apostrophe) or refuse.",
        more="These start with =, +, -, @, a tab or a line end and are not numbers. With escape, the apostrophes are "
        "removed when a text file is read, so `verify` and `measure` see the original cells.",
        why="The default publishes cells unchanged: most programs that read a release are not spreadsheets, and would "
        "take the apostrophe for part of the value.",
        choices={"keep": "publish unchanged", "escape": "escape with an apostrophe", "refuse": "refuse to publish"},
        metavar="POLICY",
        commands=ALL,
    )
    skip_rows: int = setting(
        0,
        "Lines above the header of a text file, to be skipped.",
        more="A release has none, so this applies to the input only.",
        unit="lines",
        limits={"ge": 0},
        aliases=("skiprows",),
        commands=READING.replace(" verify", ""),
    )
