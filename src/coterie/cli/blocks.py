"""`coterie anonymize` in blocks: files that do not fit in memory, and clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from coterie.cli.show import ProgressBar, Voice
from coterie.errors import ConfigError, Problem
from coterie.files.destinations import check_apart

if TYPE_CHECKING:
    from pathlib import Path

    from coterie.engines.spark.session import Cluster
    from coterie.releases.release import Release
    from coterie.settings.config import Config


class Wanted(NamedTuple):
    """The outputs to write."""

    output: str | None
    mapping: Path | None = None
    """the path of the mapping"""
    reports: tuple[Path, ...] = ()
    variant: str = "internal"
    """the audience of the reports"""


def ran_in_blocks(
    data: str,
    config: Config,
    wanted: Wanted,
    *,
    force: bool,
    resume: bool,
    quiet: bool,
    as_json: bool = False,
    cluster: Cluster | None = None,
) -> Release | None:
    """Anonymize a file in blocks if its configuration or size requires it; return None if memory suffices.

    Args:
        data: The file.
        config: The settings.
        wanted: The outputs.
        force: Overwrite existing files.
        resume: Continue an interrupted run.
        quiet: Print nothing.
        as_json: Print the summary as JSON.
        cluster: The Spark cluster, if given.
    """
    from coterie.engines.choose import choose_engine, run_job
    from coterie.engines.engine import Job

    output, mapping, reports, variant = wanted
    job = Job(config, output, resume=resume, force=force, cluster=cluster, mapping=mapping)
    choice = choose_engine(data, job)
    voice = Voice(quiet=quiet or as_json, output=output)
    if choice.why:
        Voice(quiet=quiet).note(f"note: {choice.why}")
    if choice.engine == "memory":
        return None
    assert output is not None
    from coterie.cli.run import mention_compiling, print_summary, write_reports

    if reports and output == "-":
        text = "is made from the written release, which cannot be read again from standard output; name a file"
        raise ConfigError([Problem("report", text)])
    check_apart(data, config, output=output, mapping=mapping, reports=reports)

    mention_compiling(quiet, [config.method])
    with ProgressBar(quiet=quiet) as progress:
        release = run_job(data, replace(job, progress=progress), choice)
    show_stored(release, voice, output)
    if mapping is not None:
        voice.say(f"Wrote the mapping {mapping}. It contains original values: keep it secret.")
    write_reports(release, reports, voice, variant=variant, force=force, quiet=quiet)
    if as_json:
        print_summary(release, output=output, reports=reports, mapping=mapping)
    return release


def show_stored(release: Release, voice: Voice, output: str) -> None:
    """Print the summary of a release in a file, and its path."""
    from coterie.cli.run import show_release
    from coterie.files.output import provenance_path
    from coterie.files.rows_file import rows_path

    config = release.config
    show_release(
        release,
        voice,
        engine=f"{config.engine}, {release.blocks:,} blocks of at most about {config.block_rows:,} rows",
    )
    if output != "-":
        voice.say(f"Wrote {output} and {provenance_path(output)}.")
        if config.row_order == "shuffle":
            voice.say(f"Wrote the order of rows to {rows_path(output)}. It is internal.")
