"""The work and output of `anonymize` and `verify`, without their flags."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from coterie.arrays import AnyTable
from coterie.cli.show import COMPILE, ProgressBar, Voice
from coterie.errors import ConfigError, Problem, without_passwords
from coterie.files.destinations import AnyPath, check_apart, check_outputs
from coterie.files.output import provenance_path
from coterie.files.rows_file import rows_path
from coterie.reporting.plain import finite, measures_values, verification_values
from coterie.wording import count_of

if TYPE_CHECKING:
    from pathlib import Path

    from coterie.api.anonymize import Release
    from coterie.engines.engine import Job
    from coterie.measures.measures import Measures
    from coterie.settings.config import Config
    from coterie.verdict.question import Verdict
    from coterie.verification.verify import Verification

STYLES = {"pass": "green", "warn": "yellow", "fail": "red"}
COMPILING = "compiling (once after installation; some seconds) …"  # the progress bar shows how far


def release_of(data: AnyTable, config: Config, *, quiet: bool, publishes: bool = True) -> Release:
    """Make a release with a progress bar, and mention if this run compiles the kernels.

    One that is only inspected and not published need not have a role for every column.
    """
    from coterie.api.anonymize import anonymize
    from coterie.engines.memory.run import make_release
    from coterie.engines.memory.source import prepare
    from coterie.engines.phases import Phases
    from coterie.engines.steps import start_run

    with ProgressBar(quiet=quiet) as progress:
        said: list[str] = []

        def told(step: str, done: int, total: int) -> None:
            if step == COMPILE and not said:
                said.append(step)
                Voice(quiet=quiet).note(COMPILING)
            progress(step, done, total)

        if publishes:
            return anonymize(data, config=config, progress=told)
        phases = Phases(told)
        prepared = prepare(data, config, phases=phases, publishes=False)
        return make_release(prepared, config, start_run(config, told), phases=phases)


def mention_compiling(quiet: bool, methods: Sequence[str]) -> None:
    """Say once that this run compiles the kernels, instead of logging each one."""
    import logging

    from coterie.kernels.compiling import is_needed
    from coterie.methods import all_methods

    logging.getLogger("coterie.kernels").setLevel(logging.ERROR)
    if any(map(is_needed, all_methods() if "all" in methods else methods)):
        Voice(quiet=quiet).note(COMPILING)


def run_and_show(
    data: str, job: Job, *, reports: Sequence[Path], variant: str, dry_run: bool, quiet: bool, as_json: bool
) -> bool:
    """Anonymize a file, write the requested files unless it is a dry run, and print a summary.

    Returns:
        Whether the verdict on the release is `pass`.
    """
    config, output = job.config, None if dry_run else str(job.output)
    mapping = None if dry_run else job.mapping
    voice = Voice(quiet=quiet or as_json, output=output)
    release = None if dry_run or config.engine == "memory" else _made_in_blocks(data, job, reports, quiet=quiet)
    stored = release is not None
    if release is None:
        if job.resume:
            raise ConfigError([Problem("resume", "a run in memory cannot be resumed; use --engine blocks")])
        check_outputs(data, config, output=job.output, mapping=job.mapping, reports=reports, force=job.force)
        release = release_of(data, config, quiet=quiet)
        if output is not None:
            release.write(output, force=job.force)
    show_release(release, voice, blocks=stored)
    if output is None:
        voice.say("Dry run: nothing was written.")
    elif output != "-":
        voice.say(f"Wrote {without_passwords(output)} and {provenance_path(output)}.")
        if release.config.row_order == "shuffle":
            voice.say(f"Wrote the order of rows to {rows_path(output)}. It is internal.")
    if mapping is not None:
        if not stored:
            from coterie.publishing.mapping import write_mapping

            write_mapping(release, mapping, force=job.force)
        voice.say(f"Wrote the mapping {mapping}. It contains original values: keep it secret.")
    for path in reports:
        with ProgressBar(quiet=quiet) as progress:
            progress("report", 0, 0)
            release.report(path, variant=variant, force=job.force)
        voice.say(f"Wrote the {variant} report {path}.")
    if as_json:
        print_summary(release, output=output, reports=reports, mapping=mapping)
    return release.verdict.state == "pass"


def _made_in_blocks(data: str, job: Job, reports: Sequence[Path], *, quiet: bool) -> Release | None:
    """Anonymize a file in blocks if its configuration or size requires it; None if memory suffices."""
    from coterie.engines.choose import choose_engine, run_job

    choice = choose_engine(data, job)
    if choice.why:
        Voice(quiet=quiet).note(f"note: {choice.why}")
    if choice.engine == "memory":
        return None
    if reports and job.output == "-":
        text = "is made from the written release, which cannot be read again from standard output; name a file"
        raise ConfigError([Problem("report", text)])
    check_apart(data, job.config, output=job.output, mapping=job.mapping, reports=reports)
    mention_compiling(quiet, [job.config.method])
    with ProgressBar(quiet=quiet) as progress:
        return run_job(data, replace(job, progress=progress), choice)


def show_release(release: Release, voice: Voice, *, blocks: bool = False) -> None:
    """Print the summary of a release: notable settings, sizes, loss, time and notes."""
    found, measures, config = release.verification, release.measures, release.config
    cut = count_of(release.blocks, "block")
    engine = f"{config.engine}, {cut} of at most about {config.block_rows:,} rows" if blocks else ""
    voice.summary(
        [
            ("method", f"{config.method}, k = {config.k}, seed = {config.seed}"),
            *([("engine", engine)] if engine else []),
            ("rows", f"{found.rows:,} published, {int(measures['suppressed']):,} suppressed"),
            ("groups", f"{found.groups:,} of {found.k:,} to {found.largest:,} rows, {found.average:,.1f} on average"),
            ("loss", f"GCP {measures['gcp']:.4f} (0: no information lost, 1: all of it)"),
        ]
    )
    voice.say()
    show_attributes(measures, voice)
    voice.say()
    show_verdict(release.verdict, voice)
    voice.say()
    phases = ", ".join(f"{phase} {took:.2f}" for phase, took in release.seconds.items())
    voice.say(f"{sum(release.seconds.values()):.1f} s: {phases}")
    for note in release.notes:
        voice.say(f"note: {note}")


def print_summary(release: Release, *, output: str | None, reports: Sequence[Path], mapping: AnyPath | None) -> None:
    """Print the summary of a release and its files as JSON on standard output."""
    config = release.config
    summary = {
        "method": config.method,
        "k": config.k,
        "seed": config.seed,
        "engine": "memory" if config.engine == "auto" else config.engine,
        "verdict": release.verdict.to_dict(),
        "verification": verification_values(release.verification),
        "measures": measures_values(release.measures, late=False),
        "seconds": dict(release.seconds),
        "notes": list(release.notes),
        "output": None if output is None else without_passwords(output),
        "provenance": None if output is None else str(provenance_path(output)),
        "reports": [str(path) for path in reports],
        "mapping": None if mapping is None else str(mapping),
    }
    typer.echo(json.dumps(finite(summary), indent=2))


def show_attributes(measures: Measures, voice: Voice) -> None:
    """Print the loss per quasi-identifier, and what cells leave open if some are sets: NCP counts any set as `*`."""
    head, every = ["column", "weight", "loss", "changed"], measures.attributes.values()
    rows = [[each.name, f"{each.weight:g}", f"{each.ncp:.4f}", f"{100 * each.changed:.1f} %"] for each in every]
    if any(each.left_open != each.ncp for each in every):
        head.append("set_loss")
        rows = [[*row, f"{each.set_loss:.4f}"] for row, each in zip(rows, every, strict=True)]
    voice.table(head, rows, numbers=head[1:])


def show_verdict(verdict: Verdict, voice: Voice) -> None:
    """Print the state of a release and, for each question, its state, evidence and advice."""
    voice.say(f"verdict: {verdict.state.upper()}. {verdict.headline}.", style=STYLES[verdict.state])
    wide = max(map(len, verdict.questions))
    for name, question in verdict.questions.items():
        lines = [*question.evidence, *(f"→ {advice}" for advice in question.advice)]
        for at, line in enumerate(lines):
            head = (name, question.state) if at == 0 else ("", "")
            voice.say(f"  {head[0]:<{wide}}  {head[1]:<4}  {line}")


def show_verification(
    data: str, config: Config, *, asked: bool, as_json: bool, quiet: bool, strict: bool = False
) -> bool:
    """Verify a published file, print the result and return whether the guarantees hold; if `strict`, the whole verdict.

    Unless k was `asked` for, it is only measured.
    """
    from coterie.api.verdict import verify_and_judge
    from coterie.engines.request import advice

    found, verdict = verify_and_judge(data, config, k=config.k if asked else None)
    passed = found.passed and (not strict or verdict.state == "pass")
    voice = Voice(quiet=quiet)
    if as_json:
        typer.echo(json.dumps(verification_values(found) | {"verdict": finite(verdict.to_dict())}, indent=2))
        return passed
    voice.summary(
        [
            ("rows", f"{found.rows:,}"),
            ("groups", f"{found.groups:,} by {', '.join(found.quasi)}"),
            ("sizes", f"smallest {found.k:,}, average {found.average:,.1f}, largest {found.largest:,}"),
            ("missing", f"{found.missing_cells:,} quasi-identifier cells (a separate value)"),
            ("suppressed", f"{found.suppressed:,} rows"),
        ]
    )
    show_measured(found, voice)
    show_verdict(verdict, voice)
    if not found.checks:
        voice.say(f"The table is {found.k}-anonymous. Use -k or a configuration to check a guarantee.")
    elif not found.passed and (told := advice(config)):
        voice.say(f"note: {told}")
    return passed


def show_measured(found: Verification, voice: Voice) -> None:
    """Print the figures of the sensitive attributes in their worst groups."""
    if not found.measured:
        return
    columns = list(dict.fromkeys(each.column for each in found.measured))
    names = list(dict.fromkeys(each.name for each in found.measured))
    values = {(each.column, each.name): f"{each.value:.4g}" for each in found.measured}
    rows = [[column, *(values.get((column, name), "") for name in names)] for column in columns]
    voice.say()
    voice.table(["sensitive attribute: worst group", *names], rows, numbers=names)
    voice.say()
