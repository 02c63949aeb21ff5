"""Interval costs. A larger interval never costs less, even in floating point.

Each attribute is looked up in one of three ways (`CostArrays.kind`): a square table of all intervals for small
domains, numbers with one subtraction, or a sparse table of range maxima for large trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import inner, loop, part, step

TABLE, NUMBER, TREE = 0, 1, 2


class CostArrays(NamedTuple):
    """Interval costs of all attributes, in the form that kernels take. `data[offset[j]:]` belongs to attribute j."""

    kind: npt.NDArray[np.int64]
    offset: npt.NDArray[np.int64]
    width: npt.NDArray[np.int64]
    """number of codes of the attribute"""
    span: npt.NDArray[np.float64]
    """numbers: largest minus smallest value"""
    weight: npt.NDArray[np.float64]
    """numbers: attribute weight, which is also the cost of the whole domain"""
    data: npt.NDArray[np.float64]
    small: npt.NDArray[np.int64]
    """attributes looked up in tables"""
    large: npt.NDArray[np.int64]
    """all others"""
    base: npt.NDArray[np.int64]
    """where the attribute begins in a `reach` array (see `aim`); the last entry is the length of such an array"""


@step
def for_attributes(costs, small, large):
    """Return the same costs for some of the attributes."""
    return CostArrays(
        costs.kind, costs.offset, costs.width, costs.span, costs.weight, costs.data, small, large, costs.base
    )


@part
def interval_cost(costs, j, lo, hi):
    """Return the cost of the interval [lo, hi] of attribute j."""
    if lo == hi:
        return 0.0
    kind = costs.kind[j]
    offset = costs.offset[j]
    if kind == TABLE:
        return costs.data[offset + lo * costs.width[j] + hi]
    if kind == NUMBER:
        cost = costs.weight[j] * ((costs.data[offset + hi] - costs.data[offset + lo]) / costs.span[j])
        return min(cost, costs.weight[j])
    gaps = hi - lo
    level = 0
    while (2 << level) <= gaps:
        level += 1
    row = offset + level * costs.width[j]
    return max(costs.data[row + lo], costs.data[row + hi - (1 << level)])


# Sums are always (small domains in their order) + (large domains in their order), so that one and the same box has
# one and the same cost, to the last bit, wherever it is computed.


@inner
def box_cost(costs, lo, hi):
    """Return the cost per row of the box [lo, hi]: the sum over the attributes."""
    small = 0.0
    for i in range(costs.small.shape[0]):
        j = costs.small[i]
        small += costs.data[costs.offset[j] + lo[j] * costs.width[j] + hi[j]]
    large = 0.0
    for i in range(costs.large.shape[0]):
        j = costs.large[i]
        large += interval_cost(costs, j, lo[j], hi[j])
    return small + large


@inner
def union_cost(costs, lo, hi, other_lo, other_hi, other, limit):
    """Return the cost of the smallest box around [lo, hi] and another box; stops early once it exceeds `limit`."""
    small = 0.0
    row = np.uint64(other)
    for i in range(costs.small.shape[0]):
        j = np.uint64(costs.small[i])
        low = min(lo[j], other_lo[row, j])
        small += costs.data[np.uint64(costs.offset[j] + low * costs.width[j] + max(hi[j], other_hi[row, j]))]
        if small > limit:
            return small
    large = 0.0
    for i in range(costs.large.shape[0]):
        j = costs.large[i]
        large += interval_cost(costs, j, min(lo[j], other_lo[other, j]), max(hi[j], other_hi[other, j]))
    return small + large


def box_costs(costs, lo, hi):
    """Return the cost per row of each of many boxes."""
    result = np.empty(lo.shape[0], dtype=np.float64)
    _box_costs(costs, lo, hi, result)
    return result


@loop
def _box_costs(costs, lo, hi, result):
    for g in range(lo.shape[0]):
        result[g] = box_cost(costs, lo[g], hi[g])


class Aimed(NamedTuple):
    """A box against which many rows and nodes are compared, with precomputed costs.

    `reach[base[j] + c]` is the cost of the interval of attribute j extended to the code c, which leaves one look-up
    for each row or node. Large domains are looked up directly instead.
    """

    costs: CostArrays
    reach: npt.NDArray[np.float64]
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]


def new_reach(costs):
    """Allocate the costs of one aimed box."""
    return np.empty(costs.base[-1], dtype=np.float64)


# The same inside kernels that make arrays.
make_reach = step(new_reach)


@inner
def aim(aimed, j):
    """Set `reach` for attribute j after its interval has changed."""
    costs, reach = aimed.costs, aimed.reach
    if costs.kind[j] != TABLE:
        return
    base = costs.base[j]
    width = costs.width[j]
    offset = costs.offset[j]
    low = aimed.lo[j]
    high = aimed.hi[j]
    now = costs.data[offset + low * width + high]
    for c in range(low):
        reach[base + c] = costs.data[offset + c * width + high]
    for c in range(low, high + 1):
        reach[base + c] = now
    for c in range(high + 1, width):
        reach[base + c] = costs.data[offset + low * width + c]


@loop
def aim_all(aimed):
    """Set `reach` for the whole box."""
    for j in range(aimed.lo.shape[0]):
        aim(aimed, j)


@inner
def widen(aimed, points, p):
    """Extend the box and its costs to a row; return whether it changed."""
    lo, hi = aimed.lo, aimed.hi
    grown = False
    for j in range(lo.shape[0]):
        c = points[p, j]
        if c < lo[j] or c > hi[j]:
            lo[j] = min(lo[j], c)
            hi[j] = max(hi[j], c)
            aim(aimed, j)
            grown = True
    return grown


# Unsigned places spare the test for negative ones.


@inner
def joined_cost(aimed, points, p, limit):
    """Return the cost of the aimed box extended to points[p]; stops early once it exceeds `limit`."""
    small, base, reach = aimed.costs.small, aimed.costs.base, aimed.reach
    total = 0.0
    for i in range(small.shape[0]):
        j = small[i]
        total += reach[np.uint64(base[j] + points[p, j])]
        if total > limit:
            break
    if aimed.costs.large.shape[0] > 0:
        total += _joined_cost_large(aimed.costs, aimed.lo, aimed.hi, points, p)
    return total


@part
def _joined_cost_large(costs, lo, hi, points, p):
    """Return the large domains' part of `joined_cost`."""
    total = 0.0
    for i in range(costs.large.shape[0]):
        j = costs.large[i]
        c = points[p, j]
        total += interval_cost(costs, j, min(lo[j], c), max(hi[j], c))
    return total


@inner
def bound_cost(aimed, node_lo, node_hi, node, limit):
    """Return the cost of the smallest box that contains the aimed box and touches a node's: a lower bound for its rows.

    Stops early once it exceeds `limit`.
    """
    small, base, reach, lo = aimed.costs.small, aimed.costs.base, aimed.reach, aimed.lo
    total = 0.0
    for i in range(small.shape[0]):
        j = small[i]
        c = max(node_lo[node, j], min(node_hi[node, j], lo[j]))  # the node's code nearest to the interval
        total += reach[np.uint64(base[j] + c)]
        if total > limit:
            break
    if aimed.costs.large.shape[0] > 0:
        total += _bound_cost_large(aimed.costs, lo, aimed.hi, node_lo, node_hi, node)
    return total


@part
def _bound_cost_large(costs, lo, hi, node_lo, node_hi, node):
    """Return the large domains' part of `bound_cost`."""
    total = 0.0
    for i in range(costs.large.shape[0]):
        j = costs.large[i]
        c = max(node_lo[node, j], min(node_hi[node, j], lo[j]))
        total += interval_cost(costs, j, min(lo[j], c), max(hi[j], c))
    return total
