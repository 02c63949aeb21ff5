"""compact: coterie's own method, the default. The cheapest boxes first, then local search.

From every distinct row a box of at least k rows is grown over its nearest rows, by the row that costs it least each
time, with several random scales of the attributes (a large group does better to give one attribute up than to widen
all of them). Boxes are accepted in the order of their cost; one that has lost rows to others is grown again and
waits for its turn at its new cost. Rows inside an accepted box join it: they cost nothing more. What is left over
goes where the loss rises least. Local search (`refine.py`) then parts pairs of neighbouring groups anew.

The table is cut into blocks of near rows (`blocks.py`) which are grouped on several threads; local search runs over
the whole table and repairs the borders. The release depends on `block_rows`, never on the number of threads.

Cost, on Adult (30,162 rows, 8 attributes) at k = 10 against Mondrian's grouping: `fast` about 30 times as long,
`balanced` 120, `thorough` 1,000; docs/benchmarks.md has the figures and the losses.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from coterie.blocks import ROWS, cut_into_blocks, rows_of
from coterie.boxes import Grouping
from coterie.index import build_index
from coterie.methods._method import Options, Run, method
from coterie.refine import Effort, attribute_scales, keeps, refine
from coterie.repair import repair
from coterie.table import Table
from coterie.tree import Float64, Int32


class _Settings(NamedTuple):
    """What an effort means."""

    reach: int
    """rows that a seed looks around for, in multiples of k"""
    tries: int
    """boxes grown from each seed"""
    search: Effort


SMALL_K = 8

EFFORTS = {
    "fast": _Settings(2, 1, Effort(neighbours=2, tries=2, sweeps=1)),
    "balanced": _Settings(3, 8, Effort(neighbours=8, tries=8, sweeps=20)),
    # Small groups are many small choices: more is gained by parting them anew than by growing them better.
    "balanced, small k": _Settings(3, 2, Effort(neighbours=40, tries=32, sweeps=40)),
    "thorough": _Settings(4, 64, Effort(neighbours=24, tries=32, sweeps=60)),
}


class CompactOptions(Options):
    """Options of `compact`."""

    effort: Literal["fast", "balanced", "thorough"] = Field(
        "balanced", description="How long to search: fast, balanced (about 4 times as long) or thorough (about 40)."
    )
    block_rows: int = Field(
        ROWS, ge=1, description="Rows of a block at most. Blocks are grouped on several threads; smaller is faster."
    )
    suppress_above: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Suppress groups whose mean loss per cell is above this: rows far from all others.",
    )


@method("compact", paper="ours", recoding="local", options=CompactOptions)
def compact(table: Table, k: int, options: CompactOptions, run: Run) -> Grouping:
    """Accept the cheapest box of k rows first, then part neighbouring groups anew while that helps."""
    small = options.effort == "balanced" and k < SMALL_K
    settings = EFFORTS["balanced, small k" if small else options.effort]
    index = build_index(table)
    blocks = cut_into_blocks(index, k=k, rows=options.block_rows)
    scales = attribute_scales(table.attributes, run)
    # Threads that are not needed for blocks of their own work on the seeds of a block.
    inner_threads = max(1, run.threads // len(blocks))
    labels = np.full(table.rows, -1, dtype=np.int32)

    def group(rows: Int32) -> Int32:
        run.checkpoint()
        block = rows_of(table, rows) if len(blocks) > 1 else table
        tries = 1 if run.out_of_time else settings.tries
        return _group_block(block, k, scales=scales, reach=settings.reach * k, tries=tries, threads=inner_threads)

    with ThreadPoolExecutor(min(run.threads, len(blocks))) as pool:
        groups = 0
        for done, (rows, found) in enumerate(zip(blocks, pool.map(group, blocks), strict=True)):
            labels[rows] = found + groups
            groups += int(found.max()) + 1
            run.progress("group", done + 1, len(blocks))
    grouping = Grouping.of(table.codes, labels)
    if run.privacy:
        grouping = repair(table, grouping, run.privacy, k=k, run=run)
    allowed = keeps(table, run.privacy, k)
    grouping = refine(table, grouping, k=k, run=run, effort=settings.search, allowed=allowed, index=index)
    return grouping if options.suppress_above is None else _without_outliers(table, grouping, options.suppress_above)


def _group_block(table: Table, k: int, *, scales: Float64, reach: int, tries: int, threads: int) -> Int32:
    """Row → group, for the rows of one block."""
    from coterie.kernels.compact import cheapest_first
    from coterie.kernels.leftovers import place_leftovers

    index = build_index(table)
    nodes, costs = index.nodes, index.costs
    seeds = len(nodes.points)
    near = np.empty((seeds, reach + 1), dtype=np.int32)
    near_count = np.zeros(seeds, dtype=np.int32)
    lo = np.zeros((seeds, table.attributes), dtype=np.int32)
    hi = np.zeros((seeds, table.attributes), dtype=np.int32)
    keys = np.empty(seeds, dtype=np.float64)
    cuts = np.linspace(0, seeds, min(seeds, 4 * threads) + 1).astype(np.int64)

    labels = np.full(table.rows, -1, dtype=np.int32)

    def grow(i: int) -> None:
        cheapest_first(nodes, costs, k, scales, tries, near, near_count, lo, hi, keys, labels, cuts[i], cuts[i + 1])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(grow, range(len(cuts) - 1)))
    cheapest_first(nodes, costs, k, scales, tries, near, near_count, lo, hi, keys, labels, np.int64(0), np.int64(0))
    left = np.flatnonzero(labels < 0).astype(np.int32)
    if len(left):
        boxes = Grouping.of(table.codes, labels)
        labels = boxes.labels.copy()
        place_leftovers(costs, table.codes, labels, boxes.lo, boxes.hi, boxes.sizes, left)
    return labels


def _without_outliers(table: Table, grouping: Grouping, limit: float) -> Grouping:
    """The grouping with all groups suppressed that lose more than `limit` per cell."""
    from coterie.kernels.costs import box_costs

    whole = sum(domain.weight for domain in table.domains) or 1.0
    coarse = box_costs(table.costs, grouping.lo, grouping.hi) / whole > limit
    return Grouping.of(table.codes, np.where(coarse[grouping.labels], -1, grouping.labels))
