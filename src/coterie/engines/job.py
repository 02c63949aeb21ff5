"""What a run in blocks is asked to do, with the sizes that follow from the configuration and the machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coterie.engines.plan import rows_in_memory
from coterie.errors import Cancelled
from coterie.settings.memory import SPARK_MEMORY, default_memory, memory_bytes
from coterie.table.orders import with_orders

if TYPE_CHECKING:
    from coterie.engines.spark.session import Cluster
    from coterie.files.batches import TableFile
    from coterie.methods._method import Progress
    from coterie.settings.config import Config

# Blocks that are grouped at the same time, at most. Each may then take this part of the memory. It must not follow
# from the number of threads, since the size of blocks decides the release.
AT_ONCE = 4


def _never() -> bool:
    return False


@dataclass(frozen=True)
class BlocksJob:
    """What a run out of core is asked to do."""

    config: Config
    output: str | os.PathLike[str]
    memory: int
    """bytes"""
    block_rows: int
    resume: bool = False
    force: bool = False
    progress: Progress | None = None
    cancelled: Callable[[], bool] = _never
    cluster: Cluster | None = None
    """where Spark runs, for that engine"""
    mapping: str | os.PathLike[str] | None = None
    """where to write what each group is published as, if that is wanted"""

    def checkpoint(self) -> None:
        """Raise Cancelled if the user stopped the run."""
        if self.cancelled():
            raise Cancelled("The run was stopped.", hint="Finished blocks are kept: continue with resume=True.")


def with_order_of(job: BlocksJob, table: TableFile) -> BlocksJob:
    """The job with the order that columns of a file bring along, told from its first rows."""
    first = next(iter(table.batches(job.config.quasi)), None)
    return job if first is None else replace(job, config=with_orders(job.config, first))


def make_job(
    config: Config,
    output: str | os.PathLike[str],
    *,
    resume: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    cluster: Cluster | None = None,
    mapping: str | os.PathLike[str] | None = None,
) -> BlocksJob:
    """A job with the sizes that follow from the configuration and the machine."""
    usual = SPARK_MEMORY if config.engine == "spark" else default_memory()
    memory = usual if config.memory is None else memory_bytes(config.memory)
    least = 4 * config.k
    rows = config.block_rows or max(rows_in_memory(memory, config) // AT_ONCE, least)
    rows = max(rows, least)
    return BlocksJob(config, output, memory, rows, resume, force, progress, cancelled or _never, cluster, mapping)
