"""`coterie compare`: compare methods, k and privacy models on one table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import complete, flags
from coterie.cli.flags import option, switch
from coterie.cli.show import ProgressBar, Voice
from coterie.errors import Cancelled, ConfigError, Problem

if TYPE_CHECKING:
    from coterie.comparison.comparison import Comparison, ComparisonRow
    from coterie.settings.config import Config


@flags.takes_settings("compare")
def compare(
    *,
    data: Annotated[str, typer.Argument(metavar="FILE")],
    methods: list[str] | None = option(
        None,
        "NAMES",
        "all, or method names separated by commas, with options as in compact:effort=fast. [default: all]",
        complete=complete.methods,
    ),
    k: list[str] | None = option(None, "NUMBERS", "Values of k. [default: 2,5,10,50]", "-k", "--k"),
    privacy: list[str] | None = option(
        None,
        "MODEL",
        "Privacy models to compare, such as l-diversity:3:disease; a + combines models; none is k-anonymity "
        "alone. [default: those of the configuration]",
        complete=complete.privacy,
    ),
    output: Path | None = option(None, "FILE", "Write the table: .csv, .tsv, .json, .parquet.", "--output", "-o"),
    plot: Path | None = option(None, "FILE", "Plot risk and loss: out.svg makes out-risk.svg and out-loss.svg."),
    results: Path | None = option(None, "FILE", "File of finished runs. [default: NAME.compare.jsonl]"),
    fresh: bool = switch("--fresh", "Ignore finished runs."),
    queries: int = option(1000, "N", "Number of COUNT queries to compare with; 0 for none."),
    settings: flags.Settings,
    force: flags.Force = False,
    as_json: flags.AsJson = False,
    quiet: flags.Quiet = False,
) -> None:
    """Compare methods and values of k by information loss, risk, query error and time.

    Finished runs are saved in a file without any data values. After Ctrl-C, or with more methods or k, the
    same command continues from there. A method that cannot run is listed with the reason.
    """
    check_files(data, settings, output, plot, force=force)
    stem = "stdin" if data == "-" else Path(Path(data).name.removesuffix(".gz")).stem
    results = results or Path(f"{stem}.compare.jsonl")
    asked: dict[str, Any] = {"privacy": privacy, "queries": queries, "results": results, "fresh": fresh}
    asked["methods"] = [each for text in methods or ["all"] for each in text.split(",")]
    asked["k"] = whole_numbers(k or ["2,5,10,50"], "k")
    voice = Voice(quiet=quiet, output=output)
    found = _compared(data, settings, asked, voice, as_json=as_json)
    if output is not None:
        found.write(output, force=force)
    drawn = [] if plot is None else [str(path) for path in found.plot(plot, force=force)]
    files = ", ".join([*([str(output)] if output is not None and str(output) != "-" else []), *drawn])
    if not as_json:
        again = f", {found.resumed:,} of them from an earlier call" if found.resumed else ""
        voice.say(f"{len(found.rows):,} runs{again}, kept in {results}." + (f" Wrote {files}." if files else ""))


def whole_numbers(texts: list[str], flag: str) -> list[int]:
    """Parse comma-separated integers of at least 1."""
    found = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if not found or not all(part.isascii() and part.isdigit() and int(part) for part in found):
        raise ConfigError([Problem(flag, "must be whole numbers of at least 1, separated by commas, such as 2,5,10")])
    return list(dict.fromkeys(int(part) for part in found))


def check_files(data: str, config: Config, output: Path | None, plot: Path | None, *, force: bool) -> None:
    """Check before the runs that the results can be written."""
    from coterie.files.destinations import check_apart
    from coterie.files.output import check_target, format_of

    check_apart(data, config, output=output, settings_beside=False)
    if output is not None:
        if output.suffix.lower() != ".json":
            format_of(output)
        check_target(output, force=force)
    if plot is not None:
        from coterie.charts.svg import ENDINGS
        from coterie.comparison.comparison import plot_paths

        if plot.suffix.lower() not in ENDINGS:
            raise ConfigError([Problem("plot", f"the name must end in {', '.join(ENDINGS)}")])
        for path in plot_paths(plot):
            check_target(path, force=force)


def _compared(data: str, config: Config, asked: dict[str, Any], voice: Voice, *, as_json: bool) -> Comparison:
    """Execute the runs and print the table. Ctrl-C prints the finished runs and exits with 130."""
    from coterie.api.compare import compare as make
    from coterie.cli.run import mention_compiling
    from coterie.comparison.comparison import Comparison

    mention_compiling(voice.quiet, asked["methods"])
    try:
        with ProgressBar(quiet=voice.quiet) as progress:
            found = make(data, config=config, progress=progress, **asked)
    except Cancelled as error:
        if isinstance(error.finished, Comparison) and error.finished.rows:
            show_comparison(error.finished, voice, as_json=as_json)
        raise
    show_comparison(found, voice, as_json=as_json)
    return found


def show_comparison(found: Comparison, voice: Voice, *, as_json: bool) -> None:
    """Print the comparison, the best methods, and the reasons why methods did not run."""
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
        return
    from coterie.releases.bound import in_words

    promises = any(row.privacy for row in found.rows)
    head = ["method", "k", *(["privacy models"] if promises else []), "loss", "÷ bound", "groups", "highest risk"]
    head += ["average risk", "query error", "seconds"]
    voice.table(head, [_cells(row, promises) for row in found.rows], numbers=[*head[1:2], *head[-7:]])
    voice.say()
    for row in found.best():
        under = f", {row.privacy}" if row.privacy else ""
        near = in_words(row.loss_over_bound)
        voice.say(f"lowest loss at k = {row.k:,}{under}: {row.method} ({row.gcp:.4f}{near and f', {near}'})")
    reasons: dict[str, list[str]] = {}
    for row in found.rows:
        if row.reason:
            reasons.setdefault(row.reason, []).append(f"{row.label} at k = {row.k:,}")
    for reason, who in reasons.items():
        voice.say(f"refused: {', '.join(who)}: {reason}")


def _cells(row: ComparisonRow, promises: bool) -> list[str]:
    def number(value: float | None, digits: int) -> str:
        return "–" if value is None else f"{value:,.{digits}f}"

    return [
        row.method,
        f"{row.k:,}",
        *([row.privacy] if promises else []),
        number(row.gcp, 4) if row.status == "done" else "refused",
        number(row.loss_over_bound, 2),
        number(row.groups, 0),
        number(row.risk_highest, 4),
        number(row.risk_average, 4),
        number(row.query_error, 4),
        number(row.seconds, 2),
    ]
