"""`coterie hierarchy build | check | show`."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli.flags import option, switch, takes_settings
from coterie.wording import one_line, visible

if TYPE_CHECKING:
    from rich.tree import Tree as Drawing

    from coterie.hierarchies.check import ColumnValues
    from coterie.hierarchies.hierarchy import Hierarchy
    from coterie.hierarchies.tree import Tree

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Build, check and show hierarchies.")

_AT_ONCE = 10  # children of a node, and levels, that `show` draws without --all

_DATA = option(None, "FILE", "Table whose values the hierarchy must cover.")
_COLUMN = option(None, "COLUMN", "Column of the table.")


@app.command()
@takes_settings("hierarchy")
def build(
    *,
    data: Annotated[str, typer.Argument(help="Table to take the values from; - for standard input.")],
    column: str = option(..., "COLUMN", "Column that the hierarchy is for."),
    output: str = option(..., "FILE", "CSV file to write; - for standard output.", "--output", "-o"),
    intervals: str | None = option(None, "W,W,…", "Numbers: widths, each dividing the next, as in 5,10,20."),
    start: str = option("0", "NUMBER", "With --intervals: the start of one of them."),
    prefixes: str | None = option(None, "N,N,…|all", "Codes: lengths as in 5,3, or all for one character at a time."),
    mask: str = option("*", "CHARACTER", "With --prefixes: what stands for a hidden character."),
    dates: str | None = option(None, "LEVEL,…|all", "Dates: any of day, month, quarter, year, decade in this order."),
    flat: bool = switch("--flat", "Every value directly under the root."),
    force: bool = switch("--force", "Overwrite an existing file."),
    reading: dict[str, Any],
) -> None:
    """Build a hierarchy for a column by a rule and write it as CSV, for you or ARX to edit.

    Example: coterie hierarchy build people.csv --column zip --prefixes 5,3 -o zip.csv
    """
    from coterie.errors import ConfigError
    from coterie.files.destinations import check_apart
    from coterie.files.output import check_target

    rules = {"intervals": intervals, "prefixes": prefixes, "dates": dates, "flat": "" if flat else None}
    chosen = [name for name, value in rules.items() if value is not None]
    if len(chosen) != 1:
        raise ConfigError("Choose one of --intervals, --prefixes, --dates and --flat.")
    check_apart(data, None, output=output, settings_beside=False)
    check_target(output, force=force)
    hierarchy = _rule(chosen[0], rules[chosen[0]] or "", start=start, mask=mask)
    values = _column(data, column, **reading)
    # Binding counts the rows of values that do not fit; writing alone does not know them.
    hierarchy.bind(values.values, counts=values.counts, column=column)
    hierarchy.to_csv(output, values.values, force=force)
    if output != "-":
        typer.echo(f"{output}: {len(values.values):,} values of {column!r}", err=True)


def _rule(kind: str, levels: str, *, start: str, mask: str) -> Hierarchy:
    from coterie.errors import ConfigError, Problem
    from coterie.hierarchies.hierarchy import Hierarchy

    listed = [] if levels.strip() in ("", "all") else [level.strip() for level in levels.split(",")]
    if kind == "intervals":
        return Hierarchy.intervals(*listed, start=start)
    if kind == "dates":
        return Hierarchy.dates(*listed)
    if kind == "flat":
        return Hierarchy.flat()
    wrong = [level for level in listed if not level.isdecimal()]
    if wrong:
        problems = [Problem("--prefixes", f"{level!r} is not a length; write lengths as in 5,3") for level in wrong]
        raise ConfigError(problems)
    return Hierarchy.prefixes(*map(int, listed), mask=mask)


def _column(data: str, column: str, **reading: Any) -> ColumnValues:  # noqa: ANN401 - settings
    from coterie.files.tables import read
    from coterie.hierarchies.check import distinct_values

    return distinct_values(read(data, **reading).table, column)


def _optional_column(data: str | None, column: str | None, **reading: Any) -> ColumnValues | None:  # noqa: ANN401
    from coterie.errors import ConfigError

    if (data is None) != (column is None):
        raise ConfigError("--data and --column go together: the table, and which of its columns.")
    if data is None or column is None:
        return None
    return _column(data, column, **reading)


@app.command()
@takes_settings("hierarchy")
def check(
    *,
    file: Annotated[Path, typer.Argument(help="Hierarchy: CSV, JSON or TOML.")],
    data: str | None = _DATA,
    column: str | None = _COLUMN,
    show_values: bool = switch("--show-values", "Show the values that are missing from the hierarchy."),
    reading: dict[str, Any],
) -> None:
    """Check that a file is a tree and, with --data, that it covers every value.

    Lists every problem and ends with exit code 3 if there are any.
    """
    from coterie.hierarchies.check import check_file

    values = _optional_column(data, column, **reading)
    found = check_file(file, values, show_values=show_values)
    for problem in found.problems:
        typer.echo(one_line(str(problem)))
    if found.problems or found.hierarchy is None:
        raise typer.Exit(3)
    for line in _summary(found.hierarchy, values):
        typer.echo(visible(line))
    for doubt in found.doubts:
        typer.echo(f"note: {one_line(str(doubt))}")


def _summary(hierarchy: Hierarchy, values: ColumnValues | None) -> list[str]:
    tree = hierarchy.tree
    if tree is None:
        lines = [f"rule    {hierarchy.spec}"]
    else:
        lines = [
            f"root    {tree.root}",
            f"levels  {int(tree.heights[0]) + 1:,}",
            f"leaves  {len(tree.leaf_of):,}",
        ]
    if values is not None:
        rows = int(values.counts.sum())
        lines.append(
            f"data    all {len(values.values):,} values of {values.name!r} ({rows:,} rows) are in the hierarchy"
        )
        if values.missing:
            empty = "1 row is" if values.missing == 1 else f"{values.missing:,} rows are"
            lines.append(f"        {empty} without a value")
    return lines


@app.command()
@takes_settings("hierarchy")
def show(
    *,
    file: Annotated[Path, typer.Argument(help="Hierarchy: CSV, JSON or TOML.")],
    data: str | None = _DATA,
    column: str | None = _COLUMN,
    everything: bool = switch("--all", "Show everything, however long."),
    reading: dict[str, Any],
) -> None:
    """Draw a hierarchy as an indented tree; with --data, only the values that occur, with row counts."""
    import numpy as np
    from rich.console import Console

    from coterie.errors import ConfigError
    from coterie.hierarchies.hierarchy import Hierarchy

    hierarchy = Hierarchy.from_file(file)
    values = _optional_column(data, column, **reading)
    if values is not None:
        tree, codes = hierarchy.bind(values.values, counts=values.counts, column=values.name)
        rows = np.bincount(codes, weights=values.counts, minlength=tree.leaves).astype(np.int64).tolist()
    elif hierarchy.tree is None:
        raise ConfigError("A rule has no values to show.", hint="Give it some with --data and --column.")
    else:
        tree, _ = hierarchy.tree.restrict()
        rows = None
    # Rich truncates lines at the width of the terminal; a wide enough one shows all labels in full.
    width = 4 * int(tree.depth.max()) + 2 * max(map(len, tree.labels)) + 60
    Console(highlight=False, width=width).print(_draw(tree, rows, everything=everything))


def _draw(tree: Tree, rows: list[int] | None, *, everything: bool) -> Drawing:
    """Return the tree for rich, with long levels truncated. Trees may be deeper than Python's recursion limit."""
    from rich.text import Text
    from rich.tree import Tree as Drawing

    beneath: list[list[int]] = [[] for _ in tree.labels]
    for node in range(1, tree.nodes):
        beneath[int(tree.parent[node])].append(node)

    before = [0, *accumulate(rows or ())]

    def title(node: int) -> Text:
        first, last = int(tree.first[node]), int(tree.last[node])
        said = [] if not beneath[node] else [f"{last - first + 1:,} leaves" if last > first else "1 leaf"]
        if rows is not None:
            number = before[last + 1] - before[first]
            said.append(f"{number:,} rows" if number != 1 else "1 row")
        text = Text(visible(tree.labels[node]))
        return text.append(f"  ({', '.join(said)})", style="dim") if said else text

    top = Drawing(title(0))
    stack = [(0, top)]
    while stack:
        node, drawing = stack.pop()
        children = beneath[node]
        if not everything and children and int(tree.depth[node]) >= _AT_ONCE:
            drawing.add(Text("… deeper levels: use --all", style="dim"))
            continue
        # A line that mentions one more child would be no shorter than the child itself.
        shown = children if everything or len(children) <= _AT_ONCE + 1 else children[:_AT_ONCE]
        stack.extend((child, drawing.add(title(child))) for child in shown)
        if len(shown) < len(children):
            drawing.add(Text(f"… and {len(children) - len(shown):,} more", style="dim"))
    return top
