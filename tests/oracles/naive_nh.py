"""NH the slow and obvious way: lists of rows, every cost from scratch, walks that are written down and cut.

Domains as in `naive_costs.py`. Numpy only for the same random numbers.
"""

import hashlib

import numpy as np
from oracles.naive_costs import box_cost

MASK = 2**64 - 1


def far_apart(cost, part, row):
    one = two = row
    for _ in range(3):
        one, distances = two, [cost([two, other]) for other in part]
        if max(distances) == 0:
            return None
        two = part[distances.index(max(distances))]
    return one, two


def price(compare, cost, side, row):
    """What it counts for to put a row on a side, which begins with its seed."""
    if compare == "seed":
        return cost([side[0], row])
    joined, before = cost([*side, row]), cost(side)
    return {"increase": joined + len(side) * (joined - before), "enlarge": joined - before, "side": joined}[compare]


def take_sides(cost, part, one, two, size, compare):
    sides = [one], [two]
    for row in sorted(part, key=lambda row: -abs(cost([one, row]) - cost([two, row]))):
        if row in (one, two):
            continue
        prices = [(price(compare, cost, side, row), len(side)) for side in sides]
        sides[int(prices[1] < prices[0])].append(row)
    taken = [set(side) for side in sides]
    for needy, seed in enumerate((one, two)):
        others = sorted((row for row in part if row not in taken[needy]), key=lambda row: cost([seed, row]))
        borrowed = set(others[: max(size - len(taken[needy]), 0)])
        taken[needy] |= borrowed
        taken[1 - needy] -= borrowed
    return [[row for row in part if row in side] for side in taken]


def greedy_parts(cost, part, size, tries, compare, draw):
    if len(part) < 2 * size:
        return [part]
    best, best_cost = None, float("inf")
    for _ in range(tries):
        seeds = far_apart(cost, part, part[int(draw() * len(part))])
        if seeds is None:
            return [part]
        sides = take_sides(cost, part, *seeds, size, compare)
        total = sum(len(side) * cost(side) for side in sides)
        if total < best_cost:
            best, best_cost = sides, total
    return [piece for side in best for piece in greedy_parts(cost, side, size, tries, compare, draw)]


def tour(cost, rows, part):
    """The rows of a part, from each to the nearest not yet met; equal rows together."""
    seen = {}
    for number, row in enumerate(rows):
        seen.setdefault(tuple(row), number)
    points = sorted({seen[tuple(rows[row])] for row in part})  # each by the first row of the table that equals it
    walk = [points.pop(0)]
    while points:
        walk.append(min(points, key=lambda point: (cost([walk[-1], point]), point)))
        points.remove(walk[-1])
    return [row for point in walk for row in part if rows[row] == rows[point]]


def boxes(rows, ring, k):
    """Slot → (smallest codes, largest codes) of k rows from its place on."""
    made = []
    for place in range(len(ring)):
        held = [rows[ring[(place + step) % len(ring)]] for step in range(k)]
        made.append(([min(codes) for codes in zip(*held, strict=True)], [max(c) for c in zip(*held, strict=True)]))
    return made


def split_mix(state):
    """Random whole numbers below a bound."""

    def below(bound):
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (((z ^ (z >> 31)) >> 32) * bound) >> 32

    return below


def matching(edges, m, left, below):
    """A perfect matching of rows and slots: slot → row. In each row's edges, the matched moves to place left − 1."""
    owner = {}
    for start in range(m):
        walk = [(start, below(left))]
        while (slot := (walk[-1][0] - edges[walk[-1][0]][walk[-1][1]]) % m) in owner:
            walk.append((owner[slot], below(left - 1)))
        path = []
        for row, at in walk:
            met = [other for other, _ in path]
            path = path[: met.index(row)] if row in met else path
            path.append((row, at))
        for row, at in path:
            owner[(row - edges[row][at]) % m] = row
            edges[row][at], edges[row][left - 1] = edges[row][left - 1], edges[row][at]
    return owner


def matchings(m, k, seed):
    """k matchings without a common edge, each as offset of row → offset of slot."""
    below = split_mix(seed)
    edges = [list(range(k)) for _ in range(m)]
    made = []
    for done in range(k):
        owner = matching(edges, m, k - done, below)
        made.append({row: slot for slot, row in owner.items()})
    return made


def slots(sizes, k, key, assignment):
    """Ring → offset of row → offset of slot."""
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(key.encode()).digest(), "big"))
    picks = rng.integers(0, k, size=len(sizes)).tolist()
    if assignment == "rotation":
        return [{row: (row - pick) % m for row in range(m)} for m, pick in zip(sizes, picks, strict=True)]
    seeds = rng.integers(0, 2**64, size=len(sizes), dtype=np.uint64).tolist()
    return [matchings(m, k, seed)[pick] for m, pick, seed in zip(sizes, picks, seeds, strict=True)]


def nh(rows, attributes, k, *, key, seed=0, part_size=None, tries=4, compare="increase", assignment="matching"):
    """Rings as lists of rows in the order of their first rows, and row → (smallest, largest codes) published."""

    def cost(numbers):
        return box_cost(attributes, [rows[number] for number in numbers])

    size = max(k, part_size or k)
    draws = iter(np.random.default_rng(seed).random((tries + 1) * (len(rows) // size + 1)).tolist())
    parts = greedy_parts(cost, list(range(len(rows))), size, tries, compare, lambda: next(draws))
    rings = [tour(cost, rows, part) for part in sorted(parts)]
    published = {}
    for ring, slot_of in zip(rings, slots([len(ring) for ring in rings], k, key, assignment), strict=True):
        made = boxes(rows, ring, k)
        for offset, row in enumerate(ring):
            published[row] = made[slot_of[offset]]
    return rings, [published[row] for row in range(len(rows))]
