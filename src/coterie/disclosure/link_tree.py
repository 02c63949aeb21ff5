"""A tree over boxes, halved repeatedly at the midpoints of the widest side.

It is built level by level with one sort each, so that there is no loop over boxes and nothing to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Float64, Int32, Int64

if TYPE_CHECKING:
    from coterie.kernels.link import BoxTree

# A leaf has at most this many boxes.
BUCKET = 8


def plant(lo: Int32, hi: Int32, sizes: tuple[int, ...]) -> BoxTree:
    """Build a tree over at least one box; the numbers of codes, `sizes`, make columns comparable."""
    from coterie.kernels.link import BoxTree

    count, columns = lo.shape
    middles = (lo.astype(np.float64) + hi) / np.maximum(np.asarray(sizes, dtype=np.float64), 1.0)
    order = np.arange(count)
    levels = [np.array([0, count])]
    while np.diff(levels[-1]).max() > BUCKET:
        bounds = levels[-1]
        order = _sorted_by_widest(order, middles, bounds)
        halves = (bounds[:-1] + bounds[1:]) // 2
        finer = np.empty(2 * len(bounds) - 1, dtype=np.int64)
        finer[::2], finer[1::2] = bounds, halves
        levels.append(finer)
    node_lo, node_hi = ([np.empty((0, columns), dtype=np.int32)] * len(levels) for _ in range(2))
    leaves = levels[-1]
    node_lo[-1] = np.minimum.reduceat(lo[order], leaves[:-1])
    node_hi[-1] = np.maximum.reduceat(hi[order], leaves[:-1])
    for level in range(len(levels) - 2, -1, -1):
        node_lo[level] = np.minimum(node_lo[level + 1][::2], node_lo[level + 1][1::2])
        node_hi[level] = np.maximum(node_hi[level + 1][::2], node_hi[level + 1][1::2])
    return BoxTree(
        order=order.astype(np.int32),
        start=np.concatenate([bounds[:-1] for bounds in levels]).astype(np.int32),
        end=np.concatenate([bounds[1:] for bounds in levels]).astype(np.int32),
        inner=sum(len(bounds) - 1 for bounds in levels[:-1]),
        lo=np.ascontiguousarray(np.concatenate(node_lo)),
        hi=np.ascontiguousarray(np.concatenate(node_hi)),
    )


def _sorted_by_widest(order: Int64, middles: Float64, bounds: Int64) -> Int64:
    """Return the order, sorted within each part by the column in which the part's boxes lie furthest apart."""
    placed = middles[order]
    spread = np.maximum.reduceat(placed, bounds[:-1]) - np.minimum.reduceat(placed, bounds[:-1])
    part = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    key = placed[np.arange(len(order)), np.argmax(spread, axis=1)[part]]
    sorted_order: Int64 = order[np.lexsort((key, part))]
    return sorted_order
