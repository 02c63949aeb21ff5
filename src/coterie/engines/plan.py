"""A plan: how a table is cut into blocks, and everything needed to group and publish one of them anywhere.

It is made before anything is published, is small, and can be sent to other processes and machines. The release
depends only on the plan and the rows: not on the engine, the number of threads or the order of the blocks.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Int32, Int64
from coterie.engines.cuts import CutTree
from coterie.errors import ConfigError, Problem
from coterie.settings.registry import FIELDS
from coterie.table.sets import PRICED_VALUES

if TYPE_CHECKING:
    from coterie.engines.suppressed import RemainingRows
    from coterie.settings.config import Config
    from coterie.table.codebook import Codebook


# Memory of the program before any row: Python, NumPy, Numba with its kernels, Arrow and DuckDB.
PROGRAM_BYTES = 320 * 2**20
# The minimum memory, and the minimum number of rows of a block.
LEAST_BYTES = 512 * 2**20
LEAST_ROWS = 4096
# Bytes that `compact` holds per row at the most, without what grows with k and the number of attributes.
ROW_BYTES = 300
# Bytes per row for each value that `cost = "set"` prices: measured 20 on 100,000 rows.
PRICED_BYTES = 24

# Settings that do not affect the release, or only through other parts of the plan.
IDLE = tuple(name for name, setting in FIELDS.items() if setting.decides != "release")


@dataclass(frozen=True, eq=False)
class Plan:
    """The blocks of a table."""

    book: Codebook
    tree: CutTree
    block_of_leaf: Int32
    sizes: Int64
    """block → rows, counted over the whole table"""
    most: int
    """the requested maximum number of rows of a block"""
    remaining: RemainingRows | None = None
    """what groups are compared with, if methods suppress rows; derived from everything else"""

    @classmethod
    def whole(cls, book: Codebook) -> Plan:
        """Return a plan with the table in one block."""
        return cls(book, CutTree.single(), np.zeros(1, dtype=np.int32), np.array([book.rows]), book.rows)

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self.sizes)

    def block_of(self, codes: Int32, rows: Int64) -> Int32:
        """Return row → block, from the rows' codes and their numbers in the table."""
        return self.block_of_leaf[self.tree.leaf_of(codes, rows)]

    def seed(self, block: int) -> int | tuple[int, ...]:
        """Return a block's random seed. A table in one block is grouped as it would be in memory."""
        seed = self.book.config.seed
        return seed if self.blocks == 1 else (seed, block)

    @cached_property
    def sha256(self) -> str:
        """The hash of the plan: settings, values and cuts."""
        digest = hashlib.sha256(settings_text(self.book.config).encode())
        for domain, lookup in zip(
            (*self.book.domains, *self.book.sensitive),
            (*self.book.lookups, *self.book.sensitive_lookups),
            strict=True,
        ):
            digest.update(f"{domain.name}:{domain.size}:{domain.missing}:{len(lookup.values)};".encode())
            digest.update(lookup.codes.tobytes())
        for array in (self.tree.attribute, self.tree.cut, self.tree.left, self.tree.leaf, self.block_of_leaf):
            digest.update(array.tobytes())
        digest.update(self.sizes.tobytes())
        digest.update(self.book.mask.sha256.encode())
        return digest.hexdigest()


def settings_text(config: Config) -> str:
    """Return the settings that determine a release, as a canonical text."""
    values = {name: value for name, value in config.to_dict().items() if name not in IDLE}
    secret = config.method_options().secrets
    values["options"] = {
        name: hashlib.sha256(str(value).encode()).hexdigest() if name in secret else value
        for name, value in values["options"].items()
    }
    return json.dumps(values, sort_keys=True, default=str)


def rows_in_memory(memory: int, config: Config) -> int:
    """Return how many rows a block may have for the whole process to stay within this memory, in bytes."""
    if memory < LEAST_BYTES:
        text = f"must be at least {LEAST_BYTES // 2**20} MB: the program itself takes more than half of that"
        raise ConfigError([Problem("memory", text)])
    return max((memory - PROGRAM_BYTES) // bytes_per_row(config), LEAST_ROWS, 4 * config.k)


def bytes_per_row(config: Config) -> int:
    """Return the maximum bytes for grouping a row: it is compared with 3k others and has a box."""
    may_be_sets = config.cost == "set" and not set(config.quasi) <= {*config.hierarchies, *config.ordered}
    priced = PRICED_BYTES * PRICED_VALUES if may_be_sets else 0  # values are counted later
    return ROW_BYTES + 4 * (3 * config.k + 1) + 40 * len(config.quasi) + priced
