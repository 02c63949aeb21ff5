"""The distance between the sensitive values of a class and of the release: Li, Li, Venkatasubramanian 2007.

The earth mover's distance is the least work that turns one distribution into the other. For a class of s rows, c of
which have a value, in a release of n rows, t of which do, the difference of the shares is (c · n − t · s) / (n · s).
The paper's sections 4.1 (equal, ordered) and 4.2 (hierarchical) give the work for three distances between values:

    equal           Σ |difference| / 2                                  over all values
    ordered         Σ |difference of what is at or below| / (m − 1)     over all m values in their order
    hierarchical    Σ weight · |difference of what is below| / (2 · height of the root)        over all nodes,
                    where the weight of a node is the height of its parent minus its own

(4.2 writes the last as a sum over inner nodes of what moves between their children. Giving each edge the weight above
makes the path between two leaves twice the height of their lowest common ancestor; in a tree the least work is then
what must pass each edge.) Sums are integers, given with their divisors. Values that a class lacks
are never visited one by one: they differ by t · s each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int64
from coterie.verification.exact import Whole, wide

if TYPE_CHECKING:
    from coterie.verification.counts import ClassValues
    from coterie.verification.sensitive import Sensitive


class Ratio(NamedTuple):
    """Class → a fraction of integers."""

    above: Whole
    below: Whole

    @property
    def floats(self) -> Float64:
        """Class → the fraction, for display."""
        return np.asarray(self.above / self.below, dtype=np.float64)


def distance(pairs: ClassValues, table: Sensitive, kind: str) -> Ratio:
    """Return class → its distance from the release."""
    return {"equal": _equal, "ordered": _ordered, "hierarchical": _hierarchical}[kind](pairs, table)


def _equal(pairs: ClassValues, table: Sensitive) -> Ratio:
    n = table.rows
    c, t, s = wide(4 * n * pairs.largest_class, pairs.rows, table.totals[pairs.value], pairs.sizes)
    expected = t * s[pairs.of]
    work = s * n + pairs.sum(abs(c * n - expected) - expected)
    return Ratio(work, 2 * n * s)


def _ordered(pairs: ClassValues, table: Sensitive) -> Ratio:
    n, m = table.rows, len(table.totals)
    if m < 2:
        return Ratio(np.zeros_like(pairs.sizes), np.ones_like(pairs.sizes))
    at_most = np.cumsum(table.totals)  # value → rows of the release at or below it
    summed = np.concatenate([[0], np.cumsum(at_most)])
    s, summed = wide(4 * m * n * pairs.largest_class, pairs.sizes, summed)
    # From each value that a class holds up to the next one, the rows at or below stay the same: a step.
    first = pairs.starts
    begin, end = pairs.value, np.append(pairs.value[1:], m)
    end[np.append(first[1:], len(end)) - 1] = m
    running = np.cumsum(pairs.rows)
    held = (running - (running[first] - pairs.rows[first])[pairs.of]).astype(s.dtype) * n
    size = s[pairs.of]
    # Along a step the release catches up: up to `turn` it has the smaller share, from there the larger one.
    turn = np.clip(np.searchsorted(at_most, (held // size).astype(np.int64), side="right"), begin, end)
    ahead = held * (turn - begin) - size * (summed[turn] - summed[begin])
    behind = size * (summed[end] - summed[turn]) - held * (end - turn)
    return Ratio(s * summed[begin[first]] + pairs.sum(ahead + behind), (m - 1) * n * s)


def _hierarchical(pairs: ClassValues, table: Sensitive) -> Ratio:
    tree, n = table.tree, table.rows
    assert tree is not None, "refused before: the column has no hierarchy"
    if tree.height == 0:
        return Ratio(np.zeros_like(pairs.sizes), np.ones_like(pairs.sizes))
    s, weight = wide(4 * tree.height * n * pairs.largest_class, pairs.sizes, tree.weight)
    work = np.zeros_like(s)
    for nodes in tree.path.T:  # level by level: a node is on one of them only
        t = np.bincount(nodes[nodes >= 0], weights=table.totals[nodes >= 0], minlength=len(weight)).astype(s.dtype)
        of, node, c = _beneath(pairs, nodes)
        expected = t[node] * s[of]
        work += s * int((weight * t).sum())
        np.add.at(work, of, (abs(c.astype(s.dtype) * n - expected) - expected) * weight[node])
    return Ratio(work, 2 * tree.height * n * s)


def _beneath(pairs: ClassValues, nodes: Int64) -> tuple[Int64, Int64, Int64]:
    """Return (class, node, rows below it), for the nodes of a level below which a class has rows."""
    held = np.flatnonzero(nodes[pairs.value] >= 0)
    most = int(nodes.max(initial=0)) + 1
    keys = pairs.of[held] * most + nodes[pairs.value[held]]
    order = np.argsort(keys, kind="stable")  # hardly any work: values are in the order of the tree
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    beneath = np.add.reduceat(pairs.rows[held][order], first) if len(first) else first
    of, node = np.divmod(keys[order][first], most)
    return of, node, beneath
