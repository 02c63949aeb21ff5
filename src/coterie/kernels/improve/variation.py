"""Vary a box: narrow it in some attributes, to a row that it holds, and widen it in others."""

from __future__ import annotations

import numpy as np

from coterie.kernels import once, part
from coterie.kernels.improve.recreate import next_draw
from coterie.kernels.search.costs import TABLE

CHANGES = 2  # attributes to narrow, and to widen, at most
LOOKS = 8  # for an attribute that can be narrowed


@part
def _wider(costs, j, low, high):
    """Return the next wider interval of an attribute looked up in a table: in a tree, the parent's."""
    width, offset = costs.width[j], costs.offset[j]
    left = costs.data[offset + (low - 1) * width + high] if low > 0 else np.inf
    right = costs.data[offset + low * width + high + 1] if high < width - 1 else np.inf
    if left == np.inf and right == np.inf:
        return low, high
    if left < right:
        low -= 1
    else:
        high += 1
    now = min(left, right)
    while low > 0 and costs.data[offset + (low - 1) * width + high] == now:
        low -= 1
    while high < width - 1 and costs.data[offset + low * width + high + 1] == now:
        high += 1
    return low, high


@part
def _narrower(costs, j, low, high, c, draw):
    """Return an interval inside [low, high] that holds the code c: in a tree, the child's."""
    if costs.kind[j] != TABLE:  # any is possible
        return c - (c - low) * (draw & 255) // 256, c + (high - c) * (draw >> 8 & 255) // 256
    now_low, now_high = c, c
    while True:
        wider_low, wider_high = _wider(costs, j, now_low, now_high)
        if wider_low <= low and wider_high >= high:
            return now_low, now_high
        now_low, now_high = wider_low, wider_high


@once
def vary(nodes, costs, opened, g, row, draws, b, box):
    """Set `box` to that of a group, narrowed to the row in an attribute or two, and widened in as many or none."""
    low, high, d = box[0], box[1], box.shape[1]
    p = nodes.position[row]
    for j in range(d):
        low[j], high[j] = opened.lo[g, j], opened.hi[g, j]
    narrowed = np.int64(-1)
    for _ in range(1 + next_draw(draws, b) % CHANGES):
        j = next_draw(draws, b) % d
        for _ in range(LOOKS):
            if low[j] < high[j]:
                break
            j = next_draw(draws, b) % d
        if low[j] < high[j]:
            low[j], high[j] = _narrower(costs, j, low[j], high[j], nodes.points[p, j], next_draw(draws, b))
            narrowed = j
    for _ in range(next_draw(draws, b) % (CHANGES + 1)):
        j = next_draw(draws, b) % d
        if j == narrowed:
            continue
        if costs.kind[j] == TABLE:
            low[j], high[j] = _wider(costs, j, low[j], high[j])
        else:
            more = 1 + (high[j] - low[j]) // 4
            low[j], high[j] = max(low[j] - more, 0), min(high[j] + more, costs.width[j] - 1)
