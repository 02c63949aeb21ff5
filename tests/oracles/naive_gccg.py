"""GCCG the slow and obvious way: lists, scanned and sorted. Standard library only. Domains as in `naive_costs.py`."""

from fractions import Fraction

from oracles.naive_costs import box_cost


def scores(rows):
    """Row → the sum of the relative frequencies of its values."""
    n = len(rows)
    columns = list(zip(*rows, strict=True))
    return [sum(Fraction(column.count(value), n) for column, value in zip(columns, row, strict=True)) for row in rows]


def sorted_rows(rows):
    """Row numbers by falling score; equal scores keep their order."""
    score = scores(rows)
    return sorted(range(len(rows)), key=lambda row: -score[row])


def nearest(rows, attributes, centre, others, count, distance):
    """The `count` nearest of the others; of two that are as near, the one that stands first."""

    def far(row):
        return box_cost(attributes, [rows[centre], rows[row]], distance)

    return sorted(others, key=far)[:count]


def halve(rows, attributes, part, k, limit, distance):
    if len(part) <= limit or len(part) < 2 * k:
        return [part]
    first, *others = part
    near = {first, *nearest(rows, attributes, first, others, len(part) // 2 - 1, distance)}
    halves = [row for row in part if row in near], [row for row in part if row not in near]
    return [piece for half in halves for piece in halve(rows, attributes, half, k, limit, distance)]


def classes(rows, attributes, part, k, distance):
    free = list(part)
    made = []
    for _ in range(len(part) // k - 1):
        centre, *others = free
        made.append([centre, *nearest(rows, attributes, centre, others, k - 1, distance)])
        free = [row for row in free if row not in made[-1]]
    return [*made, free]


def gccg(rows, attributes, k, *, parts=1, distance="height"):
    """Classes as sorted lists of row numbers, in the order of their first rows."""
    limit = -(-len(rows) // parts)
    pieces = halve(rows, attributes, sorted_rows(rows), k, limit, distance)
    made = [group for part in pieces for group in classes(rows, attributes, part, k, distance)]
    return sorted(sorted(group) for group in made)
