"""Where a table is grouped: in memory, in blocks on disk, or on a cluster."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from coterie.arrays import AnyTable
from coterie.errors import ConfigError, CoterieError, Problem
from coterie.settings.memory import default_memory, memory_bytes
from coterie.wording import bytes_text

if TYPE_CHECKING:
    from coterie.engines.job import BlocksJob
    from coterie.releases.release import Release
    from coterie.settings.config import Config

# Each of these modules has `anonymize_file(data, job)`.
HOMES = {"blocks": "coterie.engines.blocks.run", "spark": "coterie.engines.spark.job"}
# Files below this are not looked at: they fit.
SMALL = 4 * 2**20
# Bytes that a cell takes while a table is read, encoded, published and verified in memory.
CELL_BYTES = 16


class EngineChoice(NamedTuple):
    """The engine, and why."""

    engine: Literal["memory", "blocks", "spark"]
    why: str = ""
    """for the user, where it was chosen for them"""


def choose_engine(
    data: AnyTable,
    config: Config,
    *,
    output: object,
    masked: bool = False,
) -> EngineChoice:
    """The engine that the configuration asks for or, for `auto`, the one that fits the memory.

    Args:
        data: A frame or a path.
        config: Says which engine and how much memory.
        output: Where the release goes, if that is known. Without it the release has to be held in memory.
        masked: Whether the user gave masks of rows or cells to suppress.

    Raises:
        ConfigError: The engine that was asked for cannot do this; all problems at once.
    """
    from coterie.files.databases.place import place_of

    is_path = isinstance(data, str | os.PathLike) and os.fspath(data) != "-" and place_of(data) is None
    into_file = output is not None and place_of(output) is None
    if config.engine in ("blocks", "spark"):
        problems = []
        if not is_path:
            problems.append(Problem("engine", f"{config.engine} reads files; give the path of one, or engine memory"))
        if not into_file:
            text = f"{config.engine} writes the release as it goes; say where by output, or use engine memory"
            problems.append(Problem("engine", text))
        if masked:
            text = f"masks of rows and cells are for tables in memory; {config.engine} cannot take them"
            problems.append(Problem("engine", text))
        if problems:
            raise ConfigError(problems)
        return EngineChoice(config.engine)
    if config.engine == "memory" or masked or not is_path or not into_file:
        return EngineChoice("memory")
    return _by_size(Path(data), config)


def _by_size(path: Path, config: Config) -> EngineChoice:
    from coterie.engines.request import check_blocks

    memory = default_memory() if config.memory is None else memory_bytes(config.memory)
    wanted = memory_needed(path, config)
    if wanted is None or (wanted <= memory and not path.is_dir()):
        return EngineChoice("memory")
    why = f"about {bytes_text(wanted)} would be needed in memory, and {bytes_text(memory)} may be used"
    try:
        check_blocks(config)
    except ConfigError:
        # Better to try than to refuse what may well work.
        return EngineChoice("memory", f"engine memory, since this cannot be done in blocks; {why}.")
    if path.is_dir():
        return EngineChoice("blocks", "engine blocks, since the input is a folder.")
    return EngineChoice("blocks", f"engine blocks: {why}.")


def memory_needed(path: Path, config: Config) -> int | None:
    """About how many bytes it takes to anonymize a file in memory; None if it is small or cannot be told."""
    from coterie.engines.plan import PROGRAM_BYTES, bytes_per_row
    from coterie.files.batches import look_at

    try:
        if path.is_file() and path.stat().st_size < SMALL:
            return None
        found = look_at(path, config)
    except (CoterieError, OSError):
        return None  # whoever reads it will say what is wrong
    if found is None or found.rows < config.k:  # a k beyond the table is refused, wherever it is read
        return None
    return int(PROGRAM_BYTES + found.rows * (bytes_per_row(config) + CELL_BYTES * found.columns))


def checked_on_disk(data: AnyTable, config: Config) -> bool:
    """Whether a published table is better checked by DuckDB: a file for which that is asked for, or a large one."""
    if config.engine == "memory" or not isinstance(data, str | os.PathLike):
        return False
    if config.engine == "blocks":
        return Path(data).exists()
    plain = config.replace(engine="auto", method="auto", entity=None, time_limit=None)
    # Any output will do: nothing is written.
    return choose_engine(data, plain, output="-").engine == "blocks"


def run_stored(engine: str, data: str | os.PathLike[str], job: BlocksJob) -> Release:
    """Anonymize a file by an engine that leaves the release on disk."""
    home = importlib.import_module(HOMES[engine])
    release: Release = home.anonymize_file(data, job)
    return release
