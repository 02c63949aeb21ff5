"""`coterie anonymize`, `verify` and `measure`: make a release, verify it, measure its information loss."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli import flags
from coterie.cli.complete import words
from coterie.cli.flags import option, switch
from coterie.cli.options import cluster_of, names
from coterie.errors import ConfigError, Problem
from coterie.files.databases.place import DATABASES
from coterie.files.formats import FORMATS

NOT_KEPT = 1

READABLE = ", ".join(each.title for each in FORMATS.values())
DATABASE = " or ".join(each.title for each in DATABASES.values())
Table = Annotated[
    str, typer.Argument(metavar="FILE", help=f"File ({READABLE}) or {DATABASE} table; - is standard input.")
]


@flags.takes_settings("anonymize")
def anonymize(
    *,
    data: Table,
    output: str | None = option(None, "FILE", "Output file or table; - is standard output.", "--output", "-o"),
    settings: flags.Settings,
    master: str | None = option(None, "URL", "Spark master: local[2], spark://HOST:7077, yarn, k8s://…"),
    spark: list[str] | None = option(None, "NAME=VALUE", "Spark configuration, such as spark.executor.memory=4g."),
    report: list[Path] | None = option(None, "FILE", "Write a report: .html to read, .json to process."),
    report_variant: str = option(
        "internal",
        "VARIANT",
        "internal, or external: no data values and no counts below k.",
        complete=words(("internal", "external")),
    ),
    mapping: Path | None = option(
        None,
        "FILE",
        "Write the mapping from original to published values. It contains original data: keep it secret.",
    ),
    force: flags.Force = False,
    resume: bool = switch("--resume", "Continue an interrupted run to the same output."),
    dry_run: bool = switch("--dry-run", "Run without writing anything."),
    as_json: bool = switch("--json", "Print the summary as JSON."),
    strict: flags.Strict = False,
    quiet: flags.Quiet = False,
) -> None:
    """Anonymize a table: every published row shares its quasi-identifiers with at least k - 1 others.

    FILE may be gzipped, a sheet of a workbook (people.xlsx#2024) or a database table, such as
    sqlite:///people.db#people or postgresql://user@host/census#people. The output may be in a database too.

    coterie verifies the release before it writes anything. It also writes OUTPUT.coterie.toml with the configuration,
    versions and checksums.
    """
    from coterie.cli.run import run_and_show
    from coterie.engines.engine import Job
    from coterie.reporting.report import check_request

    if output is None and not dry_run:
        raise ConfigError([Problem("output", "is required: a file, - for standard output, or --dry-run")])
    if as_json and output == "-" and not dry_run:
        text = "the release and the summary cannot both go to standard output; name a file, or omit --json"
        raise ConfigError([Problem("output", text)])
    for path in report or []:
        check_request(path, variant=report_variant)
    cluster = cluster_of(master, spark, engine=settings.engine)
    job = Job(settings, output, resume=resume, force=force, cluster=cluster, mapping=mapping)
    ways = {"dry_run": dry_run, "quiet": quiet, "as_json": as_json}
    if not run_and_show(data, job, reports=report or [], variant=report_variant, **ways) and strict:
        raise typer.Exit(NOT_KEPT)


@flags.takes_settings("verify", also="config k")
def verify(
    *,
    data: Table,
    config: flags.ConfigFile = None,
    k: int | None = None,
    settings: flags.Settings,
    as_json: flags.AsJson = False,
    strict: flags.Strict = False,
    quiet: flags.Quiet = False,
) -> None:
    """Verify a release from its published cells alone. Exit code 1 if a guarantee does not hold.

    FILE is the release; - is standard input.

    The guarantees come from the configuration and the options. Without any, coterie reports the k of the table and
    l, t and so on of each sensitive attribute.
    """
    from coterie.cli.run import show_verification

    asked = config is not None or k is not None
    if not show_verification(data, settings, asked=asked, as_json=as_json, quiet=quiet, strict=strict):
        raise typer.Exit(NOT_KEPT)


@flags.takes_settings("measure")
def measure(
    *,
    original: Annotated[str, typer.Argument(metavar="ORIGINAL")],
    published: Annotated[str, typer.Argument(metavar="PUBLISHED")],
    settings: flags.Settings,
    queries: int | None = option(None, "N", "Compare N random COUNT queries on both tables."),
    sum_of: str | None = option(None, "COLUMN", "With --queries: also compare sums of a column.", "--sum"),
    query_file: Path | None = option(None, "FILE", "Compare the queries in a file: TOML, or one query per line."),
    target: str | None = option(
        None, "COLUMN", "Train a model that predicts a column; needs the optional dependency ml."
    ),
    feature: list[str] | None = option(None, "COLUMNS", "With --target: features. [default: quasi-identifiers]"),
    model: str = option("linear", "NAME", "With --target: linear or forest.", complete=words(("linear", "forest"))),
    distributions: bool = switch("--distributions", "Compare distributions of columns and pairs of columns."),
    as_json: flags.AsJson = False,
) -> None:
    """Measure information loss, overall and by column.

    ORIGINAL is the original table, PUBLISHED the release with its rows in the same order.

    --queries, --query-file, --target and --distributions also measure the utility of the release.
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
