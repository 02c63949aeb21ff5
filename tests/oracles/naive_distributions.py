"""Histograms, associations and features of published texts, one row at a time."""

import math
from itertools import pairwise

from oracles import naive_queries


def category_shares(cells, column):
    """Value → expected share of rows."""
    shares = dict.fromkeys(column["values"], 0.0)
    for cell in cells:
        for value, weight in naive_queries.admitted(cell, column):
            shares[value] += weight / len(cells)
    return shares


def number_shares(cells, column, edges):
    """Bin → expected share of rows; whole numbers in [edge, next edge), real ones too but for the last bin."""
    shares = [0.0] * (len(edges) - 1)
    for cell in cells:
        for value, weight in naive_queries.admitted(cell, column):
            for at, (low, high) in enumerate(pairwise(edges)):
                if isinstance(value, tuple) and value[0] < value[1]:
                    shares[at] += weight * max(0.0, min(high, value[1]) - max(low, value[0])) / (value[1] - value[0])
                else:
                    point = value[0] if isinstance(value, tuple) else value
                    last = at == len(edges) - 2
                    shares[at] += weight * (low <= point < high or (last and point == high))
    return [share / len(cells) for share in shares]


def variation(first, second):
    """Total variation distance of two lists of shares."""
    return sum(abs(one - two) for one, two in zip(first, second, strict=True)) / 2


def contingency(rows, first, second, columns):
    """(value, value) → expected number of rows, the two cells of a row taken as independent within it."""
    counts = {}
    for row in rows:
        for one, weight in naive_queries.admitted(row[first], columns[first]):
            for two, other in naive_queries.admitted(row[second], columns[second]):
                counts[one, two] = counts.get((one, two), 0.0) + weight * other
    return counts


def cramers_v(counts):
    """Cramér's V from its definition; None if a column has one value only."""
    total = sum(counts.values())
    one, two = {}, {}
    for (first, second), count in counts.items():
        one[first] = one.get(first, 0.0) + count
        two[second] = two.get(second, 0.0) + count
    if min(len(one), len(two)) < 2:
        return None
    square = 0.0
    for first in one:
        for second in two:
            expected = one[first] * two[second] / total
            square += (counts.get((first, second), 0.0) - expected) ** 2 / expected
    return math.sqrt(square / (total * (min(len(one), len(two)) - 1)))


def middle(cell, column):
    """The middle of a number's cell; None for a missing one."""
    pieces = [value for value, _ in naive_queries.admitted(cell, column) if value is not None]
    if not pieces:
        return None
    ends = [end for value in pieces for end in (value if isinstance(value, tuple) else (value, value))]
    return (min(ends) + max(ends)) / 2


def correlation(pairs):
    """Pearson's correlation of (x, y) pairs; None if one is constant."""
    known = [(x, y) for x, y in pairs if x is not None and y is not None]
    if len({x for x, _ in known}) < 2 or len({y for _, y in known}) < 2:
        return None
    mean_x, mean_y = (sum(values) / len(known) for values in zip(*known, strict=True))
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in known)
    squares = sum((x - mean_x) ** 2 for x, _ in known), sum((y - mean_y) ** 2 for _, y in known)
    return covariance / math.sqrt(squares[0] * squares[1])


def correlation_ratio(rows, number, category, columns):
    """η of a number's middles over a category's values, each row shared by the values it admits."""
    weighted = {}
    numbers = []
    for row in rows:
        x = middle(row[number], columns[number])
        if x is None:
            continue
        numbers.append(x)
        for value, weight in naive_queries.admitted(row[category], columns[category]):
            weighted.setdefault(value, []).append((x, weight))
    if len(set(numbers)) < 2:
        return None
    mean = sum(numbers) / len(numbers)
    between = 0.0
    for pairs in weighted.values():
        mass = sum(weight for _, weight in pairs)
        between += mass * (sum(x * weight for x, weight in pairs) / mass - mean) ** 2
    return math.sqrt(between / sum((x - mean) ** 2 for x in numbers))


def features(row, columns, ranges):
    """What a model is told of a row: middles in 0 … 1 (and how likely a number is missing), a share for each value."""
    found = []
    for name, column in columns.items():
        if column["kind"] == "category":
            shares = dict(naive_queries.admitted(row[name], column))
            found += [shares.get(value, 0.0) for value in ranges[name]]
        else:
            low, high = ranges[name]
            x = middle(row[name], column)
            found.append(0.5 if x is None else (x - low) / ((high - low) or 1.0))
            if None in column["values"]:
                found.append(
                    sum(weight for value, weight in naive_queries.admitted(row[name], column) if value is None)
                )
    return found
