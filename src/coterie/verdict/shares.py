"""Which columns single people out: the Shapley value of each column.

Leaving one column out says nothing if two identify people on their own: the other still does, and both would count 0.
The Shapley value of a column is what it adds to the exposed rows, averaged over all orders in which columns could
be added; two columns that each identify everybody get half of them each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import factorial

import numpy as np

# All subsets are counted up to this many columns; with more, orders are drawn.
EXACT = 4
# The number of subsets counted in that case.
BUDGET = 48

Exposed = Callable[[frozenset[str]], int]
"""columns besides the quasi-identifiers → rows that these expose"""


def shapley_shares(columns: Sequence[str], exposed: Exposed, *, budget: int = BUDGET) -> dict[str, float]:
    """Return column → its share of the exposed rows; the shares add up to the rows that all columns expose.

    Args:
        columns: The columns.
        exposed: How many rows some columns expose. Called once for each subset.
        budget: The approximate number of subsets to count, if there are more columns than `EXACT`.
    """
    known: dict[frozenset[str], int] = {}

    def asked(chosen: frozenset[str]) -> int:
        if chosen not in known:
            known[chosen] = exposed(chosen)
        return known[chosen]

    if len(columns) <= EXACT:
        return {column: _exact(column, columns, asked) for column in columns}
    return _drawn(columns, asked, orders=max(2, budget // len(columns)))


def _exact(column: str, columns: Sequence[str], asked: Exposed) -> float:
    others = [each for each in columns if each != column]
    total = 0.0
    for size in range(len(others) + 1):
        weight = factorial(size) * factorial(len(others) - size) / factorial(len(columns))
        for chosen in combinations(others, size):
            total += weight * (asked(frozenset((*chosen, column))) - asked(frozenset(chosen)))
    return total


def _drawn(columns: Sequence[str], asked: Exposed, *, orders: int) -> dict[str, float]:
    """Average over random orders, each also reversed. The draw need not be secret."""
    rng = np.random.default_rng(0)
    shares = dict.fromkeys(columns, 0.0)
    pairs = -(-orders // 2)
    for _ in range(pairs):
        order = [columns[at] for at in rng.permutation(len(columns))]
        for each in (order, order[::-1]):
            chosen: frozenset[str] = frozenset()
            for column in each:
                shares[column] += asked(chosen | {column}) - asked(chosen)
                chosen |= {column}
    return {column: share / (2 * pairs) for column, share in shares.items()}
