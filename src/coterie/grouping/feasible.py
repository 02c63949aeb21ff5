"""Make prices feasible: lower each as far as any group of the table requires.

Prices are feasible if in no group of k rows they add up to more than these rows' loss; see docs/bound.md.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int32, Int64
from coterie.grouping.index import Index
from coterie.grouping.pool import Pool

if TYPE_CHECKING:
    from coterie.kernels.search.candidates import Priced
    from coterie.kernels.search.prices import Found
    from coterie.table.table import Table

SLOTS = 3
"""groups noted for each place"""
WAVES, PIECES = 16, 8
"""in which prices are made feasible: one after another, and at the same time"""
LITTLE, MUCH = (20_000, 50_000), (100_000, 1_000_000)
"""candidates to look at for one place, before and after those that no group needs are dropped"""


class Feasible(NamedTuple):
    """Prices that no group violates."""

    prices: Float64
    """place → price"""
    broken: Pool
    """boxes of groups that violated the prices before, or nearly"""
    work: int
    """how many candidates were looked at or compared: the same on every machine"""


def feasible_prices(
    table: Table,
    index: Index,
    k: int,
    prices: Float64,
    *,
    least: Float64,
    work: tuple[int, int] = MUCH,
    threads: int = 1,
    checkpoint: Callable[[], None] = lambda: None,
) -> Feasible:
    """Lower prices until they are feasible.

    Low prices are lowered first, wave by wave: rows with higher prices then need to be lowered less.

    Args:
        table: The rows.
        index: An index over all rows.
        k: The minimum group size.
        prices: Place → price of one of its rows, any number.
        least: Place → what any group with it costs at least.
        work: How many candidates to look at for one place, about, before and after those that no group needs are
            dropped. If that is too few, its price is lower than necessary.
        threads: Number of threads; the result does not depend on it.
        checkpoint: Called between waves; may raise.
    """
    from coterie.kernels.search.prices import lower_prices

    priced, found, order = _prepared(table, index, k, prices, least, work)

    def piece(places: Int32) -> None:
        lower_prices(index.nodes, index.costs, priced, places, found)

    with ThreadPoolExecutor(max(threads, 1)) as workers:
        for wave in np.array_split(order[::-1].astype(np.int32), min(WAVES, len(order))):
            checkpoint()
            list(workers.map(piece, [np.ascontiguousarray(wave[i::PIECES]) for i in range(min(PIECES, len(wave)))]))
            priced.price[wave] = found.lowered[wave]
    used = np.arange(SLOTS) < found.noted[:, None]
    return Feasible(found.lowered, Pool(found.lo[used], found.hi[used]), int(found.looked.sum()))


def try_prices(
    table: Table, index: Index, k: int, prices: Float64, *, least: Float64, work: tuple[int, int], places: Int32
) -> tuple[Float64, Int64]:
    """Return what would about become of the prices of some places, and how much work each of them takes.

    All other prices stay as they are, so these fall too far if anything. It says how `feasible_prices` would go, at
    little expense; the prices are not feasible.
    """
    from coterie.kernels.search.prices import lower_prices

    priced, found, _ = _prepared(table, index, k, prices, least, work)
    lower_prices(index.nodes, index.costs, priced, places, found)
    return found.lowered[places], found.looked[places]


def _prepared(
    table: Table, index: Index, k: int, prices: Float64, least: Float64, work: tuple[int, int]
) -> tuple[Priced, Found, Int64]:
    """Return prices and room for what is found, as kernels take them, and the places by falling price."""
    from coterie.kernels.search.candidates import Priced
    from coterie.kernels.search.costs import box_costs
    from coterie.kernels.search.prices import Found

    size = len(prices)
    rank = np.empty(size, dtype=np.int64)
    order = np.lexsort((np.arange(size), -prices))
    rank[order] = np.arange(size)
    numbers = np.asarray([domain.tree is None for domain in table.domains], dtype=np.int64)
    # Boxes that are wide in one attribute only.
    wide = np.diag([domain.size - 1 for domain in table.domains]).astype(np.int32)
    whole = box_costs(index.costs, np.zeros_like(wide), wide)
    priced = Priced(k, prices.copy(), rank, least, numbers, whole, *work)
    lo, hi = np.zeros((2, size, SLOTS, table.attributes), dtype=np.int32)
    return priced, Found(prices.copy(), lo, hi, *np.zeros((2, size), dtype=np.int64)), order
