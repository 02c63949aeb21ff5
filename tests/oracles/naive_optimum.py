"""The least loss of any grouping into groups of at least k rows, by trying them all. Up to nine rows or so.

Standard library only; attributes as in `naive_costs`.
"""

from oracles.naive_costs import box_cost


def partitions(rows, k):
    """Every way to part a list of row numbers into groups of at least k."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for chosen in range(1 << len(rest)):
        group = [first, *(row for i, row in enumerate(rest) if chosen >> i & 1)]
        if len(group) >= k:
            left = [row for i, row in enumerate(rest) if not chosen >> i & 1]
            if not 0 < len(left) < k:
                for others in partitions(left, k):
                    yield [group, *others]


def loss(rows, attributes, groups, leaf_counts="present"):
    """Cost of every row in its group, summed."""
    return sum(
        len(group) * box_cost(attributes, [rows[row] for row in group], leaf_counts=leaf_counts) for group in groups
    )


def optimum(rows, attributes, k, leaf_counts="present"):
    """The least loss of all; every group's cost is worked out once."""
    known = {}

    def cost(group):
        key = tuple(group)
        if key not in known:
            known[key] = loss(rows, attributes, [group], leaf_counts)
        return known[key]

    return min(sum(map(cost, groups)) for groups in partitions(list(range(len(rows))), k))
