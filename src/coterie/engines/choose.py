"""Choose the engine: memory, blocks on disk, or a cluster."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from coterie.arrays import AnyTable
from coterie.engines.engine import Engine, Job
from coterie.engines.request import into_file, is_file
from coterie.errors import CoterieError, refuse
from coterie.settings.memory import default_memory, memory_bytes
from coterie.wording import bytes_text

if TYPE_CHECKING:
    from coterie.engines.blocks import run as blocks
    from coterie.engines.memory import run as memory
    from coterie.engines.spark import run as spark
    from coterie.releases.release import Release
    from coterie.settings.config import Config

    KNOWN: tuple[Engine, ...] = (memory, blocks, spark)  # the type checker verifies that these follow the protocol

# Smaller files are not examined: they fit into memory.
SMALL = 4 * 2**20
# Bytes that a cell takes while a table is read, encoded, published and verified in memory.
CELL_BYTES = 16


class EngineChoice(NamedTuple):
    """The engine, and the reason for it."""

    engine: Literal["memory", "blocks", "spark"]
    why: str = ""
    """the reason, if it was chosen automatically"""


def find_engine(name: str) -> Engine:
    """Return the engine with this name, loading no other."""
    return cast("Engine", importlib.import_module(f"coterie.engines.{name}.run"))


def run_job(data: AnyTable, job: Job, choice: EngineChoice | None = None) -> Release:
    """Make a release with the engine that fits, or a given one."""
    choice = choice or choose_engine(data, job)
    return find_engine(choice.engine).anonymize(data, job)


def choose_engine(data: AnyTable, job: Job) -> EngineChoice:
    """Return the requested engine or, for `auto`, the one that fits in memory.

    Args:
        data: A frame or a path.
        job: The job. Without an output the release must stay in memory.

    Raises:
        ConfigError: The requested engine cannot do this; reports all problems at once.
    """
    choice = EngineChoice(job.config.engine) if job.config.engine != "auto" else _fitting(data, job)
    refuse(find_engine(choice.engine).problems(data, job))
    return choice


def _fitting(data: AnyTable, job: Job) -> EngineChoice:
    if not is_file(data) or not into_file(job.output):
        return EngineChoice("memory")
    path, config = Path(data), job.config
    memory = default_memory() if config.memory is None else memory_bytes(config.memory)
    wanted = memory_needed(path, config)
    if wanted is None or (wanted <= memory and not path.is_dir()):
        return EngineChoice("memory")
    why = f"about {bytes_text(wanted)} of memory would be needed, and the limit is {bytes_text(memory)}"
    if find_engine("blocks").problems(data, job):
        # Trying is better than refusing a run that may work.
        return EngineChoice("memory", f"engine memory, because this is not possible in blocks; {why}.")
    if path.is_dir():
        return EngineChoice("blocks", "engine blocks, because the input is a folder.")
    return EngineChoice("blocks", f"engine blocks: {why}.")


def memory_needed(path: Path, config: Config) -> int | None:
    """Estimate the bytes needed to anonymize a file in memory; None if it is small or unknown."""
    from coterie.engines.plan import PROGRAM_BYTES, bytes_per_row
    from coterie.files.batches import look_at

    try:
        if path.is_file() and path.stat().st_size < SMALL:
            return None
        found = look_at(path, config)
    except (CoterieError, OSError):
        return None  # reading it will report the error
    if found is None or found.rows < config.k:  # a k beyond the table is refused, wherever it is read
        return None
    return int(PROGRAM_BYTES + found.rows * (bytes_per_row(config) + CELL_BYTES * found.columns))


def checked_on_disk(data: AnyTable, config: Config) -> bool:
    """Return whether to verify a published table with DuckDB: on request, or if the file is large."""
    if config.engine == "memory" or not isinstance(data, str | os.PathLike):
        return False
    if config.engine == "blocks":
        return Path(data).exists()
    plain = config.replace(engine="auto", method="auto", entity=None, time_limit=None)
    # Any output works, since nothing is written.
    return choose_engine(data, Job(plain, "-")).engine == "blocks"
