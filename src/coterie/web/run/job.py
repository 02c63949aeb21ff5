"""One run in its worker: the ordinary API, from the run's own coterie.toml to the downloads.

The release is byte for byte the one that `coterie anonymize TABLE -c coterie.toml` makes. A run is finished when its
release is verified and written; the bound, risk, reports and charts, which can take longer than the run, follow later.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coterie.api.anonymize import anonymize
from coterie.errors import ConfigError, Problem
from coterie.files import tables
from coterie.files.output import whole_file
from coterie.methods._method import Progress
from coterie.reporting.plain import finite, measures_values, verification_values
from coterie.settings.config import Config
from coterie.web.configuration.view import release_name
from coterie.web.data.input_state import CHANGED
from coterie.web.parquet_file import GROUP_ROWS, write_parquet
from coterie.web.project import read_json, write_json
from coterie.web.results.jobs import keep, load_release
from coterie.web.run.runs import COMPILING, RESULT

if TYPE_CHECKING:
    from coterie.releases.release import Release


def run_job(job: dict[str, Any], folder: Path, tell: Progress) -> None:
    """Make the release of a run's folder, with what is needed to show it."""
    config = Config.from_toml(folder / "coterie.toml")
    table = folder / release_name(read_json(Path(job["project"]) / "facts.json").get("format", ""))
    _check_memory(job["source"], config, table)
    release = anonymize(job["source"], config=config, progress=_compiling(tell))
    if job.get("sha256") and release.source.sha256 != job["sha256"]:
        raise ConfigError([Problem("", f"{CHANGED}; read it again under Data")])
    tell("write", 0, 0)
    release.write(table)
    # Reports show the name that people know, not that of the stored upload.
    held = release.held
    named = replace(held.source, path=Path(job["name"]), name=job["name"])
    release = replace(release, place=replace(held, source=named))
    _write_for_pages(release, folder)
    write_json(folder / RESULT, {**_result(release), "release": table.name})


def late_job(job: dict[str, Any], folder: Path, tell: Progress) -> None:
    """Compute from a finished run what takes longer than the release: mapping, risk, bound, reports, charts."""
    run = folder.parent
    tell("reading the release", 0, 0)
    release = load_release(run)
    tell("mapping", 0, 0)
    _write_mapping(release, run)
    tell("risk", 0, 0)
    # The bound is computed in full, even where a report alone would use a sample.
    _, measures = release.risk, finite(measures_values(release.measures))
    tell("report", 0, 0)
    _write_reports(release, run)
    write_json(run / RESULT, {**read_json(run / RESULT), "measures": measures})
    tell("charts", 0, 0)
    keep(release, run)


def _check_memory(source: str, config: Config, output: Path) -> None:
    """Refuse what the command line would make in blocks: pages and reports need a table in memory."""
    from coterie.engines.choose import choose_engine
    from coterie.engines.engine import Job

    choice = choose_engine(source, Job(config, output))
    if choice.engine != "memory":
        text = f"runs of the web app keep the table in memory, but this one would use {choice.engine}"
        hint = 'Use the command line (coterie anonymize), or write engine = "memory" into the configuration.'
        raise ConfigError([Problem("engine", text)], hint=hint)


def _compiling(tell: Progress) -> Progress:
    """Say that this run compiles the kernels, since it then takes longer."""
    from coterie.kernels.compiling import STEP

    def told(step: str, done: int, total: int) -> None:
        tell(COMPILING if step == STEP else step, done, total)

    return told


def _write_mapping(release: Release, folder: Path) -> None:
    from coterie.publishing.mapping import mapping_table

    tables.write(mapping_table(release), folder / "mapping.csv", like=release.source, formulas=release.config.formulas)


def _write_reports(release: Release, folder: Path) -> None:
    from coterie.reporting.report import report_html, report_json, report_of

    internal, external = report_of(release), report_of(release, variant="external")
    texts = {
        "report.html": report_html(internal),
        "report.json": report_json(internal),
        "report-external.html": report_html(external),
    }
    for name, text in texts.items():
        with whole_file(folder / name, force=True) as sink:
            sink.write(text.encode())


def _write_for_pages(release: Release, folder: Path) -> None:
    """Write the data for the results pages to the private folder."""
    # The page shows rows next to their originals, even if they are published in a secret order.
    order = np.argsort(release.published.kept, kind="stable")
    shown = release.arrow.take(pa.array(order))
    write_parquet(shown.to_batches(max_chunksize=GROUP_ROWS), folder / "published.parquet")
    np.save(folder / "kept.npy", np.asarray(release.published.kept[order], dtype=np.int64))
    np.save(folder / "groups.npy", np.asarray(release.groups, dtype=np.int32))
    with whole_file(folder / "release.pickle", force=True) as sink:
        pickle.dump(release, sink, protocol=5)


def _result(release: Release) -> dict[str, Any]:
    """Return the figures of a release that are known at once: counts and shares, no data values."""
    return {
        "method": release.config.method,
        "k": release.config.k,
        "seed": release.config.seed,
        "privacy": [str(model.title) for model in release.config.privacy],
        "quasi": list(release.config.quasi),
        "options": {name: str(value) for name, value in release.config.options.items()},
        "rows": release.original_rows,
        "published_rows": release.published_rows,
        "phases": dict(release.seconds),
        "notes": list(release.notes),
        "passed": release.verification.passed,
        "verification": verification_values(release.verification),
        "measures": finite(measures_values(release.measures, late=False)),
        "input_sha256": release.source.sha256,
    }
