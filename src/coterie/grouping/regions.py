"""Cut groups into regions of near ones, each of which can be searched separately."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int32, Int64
from coterie.table.grouping import by_label, tight_boxes

if TYPE_CHECKING:
    from coterie.kernels.improve.ruin import Groups
    from coterie.kernels.search.costs import CostArrays
    from coterie.table.table import Table


class Regions(NamedTuple):
    """Groups renumbered by region; a region has numbers for as many groups as its rows can form.

    And one more: a group may be founded before the one that it replaces is dissolved.
    """

    groups: Groups
    base: Int64
    """region → the first number of its groups; one more entry at the end"""
    starts: Int64
    """region → where its rows begin in `rows`; one more entry at the end"""
    rows: Int32
    held: Int64
    """region → its current number of groups"""
    apart: Int32
    """row → number of its group, if that is in no region; −1 for all others and for suppressed rows"""


def cut_into_regions(
    table: Table, costs: CostArrays, labels: Int32, *, k: int, most: int, rows: int, rng: np.random.Generator
) -> Regions:
    """Cut the groups of a table into regions of about this many rows, elsewhere every time.

    Args:
        table: The rows.
        costs: Interval costs.
        labels: Row → group, −1 for suppressed rows.
        k: The minimum group size.
        most: Groups of more rows are in no region.
        rows: The approximate rows of a region; at least those of one group.
        rng: Determines where to cut.
    """
    from coterie.kernels.improve.ruin import Groups
    from coterie.kernels.search.costs import box_costs

    count = int(labels.max(initial=-1)) + 1
    sizes = np.bincount(labels[labels >= 0], minlength=count)
    lo, hi = tight_boxes(table.codes, labels, count)
    used = np.flatnonzero((sizes > 0) & (sizes <= most))
    parts = _parts(table, (lo + hi) / 2.0, sizes, used, rows, rng)
    base = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([int(sizes[part].sum()) // k + 1 for part in parts], out=base[1:])
    # The last entry is for suppressed rows.
    number, apart = np.full(count + 1, -1, dtype=np.int32), np.full(count + 1, -1, dtype=np.int32)
    for at, part in zip(base, parts, strict=False):
        number[part] = at + np.arange(len(part))
    large = np.flatnonzero(sizes > most)
    apart[large] = base[-1] + np.arange(len(large))
    new, total = number[labels], int(base[-1])
    order = by_label(new).astype(np.int32)[np.count_nonzero(new < 0) :]
    of_order = new[order]
    first, follower = np.full(total, -1, dtype=np.int32), np.full(table.rows, -1, dtype=np.int32)
    same = of_order[:-1] == of_order[1:]
    follower[order[:-1][same]] = order[1:][same]
    begins = np.flatnonzero(np.append(True, ~same)[: len(order)])
    first[of_order[begins]] = order[begins]
    group_sizes, group_costs = np.zeros(total, dtype=np.int64), np.zeros(total)
    group_sizes[number[used]], group_costs[number[used]] = sizes[used], box_costs(costs, lo, hi)[used]
    return Regions(
        Groups(first, follower, new, group_sizes, group_costs),
        base,
        np.searchsorted(of_order, base).astype(np.int64),
        order,
        np.asarray([len(part) for part in parts], dtype=np.int64),
        apart[labels],
    )


def _parts(
    table: Table, middles: Float64, sizes: Int64, used: Int64, rows: int, rng: np.random.Generator
) -> list[Int64]:
    """Return sets of near groups: halves of halves, along partly random attributes."""
    width = np.asarray([max(domain.size - 1, 1) for domain in table.domains], dtype=np.float64)
    weight = np.asarray([domain.weight for domain in table.domains], dtype=np.float64)
    factor = weight * np.exp(-2.0 * rng.random(len(width))) / width
    found: list[Int64] = []
    waiting = [used] if len(used) else []
    while waiting:
        part = waiting.pop()
        held = sizes[part].sum()
        if held <= rows or len(part) < 2:
            found.append(part)
            continue
        points = middles[part]
        attribute = int(np.argmax(np.ptp(points, axis=0) * factor))
        order = part[np.argsort(points[:, attribute], kind="stable")]
        share = 0.35 + 0.3 * rng.random()
        at = int(np.searchsorted(np.cumsum(sizes[order]), share * held))
        at = min(max(at, 1), len(part) - 1)
        waiting += [order[at:], order[:at]]
    return found
