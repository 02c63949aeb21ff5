"""What a row could have had, by looking at everything. Standard library only; attributes as in `naive_costs`."""

from itertools import combinations

from oracles.naive_costs import box_cost, cost


def nearest(rows, attributes, row, count):
    """The other rows by what a box with this one costs, lowest number first among equals."""
    others = [other for other in range(len(rows)) if other != row]
    return sorted(others, key=lambda other: (box_cost(attributes, [rows[row], rows[other]]), other))[:count]


def at_least(rows, attributes, row, k):
    """The (k − 1)-th smallest cost of a box of this row and another one."""
    pairs = sorted(box_cost(attributes, [rows[row], rows[other]]) for other in range(len(rows)) if other != row)
    return pairs[k - 2] if k > 1 else 0.0


def smallest(rows, attributes, row, k):
    """The cost of the cheapest box that holds this row and k rows in all: every choice of the others is tried."""
    others = [other for other in range(len(rows)) if other != row]
    return min(
        box_cost(attributes, [rows[row], *(rows[other] for other in chosen)]) for chosen in combinations(others, k - 1)
    )


def most_rows(rows, attributes, row, limit):
    """The most rows that a box around this row of at most this cost holds: every choice of rows is tried."""
    others = [other for other in range(len(rows)) if other != row]
    return max(
        1 + size
        for size in range(len(rows))
        for chosen in combinations(others, size)
        if box_cost(attributes, [rows[row], *(rows[other] for other in chosen)]) <= limit
    )


def held(rows, members):
    """The rows within the box of these rows."""
    columns = list(zip(*(rows[member] for member in members), strict=True))
    return [
        row
        for row, codes in enumerate(rows)
        if all(min(column) <= code <= max(column) for code, column in zip(codes, columns, strict=True))
    ]


def grown(rows, attributes, row, *, wanted=None, budget=float("inf")):
    """(cost, rows) of a box grown from one row by the cheapest row outside it, again and again."""
    members = held(rows, [row])
    path = []
    while True:
        path.append((box_cost(attributes, [rows[member] for member in members]), len(members)))
        outside = [other for other in range(len(rows)) if other not in members]
        if not outside or (wanted is not None and len(members) >= wanted):
            return path
        price, best = min(
            (box_cost(attributes, [*(rows[member] for member in members), rows[other]]), other) for other in outside
        )
        if price > budget:
            return path
        members = held(rows, [*members, best])


def without(rows, attributes, row, column, k):
    """`at_least` if one attribute costs nothing."""
    totals = sorted(
        sum(cost(each, {rows[row][j], other[j]}) for j, each in enumerate(attributes) if j != column) for other in rows
    )
    return totals[k - 1]
