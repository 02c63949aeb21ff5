"""What an interval of codes costs. Costs only grow when an interval grows, also in floating point.

Each attribute is looked up in one of three ways (`CostArrays.kind`): a square table of all intervals for small
domains, numbers with one subtraction, or a sparse table of range maxima for large trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import kernel

TABLE, NUMBER, TREE = 0, 1, 2


class CostArrays(NamedTuple):
    """Interval costs of all attributes, as kernels take them. `data[offset[j]:]` belongs to attribute j."""

    kind: npt.NDArray[np.int64]
    offset: npt.NDArray[np.int64]
    width: npt.NDArray[np.int64]
    """number of codes of the attribute"""
    span: npt.NDArray[np.float64]
    """numbers: largest minus smallest value"""
    weight: npt.NDArray[np.float64]
    """numbers: attribute weight, which is also the cost of the whole domain"""
    data: npt.NDArray[np.float64]


@kernel
def interval_cost(costs, j, lo, hi):
    """Cost of the interval [lo, hi] of attribute j."""
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


@kernel
def box_cost(costs, lo, hi):
    """Cost of one row in the box [lo, hi]: the sum over the attributes, in their order."""
    total = 0.0
    for j in range(lo.shape[0]):
        total += interval_cost(costs, j, lo[j], hi[j])
    return total


@kernel
def box_costs(costs, lo, hi):
    """Cost of one row in each of many boxes."""
    result = np.empty(lo.shape[0], dtype=np.float64)
    for g in range(lo.shape[0]):
        result[g] = box_cost(costs, lo[g], hi[g])
    return result


@kernel
def point_cost(costs, lo, hi, point, limit):
    """Cost of the box [lo, hi] grown to hold a point; the sum stops early, above `limit`, when it exceeds it."""
    total = 0.0
    for j in range(lo.shape[0]):
        total += interval_cost(costs, j, min(lo[j], point[j]), max(hi[j], point[j]))
        if total > limit:
            break
    return total


@kernel
def touch_cost(costs, lo, hi, node_lo, node_hi, limit):
    """Cost of the smallest box that holds [lo, hi] and touches [node_lo, node_hi]: a bound for all rows in there."""
    total = 0.0
    for j in range(lo.shape[0]):
        total += interval_cost(costs, j, min(lo[j], node_hi[j]), max(hi[j], node_lo[j]))
        if total > limit:
            break
    return total


@kernel
def union_cost(costs, lo, hi, other_lo, other_hi, limit):
    """Cost of the smallest box around two boxes; the sum stops early, above `limit`, when it exceeds it."""
    total = 0.0
    for j in range(lo.shape[0]):
        total += interval_cost(costs, j, min(lo[j], other_lo[j]), max(hi[j], other_hi[j]))
        if total > limit:
            break
    return total
