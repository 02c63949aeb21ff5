"""`coterie anonymize`, `verify` and `measure`: make a release, check it, say what it cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli import complete, flags
from coterie.cli.options import cluster_of, names
from coterie.errors import ConfigError, Problem

NOT_KEPT = 1

Table = Annotated[str, typer.Argument(metavar="FILE")]


@flags.takes_settings("anonymize")
def anonymize(
    *,
    data: Table,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output.")
    ] = None,
    settings: flags.Settings,
    master: flags.Master = None,
    spark: flags.SparkSetting = None,
    report: flags.Reports = None,
    report_variant: flags.ReportVariant = "internal",
    mapping: flags.MappingFile = None,
    force: flags.Force = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run to the same output that was stopped.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do everything but write.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    strict: flags.Strict = False,
    quiet: flags.Quiet = False,
) -> None:
    """Publish a table in which every row shares its quasi-identifiers with at least k - 1 others.

    FILE is CSV, Parquet, Feather or Excel (people.xlsx#2024 is the sheet 2024), gzipped or not; - is standard input. It
    may also be a table of a database, such as sqlite:///people.db#people or postgresql://user@host/census#people, and
    so may the output.

    The release is verified before anything is written. Beside it stands a .coterie.toml with the configuration, the
    versions and the checksums that belong to it.
    """
    from coterie.cli.run import run_and_show
    from coterie.files.destinations import check_outputs
    from coterie.reporting.report import check_request

    if output is None and not dry_run:
        raise ConfigError([Problem("output", "is required: name a file, - for standard output, or give --dry-run")])
    if as_json and output == "-" and not dry_run:
        text = "the release and the summary cannot both go to standard output; name a file, or leave out --json"
        raise ConfigError([Problem("output", text)])
    for path in report or []:
        check_request(path, variant=report_variant)
    cluster = cluster_of(master, spark, engine=settings.engine)
    if settings.engine != "memory" and not dry_run:
        from coterie.cli.blocks import Wanted, ran_in_blocks

        ways = {"force": force, "resume": resume, "quiet": quiet, "as_json": as_json}
        wanted = Wanted(output, mapping, tuple(report or ()), report_variant)
        stored = ran_in_blocks(data, settings, wanted, cluster=cluster, **ways)
        if stored is not None:
            if strict and stored.verdict.state != "pass":
                raise typer.Exit(NOT_KEPT)
            return
    if resume:
        raise ConfigError([Problem("resume", "a run in memory leaves nothing to go on with; give --engine blocks")])
    check_outputs(data, settings, output=output, mapping=mapping, reports=report or [], force=force)
    passed = run_and_show(
        data,
        settings,
        output=None if dry_run else output,
        reports=report or [],
        variant=report_variant,
        mapping=None if dry_run else mapping,
        force=force,
        quiet=quiet,
        as_json=as_json,
    )
    if strict and not passed:
        raise typer.Exit(NOT_KEPT)


@flags.takes_settings("verify", also="config k")
def verify(
    *,
    data: Table,
    config: flags.ConfigFile = None,
    k: int | None = None,
    settings: flags.Settings,
    l: Annotated[  # noqa: E741 - its name in every paper
        str | None, typer.Option("--l", metavar="L", help="Distinct values of each sensitive column in every group.")
    ] = None,
    t: Annotated[
        str | None, typer.Option("--t", metavar="T", help="t-closeness of each sensitive column, equal distance.")
    ] = None,
    alpha: Annotated[
        str | None, typer.Option("--alpha", metavar="ALPHA", help="Largest share of one sensitive value in a group.")
    ] = None,
    beta: Annotated[str | None, typer.Option("--beta", metavar="BETA", help="Basic beta-likeness.")] = None,
    delta: Annotated[str | None, typer.Option("--delta", metavar="DELTA", help="Delta-disclosure privacy.")] = None,
    as_json: flags.AsJson = False,
    strict: flags.Strict = False,
    quiet: flags.Quiet = False,
) -> None:
    """Check what a published table promises, from its cells alone. Exit code 1 if a promise is not kept.

    FILE is the published table; - is standard input.

    Promises are those of the configuration and of the flags. Without any it only tells which k the table has and,
    of each sensitive column, which l, t and so on.
    """
    from coterie.cli.run import show_verification

    short = {"l-diversity": l, "t-closeness": t, "alpha-k": alpha, "beta-likeness": beta, "delta-disclosure": delta}
    further = [f"{model}:{limit}" for model, limit in short.items() if limit is not None]
    if further:
        settings = settings.replace(privacy=[*settings.privacy, *further])
    asked = config is not None or k is not None
    if not show_verification(data, settings, asked=asked, as_json=as_json, quiet=quiet, strict=strict):
        raise typer.Exit(NOT_KEPT)


@flags.takes_settings("measure")
def measure(
    *,
    original: Annotated[str, typer.Argument(metavar="ORIGINAL")],
    published: Annotated[str, typer.Argument(metavar="PUBLISHED")],
    settings: flags.Settings,
    queries: Annotated[
        int | None, typer.Option("--queries", metavar="N", help="Ask N random COUNT queries of both tables.")
    ] = None,
    sum_of: Annotated[
        str | None, typer.Option("--sum", metavar="COLUMN", help="With --queries: ask for sums of a column as well.")
    ] = None,
    query_file: Annotated[
        Path | None,
        typer.Option("--query-file", metavar="FILE", help="Ask the queries of a file: TOML, or one query a line."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", metavar="COLUMN", help="Learn to predict a column from the release; needs the extra ml."
        ),
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(
            "--feature", metavar="COLUMNS", help="With --target: predict from these. [default: quasi-identifiers]"
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME",
            autocompletion=complete.words("linear", "forest"),
            help="With --target: linear or forest.",
        ),
    ] = "linear",
    distributions: Annotated[
        bool, typer.Option("--distributions", help="Compare columns, and pairs of them, before and after.")
    ] = False,
    as_json: flags.AsJson = False,
) -> None:
    """Measure what a release lost, in all and per column.

    ORIGINAL is the table before, PUBLISHED the one after, with its rows in the same order.

    With --queries, --query-file, --target or --distributions also how well the release serves those who work with it.
    """
    from coterie.api.utility import UtilityRequest
    from coterie.cli.utility import show_measures

    request = UtilityRequest(
        queries=queries,
        sum=sum_of,
        query_file=query_file,
        target=target,
        features=names(feature) if feature else None,
        model=model,  # type: ignore[arg-type]
        distributions=distributions,
    )
    show_measures(original, published, settings, request=request, as_json=as_json)
