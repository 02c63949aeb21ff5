"""compact: coterie's own method, the default. The cheapest boxes first, then local search.

From every distinct row a box of at least k rows is grown over its nearest rows, each time by the cheapest row,
with several random scales of the attributes (a large group does better to give up one attribute than to widen
all of them). Boxes are accepted in the order of their cost; one that has lost rows to others is grown again and
waits for its turn at its new cost. Rows inside an accepted box join it: they cost nothing more. Remaining rows
go where the loss increases least. Local search (`refine.py`) then pools a few neighbouring groups and grows new
ones from their rows; effort sets the number of pools per group. If few attributes are evenly spread numbers,
cutting leaves fewer gaps than growing; if most rows have equals, merging leaves fewer rows over. If the groups of
Mondrian or, on tables of many equal rows, of KACA or bottom-up come close, all are searched a little, and the best
thoroughly. With k = 2 or 3, `thorough` begins with groups chosen by linear programming (`priced_groups.py`), which
takes SciPy; without it, it searches longer.

Threads grow boxes in parallel: acceptance goes in batches, between which boxes are grown again, and no box depends on
another of its batch. Tables of more than `block_rows` rows are cut into blocks where few boxes straddle (`blocks.py`),
which are grouped one by one; local search runs over the whole table and repairs the borders. The release depends on
`block_rows`, never on the number of threads.

Cost, on Adult (30,162 rows, 8 attributes) at k = 10 relative to Mondrian's grouping: `fast` takes about 120 times
the CPU, `balanced` 310, `thorough` 1,500; see docs/benchmarks.md for figures and losses.
"""

from __future__ import annotations

from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from coterie.arrays import Float64, Int32
from coterie.grouping.blocks import FREE_ROWS, ROWS, counted_rows, cut_into_blocks, rows_of
from coterie.grouping.index import Index, build_index
from coterie.grouping.priced_groups import LARGEST_K, has_solver, solver_version, whole_groups
from coterie.grouping.refine import LARGE_K, Effort, attribute_scales, keeps, refine
from coterie.grouping.repair.repair import repair
from coterie.methods._growth import Growth, SharedLists
from coterie.methods._method import Options, Run, method
from coterie.methods.bottom_up import BottomUpOptions, bottom_up
from coterie.methods.kaca import KacaOptions, kaca
from coterie.methods.mondrian import MondrianOptions, mondrian
from coterie.table.grouping import Grouping
from coterie.table.table import Table


class _Settings(NamedTuple):
    """The parameters of an effort."""

    shared: int
    """rows near a leaf of the index among which its seeds choose, in multiples of k; 0: each searches separately"""
    leaves: int
    """leaves of the index that such a search visits at most, once it has found enough rows"""
    seeds: float
    """share of the distinct rows from which boxes are initially grown"""
    tries: int
    """boxes grown from each seed"""
    pools: float
    """pools of neighbouring groups to regroup, per group"""
    programs: int = 0
    """how often to solve the linear program of small groups for a better start, where SciPy is there"""


REACH = 3  # rows that a seed looks around for, in multiples of k
SMALL_K = 8
LEAVES = (256, 32)  # that a shared search visits, at least and per k: more find nothing nearer, and far fewer lose much
NEARLY = 1.25  # a start that loses less than this times the other is searched as well
FIRST_LOOK = 1.0  # pools for each group, by which starts are compared
EQUAL = 4  # rows to a place, on average, where merging is tried as well
MERGED_PLACES = 16_384  # at most, where it is: it takes about as long as growing
BOXES = 4096  # boxes that show where to cut a table into blocks: fewer lose more in small blocks
FEWER_BOXES = 1024  # the same if it need not be cut: they show well enough where it can be for nothing
ENOUGH = 2  # rows that a shared list must hold, in multiples of k

# Pools for each group where k is below 4, 8, 16, 64, and above: large groups are few, and choosing their rows well
# takes longer.
STEPS = (4, SMALL_K, LARGE_K, 64)
EFFORTS = {
    "fast": (2.0, 2.0, 3.5, 24.0, 40.0),
    "balanced": (6.0, 14.0, 22.0, 80.0, 80.0),
    "thorough": (60.0, 120.0, 150.0, 300.0, 300.0),
}
# `thorough` with small groups, where the linear program gives the start: it takes as long as 10 to 20 pools per group,
# and then 24 find more than 60 do without. `balanced` has 6, so that the same time is better spent on pools.
PROGRAMS = 2
POOLS_AFTER = 24.0


def _settings(effort: str, k: int) -> _Settings:
    """Return the parameters of an effort. They are the same at every size, so that more rows never mean less effort."""
    pools = EFFORTS[effort][bisect_right(STEPS, k)]
    # A leaf's seeds have each its own few neighbours, which a list for all of them would not hold.
    shared = 6 if k >= (SMALL_K if effort == "fast" else LARGE_K) else 0
    leaves = max(LEAVES[0], LEAVES[1] * k)
    if effort == "fast":
        # Several tries are quick over a shared list, and its short search seldom finds what they miss. Of large groups
        # there are few for so many seeds: the time is better spent on searching longer.
        seeds = 0.3 if k >= LARGE_K else 0.5 if k >= SMALL_K else 0.7
        return _Settings(shared, leaves, seeds, 4 if k >= SMALL_K else 1, pools)
    # Small groups are many small choices, which the search makes better; large ones need a good start.
    tries = 8 if k >= LARGE_K else 1
    seeds = 0.7 if k >= LARGE_K else 0.6 if k >= SMALL_K else 1.0
    settings = _Settings(shared, leaves, seeds, tries, pools)
    if effort == "thorough" and 2 <= k <= LARGEST_K and has_solver():
        return settings._replace(programs=PROGRAMS)
    return settings


class CompactOptions(Options):
    """Options of `compact`."""

    effort: Literal["fast", "balanced", "thorough"] = Field(
        "balanced",
        description=(
            "How long to search: fast, balanced (2 to 3 times as long) or thorough (5 to 20 times). With k = 2 or 3 "
            "and SciPy (`coterie[exact]`), thorough begins with groups chosen by linear programming; provenance "
            "records it."
        ),
    )
    block_rows: int = Field(
        ROWS,
        ge=1,
        description=(
            "Maximum rows of a block, not counting those with k equals. Larger tables are grown in blocks, "
            "at some loss."
        ),
    )
    suppress_above: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Suppress groups whose mean loss per cell is above this: rows far from all others.",
    )


@method("compact", paper="ours", recoding="local", options=CompactOptions)
def compact(table: Table, k: int, options: CompactOptions, run: Run) -> Grouping:
    """Accept the cheapest boxes of k rows first, then regroup neighbouring groups while that reduces the loss."""
    index = build_index(table)
    settings = _settings(options.effort, k)
    grown = _grown(table, k, index, settings, options.block_rows, run)
    programmed = _programmed(table, grown, k, index, settings, run) if settings.programs else None
    if programmed is not None:
        grown, settings = programmed, settings._replace(pools=POOLS_AFTER)
    limit = NEARLY * loss_of(table, grown)
    places = len(index.nodes.points)
    starts = [grown, *(other for other in _others(table, k, places, run) if loss_of(table, other) < limit)]
    if len(starts) > 1:
        look = Effort(pools=FIRST_LOOK)
        starts = [refine(table, start, k=k, run=run, effort=look, index=index) for start in starts]
    start = min(starts, key=lambda found: loss_of(table, found))
    grouping = _search(table, start, k, Effort(pools=settings.pools), run, index)
    return grouping if options.suppress_above is None else _without_outliers(table, grouping, options.suppress_above)


def grow_groups(table: Table, k: int, run: Run) -> Grouping:
    """Group the rows as `fast` does before any search: for cuts and prices, which need to know where groups lie."""
    index = build_index(table)
    return _grown(table, k, index, _settings("fast", k), ROWS, run)


def _grown(table: Table, k: int, index: Index, settings: _Settings, block_rows: int, run: Run) -> Grouping:
    """Accept the cheapest boxes first, block by block; the index is free before and afterwards."""
    scales = attribute_scales(table.attributes, run)
    blocks = _blocks(index, k, scales=scales, settings=settings, rows=block_rows, threads=run.threads)
    # Threads that are not needed for blocks of their own work on the seeds of a block.
    inner_threads = max(1, run.threads // len(blocks))
    labels = np.full(table.rows, -1, dtype=np.int32)

    def group(rows: Int32) -> Int32:
        run.checkpoint()
        block = build_index(rows_of(table, rows)) if len(blocks) > 1 else index
        tries = 1 if run.out_of_time else settings.tries
        return _group_block(block, k, scales=scales, settings=settings, tries=tries, threads=inner_threads)

    with ThreadPoolExecutor(min(run.threads, len(blocks))) as pool:
        groups = 0
        for done, (rows, found) in enumerate(zip(blocks, pool.map(group, blocks), strict=True)):
            labels[rows] = found + groups
            groups += int(found.max()) + 1
            run.progress("group", done + 1, len(blocks))
    index.reset()
    return Grouping.of(table.codes, labels)


def _blocks(index: Index, k: int, *, scales: Float64, settings: _Settings, rows: int, threads: int) -> list[Int32]:
    """Cut the table where few boxes straddle; all rows are one block if there are not too many."""
    counted = counted_rows(index, k=k)
    if counted.sum() <= min(rows, FREE_ROWS):
        return [np.arange(len(index.nodes.position), dtype=np.int32)]
    growth = _growth(index, k, scales=scales, settings=settings, tries=settings.tries, threads=threads)
    places = np.flatnonzero(counted).astype(np.int32)
    # Neighbouring places hold near rows: those at even distances are a fair choice.
    count = min(BOXES if counted.sum() > rows else FEWER_BOXES, len(places))
    boxes = growth.boxes_of(places[np.arange(count) * len(places) // count])
    return cut_into_blocks(index, boxes, k=k, rows=rows)


def _programmed(table: Table, grown: Grouping, k: int, index: Index, settings: _Settings, run: Run) -> Grouping | None:
    """Keep the groups that the linear program is sure of, and grow others from the rest; None if no better."""
    if run.out_of_time:
        return None
    labels = whole_groups(table, grown, k=k, index=index, run=run, rounds=settings.programs)
    left = np.flatnonzero(labels < 0).astype(np.int32)
    if 0 < len(left) < k:  # too few for a group: those of any other rows are free as well
        left = np.flatnonzero((labels < 0) | (labels == labels.max())).astype(np.int32)
    if len(left):
        rest = rows_of(table, left)
        others = _grown(rest, k, build_index(rest), settings, ROWS, run)
        labels[left] = labels.max() + 1 + others.labels
    found = Grouping.of(table.codes, labels)
    if loss_of(table, found) >= loss_of(table, grown):
        return None
    run.notes.append(f"compact: the search began with groups chosen by linear programming (SciPy {solver_version()}).")
    return found


def _others(table: Table, k: int, places: int, run: Run) -> list[Grouping]:
    """Return the groupings of quick methods, where they may be better than growing."""
    found = [mondrian(table, k, MondrianOptions.model_validate({}), Run())]
    if places <= MERGED_PLACES and places * EQUAL <= table.rows:
        for other in ("kaca", "bottom-up"):
            run.compile_for(other)
        found += [
            kaca(table, k, KacaOptions.model_validate({}), Run()),
            bottom_up(table, k, BottomUpOptions.model_validate({}), Run()),
        ]
    return found


def _search(table: Table, grouping: Grouping, k: int, effort: Effort, run: Run, index: Index) -> Grouping:
    """Reduce the loss; repair violations of the privacy models, and reduce it again as far as they allow."""
    grouping = refine(table, grouping, k=k, run=run, effort=effort, index=index)
    allowed = keeps(table, run.privacy, k)
    if allowed is not None:
        # Mended before, groups would keep most of what the search could do for them from being done.
        grouping = repair(table, grouping, run.privacy, k=k, run=run)
        grouping = refine(table, grouping, k=k, run=run, effort=effort, allowed=allowed, index=index)
    return grouping


def loss_of(table: Table, grouping: Grouping) -> float:
    """Return the total weighted loss."""
    from coterie.kernels.search.costs import box_costs

    return float((grouping.sizes * box_costs(table.costs, grouping.lo, grouping.hi)).sum())


def _group_block(index: Index, k: int, *, scales: Float64, settings: _Settings, tries: int, threads: int) -> Int32:
    """Return row → group for the rows of one block; they are free before and taken afterwards."""
    from coterie.kernels.unassigned import place_leftovers

    growth = _growth(index, k, scales=scales, settings=settings, tries=tries, threads=threads)
    places = np.arange(len(index.nodes.points), dtype=np.int32)
    labels = np.full(len(index.nodes.position), -1, dtype=np.int32)
    # Neighbouring places hold near rows, so that seeds at even distances are a fair choice of them all. Places of k
    # rows are boxes that cost nothing.
    chosen = np.floor(places * settings.seeds) != np.floor((places + 1) * settings.seeds)
    chosen |= index.nodes.point_free >= k
    groups = growth.accept(places[chosen], labels, 0)
    growth.accept(places[index.nodes.point_free > 0], labels, groups)
    left = np.flatnonzero(labels < 0).astype(np.int32)
    if len(left):
        codes = index.nodes.points[index.nodes.position]
        boxes = Grouping.of(codes, labels)
        labels = boxes.labels.copy()
        place_leftovers(index.costs, codes, labels, boxes.lo, boxes.hi, boxes.sizes, left)
    return labels


def _growth(index: Index, k: int, *, scales: Float64, settings: _Settings, tries: int, threads: int) -> Growth:
    lists = SharedLists(index, settings.shared * k, leaves=settings.leaves, least=ENOUGH * k)
    return Growth(index, k, scales=scales, reach=REACH, tries=tries, threads=threads, lists=lists)


def _without_outliers(table: Table, grouping: Grouping, limit: float) -> Grouping:
    """Suppress all groups that lose more than `limit` per cell."""
    from coterie.kernels.search.costs import box_costs

    whole = sum(domain.weight for domain in table.domains) or 1.0
    coarse = box_costs(table.costs, grouping.lo, grouping.hi) / whole > limit
    return Grouping.of(table.codes, np.where(coarse[grouping.labels], -1, grouping.labels))
