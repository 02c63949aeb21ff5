"""CB the slow and obvious way: lists, counted and sorted. Standard library only. Attributes as in `naive_costs.py`."""

from collections import Counter
from fractions import Fraction

from oracles.naive_costs import box_cost, cost

WORD = 2**64
STEP = 0x9E3779B97F4A7C15


def mixed(state):
    """The number that a splitmix64 generator gives at a state."""
    z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def derived(key, number):
    return mixed((key + STEP * (number + 1)) % WORD)


def shuffled(items, key):
    """Fisher–Yates: from the last place down, each swaps with a random place up to itself."""
    items = list(items)
    state = key
    for last in range(len(items) - 1, 0, -1):
        state = (state + STEP) % WORD
        other = (mixed(state) >> 32) * (last + 1) >> 32
        items[last], items[other] = items[other], items[last]
    return items


def span(attribute):
    present = [value for value in attribute["values"] if value is not None]
    return max(present) - min(present) or 1


def number(attribute, code):
    """Distance from the smallest value; missing values are twice the range away."""
    value = attribute["values"][code]
    return 2 * span(attribute) if value is None else value - attribute["values"][0]


def centre_of_row(attributes, row):
    return [
        float(number(attribute, code)) if attribute["kind"] == "number" else code
        for attribute, code in zip(attributes, row, strict=True)
    ]


def centre_of_rows(attributes, rows):
    centre = []
    for j, attribute in enumerate(attributes):
        counts = sorted(Counter(row[j] for row in rows).items())
        if attribute["kind"] == "tree":
            most = max(count for _, count in counts)
            centre.append(next(code for code, count in counts if count == most))
            continue
        missing = sum(count for code, count in counts if attribute["values"][code] is None)
        if missing > len(rows) - missing:
            centre.append(float(2 * span(attribute)))
            continue
        total = 0.0
        for code, count in counts:
            if attribute["values"][code] is not None:
                total += count * float(number(attribute, code))
        centre.append(total / (len(rows) - missing))
    return centre


def distance(attributes, row, centre, other):
    """NCP(row ∪ centre), over the attributes in which the two centres differ."""
    total = 0.0
    for j, attribute in enumerate(attributes):
        if centre[j] == other[j]:
            continue
        if attribute["kind"] == "tree":
            total += cost(attribute, [row[j], centre[j]])
        else:
            weight = attribute["weight"]
            total += min(weight * (abs(number(attribute, row[j]) - centre[j]) / span(attribute)), weight)
    return total


def deal(rows, attributes, part, centres, order, k, grown=False):
    """Two sets of rows around the centres, and whether a tie had to be settled.

    With `grown`, another reading: the second penalty is that of the half as it has grown, NCP(G₂ ∪ w) (section 3),
    not that of its centre (Fig. 4).
    """
    halves = [set(), set()]
    ties = False
    for row in order:
        far = [distance(attributes, rows[row], centres[s], centres[1 - s]) for s in range(2)]
        if grown and halves[1]:
            # The second is a whole box: the first is not left out where centres agree.
            far[0] = distance(attributes, rows[row], centres[0], [None] * len(attributes))
            far[1] = box_cost(attributes, [rows[other] for other in sorted(halves[1] | {row})])
        if far[0] == far[1]:
            ties = True
            halves[0 if len(halves[0]) <= len(halves[1]) else 1].add(row)
        else:
            halves[0 if far[0] < far[1] else 1].add(row)
    for s in range(2):
        if len(halves[s]) < k:
            others = sorted(
                halves[1 - s],
                key=lambda row, s=s: (distance(attributes, rows[row], centres[s], centres[1 - s]), row),
            )
            borrowed = set(others[: k - len(halves[s])])
            halves[s] |= borrowed
            halves[1 - s] -= borrowed
    return halves, ties


def diverse(group, sensitive):
    return all(
        max(Counter(values[row] for row in group).values()) * Fraction(least) <= len(group)
        for values, least in sensitive
    )


def best_halves(rows, attributes, part, key, k, *, tries, rounds, restarts, sensitive, grown=False):
    best = None
    least = float("inf")
    round_number = 0
    halves = None
    for t in range(tries):
        round_number += 1
        order = shuffled(part, derived(key, 2 + t))
        if round_number == 1:
            centres = [centre_of_row(attributes, rows[row]) for row in order[:2]]
        else:
            centres = [centre_of_rows(attributes, [rows[row] for row in half]) for half in halves]
        before = halves
        halves, ties = deal(rows, attributes, part, centres, order, k, grown)
        loss = sum(
            (len(half) * box_cost(attributes, [rows[row] for row in sorted(half)]) for half in halves[1:]),
            start=len(halves[0]) * box_cost(attributes, [rows[row] for row in sorted(halves[0])]),
        )
        if loss < least and all(diverse(half, sensitive) for half in halves):
            least = loss
            best = halves
        if restarts and (round_number == rounds or (round_number > 1 and halves == before and not ties)):
            round_number = 0
    return best


def deals(listed, values, number, least):
    """Whether every way of dealing rows in this order to so many groups is l-diverse: all groups as small as one is."""
    most = max(Counter(values[row] for row in listed).values())
    return -(-most // number) * Fraction(least) <= len(listed) // number


def joined(pieces, number):
    """Join pieces round-robin to so many groups; what an incomplete last turn has goes to the last groups."""
    full = len(pieces) // number * number
    groups = [pieces[at:full:number] for at in range(number)]
    for group, piece in zip(reversed(groups), pieces[full:], strict=False):
        group.append(piece)
    return [[row for piece in group for row in piece] for group in groups]


def round_robin(part, k, sensitive):
    """Fig. 5 for as many groups as the most frequent value allows, or for smaller ones that are joined."""
    if not sensitive:
        return [part]
    values, least = sensitive[0]
    listed = sorted(part, key=lambda row: (values[row], row))
    finest = int(len(part) / Fraction(least))
    while finest > 1 and not deals(listed, values, finest, least):
        finest -= 1
    pieces = [listed[at::finest] for at in range(finest)]
    number = len(part) // k
    while number > 1:
        groups = [listed[at::number] for at in range(number)]
        if not deals(listed, values, number, least):
            groups = joined(pieces, number)
        if min(map(len, groups)) < k:
            number -= 1
        elif not all(diverse(group, sensitive[1:]) for group in groups):
            number //= 2
        else:
            return groups
    return [part]


def cb(rows, attributes, k, *, key, tries=15, rounds=15, restarts=True, sensitive=(), grown=False):
    """Groups as sorted lists of row numbers, in the order of their first rows.

    `sensitive` lists pairs: the values of a column by row, and l. `grown` is another reading, that of `deal`.
    """
    made = []
    waiting = [(list(range(len(rows))), key)]
    while waiting:
        part, key = waiting.pop()
        halves = None
        if len(part) >= 2 * k:
            ways = {"tries": tries, "rounds": rounds, "restarts": restarts, "sensitive": sensitive, "grown": grown}
            halves = best_halves(rows, attributes, part, key, k, **ways)
        if halves is None:
            made += round_robin(part, k, sensitive)
        else:
            waiting += [(sorted(half), derived(key, s)) for s, half in enumerate(halves)]
    return sorted(sorted(group) for group in made)
