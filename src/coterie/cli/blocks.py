"""`coterie anonymize` where the release is made in blocks: files that do not fit the memory, and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.cli.show import ProgressBar, Voice
from coterie.errors import ConfigError, Problem

if TYPE_CHECKING:
    from pathlib import Path

    from coterie.engines.spark.session import Cluster
    from coterie.releases.stored import StoredRelease
    from coterie.settings.config import Config


def ran_in_blocks(
    data: str,
    config: Config,
    *,
    output: str | None,
    mapping: Path | None = None,
    report: bool = False,
    force: bool,
    resume: bool,
    quiet: bool,
    as_json: bool = False,
    cluster: Cluster | None = None,
) -> StoredRelease | None:
    """Anonymize a file in blocks if the configuration or its size asks for it; None if it is a case for memory.

    Args:
        data: The file.
        config: The settings.
        output: Where the release goes.
        mapping: Where to write what each group is published as, if that is wanted.
        report: Whether a report was asked for, which blocks do not have.
        force: Overwrite what is there.
        resume: Go on with a run that was stopped.
        quiet: Say nothing.
        as_json: Print the summary as JSON.
        cluster: Where Spark runs, if that was said.
    """
    from coterie.engines.choose import choose_engine, run_stored

    choice = choose_engine(data, config, output=output)
    voice = Voice(quiet=quiet or as_json, output=output)
    if choice.why:
        Voice(quiet=quiet).note(f"note: {choice.why}")
    if choice.engine == "memory":
        return None
    assert output is not None
    if report:
        text = f"is made from a table in memory; leave it out, or give --engine memory (this would be {choice.engine})"
        raise ConfigError([Problem("report", text)])
    from coterie.cli.run import mention_compiling, print_summary
    from coterie.engines.job import make_job

    mention_compiling(quiet, [config.method])
    with ProgressBar(quiet=quiet) as progress:
        job = make_job(config, output, resume=resume, force=force, progress=progress, cluster=cluster, mapping=mapping)
        release = run_stored(choice.engine, data, job)
    show_stored(release, voice)
    if mapping is not None:
        voice.say(f"Wrote the mapping {mapping}. It holds original values.")
    if as_json:
        print_summary(release, output=output, mapping=mapping)
    return release


def show_stored(release: StoredRelease, voice: Voice) -> None:
    """The summary of a release in a file, and where it is."""
    from coterie.cli.run import show_release
    from coterie.files.output import provenance_path

    config = release.config
    show_release(
        release,
        voice,
        engine=f"{config.engine}, {release.blocks:,} blocks of at most about {config.block_rows:,} rows",
    )
    if str(release.path) != "-":
        voice.say(f"Wrote {release.path} and {provenance_path(release.path)}.")
