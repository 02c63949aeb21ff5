"""The walk down a tree against a recursion, and the least leaf against all leaves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.kernels import loop
from coterie.kernels.search.walk import comes_after, nearer_on_top, new_walk, offer, pop, set_out

LEVELS = 4
INNER = 2 ** (LEVELS - 1) - 1  # nodes below this have the children 2 · node + 1 and 2 · node + 2


@loop
def _least(cost, lowest, visited, walk):
    """The least leaf, ties by number, and how many nodes were looked at."""
    best, best_row, found, count = np.inf, np.int64(2**31), -1, 0
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        visited[count] = node
        count += 1
        if comes_after(bound, lowest[node], best, best_row):
            continue
        if node >= INNER:
            if comes_after(best, best_row, cost[node], lowest[node]):
                best, best_row, found = cost[node], lowest[node], node
            continue
        before = top
        for child in range(2 * node + 1, 2 * node + 3):
            top = offer(walk, top, child, cost[child], best)
        nearer_on_top(walk, top, before, lowest)
    return found, count


def order_of(cost, lowest):
    """The nodes in the order in which the walk must look at them: nearer children first, worse ones not at all."""
    best = (np.inf, 2**31)
    visited = []

    def look(node):
        nonlocal best
        visited.append(node)
        if (cost[node] if node else -np.inf, lowest[node]) > best:
            return
        if node >= INNER:
            best = min(best, (cost[node], lowest[node]))
            return
        children = [child for child in (2 * node + 1, 2 * node + 2) if cost[child] <= best[0]]
        for child in sorted(children, key=lambda child: (cost[child], lowest[child])):
            look(child)

    look(0)
    return visited


@given(st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0]), min_size=2**LEVELS - 1, max_size=2**LEVELS - 1), st.data())
def test_the_walk_goes_to_the_nearer_child_first_and_finds_the_least(cost, data):
    leaves = range(INNER, 2**LEVELS - 1)
    lowest = np.zeros(len(cost), dtype=np.int64)
    lowest[INNER:] = data.draw(st.permutations(range(len(leaves))))
    for node in range(INNER - 1, -1, -1):  # a node is no dearer than what is below it
        below = [2 * node + 1, 2 * node + 2]
        cost[node] = min(cost[node], *(cost[child] for child in below))
        lowest[node] = lowest[below].min()
    visited = np.empty(len(cost), dtype=np.int64)
    found, count = _least(np.array(cost), lowest, visited, new_walk())
    assert found == min(leaves, key=lambda leaf: (cost[leaf], lowest[leaf]))
    assert visited[:count].tolist() == order_of(cost, lowest)
