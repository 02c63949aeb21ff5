"""GCCG the slow and obvious way: lists, scanned and sorted. Standard library only. Domains as in `naive_costs.py`.

`grading` and `graded` also have readings other than ours, which the paper's tables refute.
"""

from fractions import Fraction

from oracles.naive_costs import box_cost


def scores(rows):
    """Row → the sum of the relative frequencies of its values."""
    n = len(rows)
    columns = list(zip(*rows, strict=True))
    return [sum(Fraction(column.count(value), n) for column, value in zip(columns, row, strict=True)) for row in rows]


def scores_by_value(rows, attributes, k):
    """The same for categories; a number counts as its value ÷ K, as section 4.2 has it to the letter."""
    categories = [j for j, attribute in enumerate(attributes) if attribute["kind"] == "tree"]
    shares = scores([[row[j] for j in categories] for row in rows])
    numbers = [(j, each["values"]) for j, each in enumerate(attributes) if each["kind"] == "number"]
    return [
        share + sum(Fraction(values[row[j]]) / k for j, values in numbers)
        for share, row in zip(shares, rows, strict=True)
    ]


def sorted_rows(rows, score=None):
    """Row numbers by falling score; equal scores keep their order."""
    score = scores(rows) if score is None else score
    return sorted(range(len(rows)), key=lambda row: -score[row])


def graded_again(rows, part):
    """The rows of a part by their scores among themselves."""
    return [part[at] for at in sorted_rows([rows[row] for row in part])]


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


def classes(rows, attributes, part, k, distance, graded="once"):
    free = list(part)
    made = []
    for _ in range(len(part) // k - 1):
        if graded == "for each class":
            free = graded_again(rows, free)
        centre, *others = free
        made.append([centre, *nearest(rows, attributes, centre, others, k - 1, distance)])
        free = [row for row in free if row not in made[-1]]
    return [*made, free]


def gccg(rows, attributes, k, *, parts=1, distance="height", grading="share", graded="once"):
    """Classes as sorted lists of row numbers, in the order of their first rows."""
    limit = -(-len(rows) // parts)
    order = sorted_rows(rows, scores_by_value(rows, attributes, k) if grading == "value" else None)
    pieces = halve(rows, attributes, order, k, limit, distance)
    if graded == "in each part":
        pieces = [graded_again(rows, sorted(part)) for part in pieces]
    made = [group for part in pieces for group in classes(rows, attributes, part, k, distance, graded)]
    return sorted(sorted(group) for group in made)
