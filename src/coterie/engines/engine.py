"""The interface of the engines: memory, blocks and Spark are three folders with the same structure.

Each folder has a module for each step: `source` (reading the table), `count` (distinct values), `plan` (cuts), `group`,
`write`, `verify`, and `run`, which is the engine. In memory a table is counted as it is encoded, is one block, and is
written by its release: `count`, `plan` and `write` are for tables that are elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from coterie.arrays import AnyFlags, AnyTable
from coterie.engines.plan import rows_in_memory
from coterie.errors import Cancelled, Problem
from coterie.settings.memory import SPARK_MEMORY, default_memory, memory_bytes
from coterie.table.orders import with_orders

if TYPE_CHECKING:
    from coterie.engines.spark.session import Cluster
    from coterie.files.batches import TableFile
    from coterie.methods._method import Progress
    from coterie.releases.release import Release
    from coterie.settings.config import Config

# Blocks that are grouped at the same time, at most. Each may then take this part of the memory. It must not follow
# from the number of threads, since the size of blocks decides the release.
AT_ONCE = 4


class Engine(Protocol):
    """One way to make a release: the module `run` of its folder. `choose` finds it by name."""

    def problems(self, data: AnyTable, job: Job) -> list[Problem]:
        """Return what it cannot do of a job, each with an alternative, before reading anything."""

    def anonymize(self, data: AnyTable, job: Job) -> Release:
        """Read, group, publish, verify, measure and, if the job has an output, write a table."""


def never() -> bool:
    """Return False: nobody cancels the run."""
    return False


@dataclass(frozen=True)
class Job:
    """A request for a run, with the sizes that follow from the configuration and the machine."""

    config: Config
    output: str | os.PathLike[str] | None = None
    resume: bool = False
    force: bool = False
    progress: Progress | None = None
    cancelled: Callable[[], bool] = never
    cluster: Cluster | None = None
    """the cluster, for the Spark engine"""
    mapping: str | os.PathLike[str] | None = None
    """the path of the mapping, if requested"""
    suppress_rows: AnyFlags = None
    """row → whether the user suppresses it"""
    suppress_cells: AnyFlags = None
    """quasi-identifier → row → whether the user suppresses the cell"""

    @cached_property
    def memory(self) -> int:
        """The memory limit in bytes."""
        usual = SPARK_MEMORY if self.config.engine == "spark" else default_memory()
        return usual if self.config.memory is None else memory_bytes(self.config.memory)

    @cached_property
    def block_rows(self) -> int:
        """The maximum number of rows of a block."""
        config = self.config
        return max(config.block_rows or rows_in_memory(self.memory, config) // AT_ONCE, 4 * config.k)

    @property
    def place(self) -> str | os.PathLike[str]:
        """The output path, for engines that require one."""
        assert self.output is not None
        return self.output

    def settled(self, engine: Literal["blocks", "spark"]) -> Config:
        """Return the configuration with machine-dependent settings filled in, to give the same release elsewhere."""
        return self.config.replace(engine=engine, block_rows=self.block_rows)

    def ordered_by(self, table: TableFile) -> Job:
        """Return the job with the order of ordered columns of a file, taken from its first rows."""
        first = next(iter(table.batches(self.config.quasi)), None)
        return self if first is None else replace(self, config=with_orders(self.config, first))

    def checkpoint(self) -> None:
        """Raise Cancelled if the user stopped the run."""
        if self.cancelled():
            raise Cancelled("The run was stopped.", hint="Finished blocks are kept: continue with resume=True.")
