"""COUNT and SUM on published texts, by listing everything that each cell admits. Slow and plain.

A column is described by a dict:

* `{"kind": "whole", "values": [...]}` or `"real"`: the numbers of the original, `None` for a missing one;
* `{"kind": "category", "values": [...], "labels": {label: [values]}}`: the distinct values and what labels stand for.

A predicate is a function of a value; for real numbers it is a pair (low, high), both ends included.
"""

import random
import re


def interval(cell):
    """The two ends of `[a-b]` or `[a, b]`, else None."""
    plain = re.fullmatch(r"\[([0-9.]+)-([0-9.]+)\]", cell) or re.fullmatch(r"\[(.+), (.+)\]", cell)
    return None if plain is None else (float(plain[1]), float(plain[2]))


def admitted(cell, column):
    """Every value that a cell could be, all equally likely, as (value, weight); real intervals stay one piece."""
    values = list(dict.fromkeys(column["values"]))
    if column["kind"] == "category":
        if cell is None:
            found = [None]
        elif cell in column.get("labels", {}):
            found = column["labels"][cell]
        elif cell == "*":
            found = values
        elif cell.startswith("{"):
            found = cell[1:-1].split(", ")
        else:
            found = [cell]
        return [(value, 1 / len(found)) for value in found]
    if cell is None:
        return [(None, 1.0)]
    known = [value for value in values if value is not None]
    ends = (min(known), max(known)) if cell == "*" and known else interval(cell) or (float(cell), float(cell))
    blank = 1 / len(values) if cell == "*" and None in values else 0.0
    if column["kind"] == "whole":
        every = range(round(ends[0]), round(ends[1]) + 1)
        numbers = [(value, (1 - blank) / len(every)) for value in every]
    else:
        numbers = [(ends, 1 - blank)]
    return numbers + ([(None, blank)] if blank else [])


def likelihood(cell, predicate, column):
    """How likely the cell's value satisfies the predicate, and the expected value where it does."""
    share = total = 0.0
    for value, weight in admitted(cell, column):
        if isinstance(value, tuple):
            low, high = predicate
            first, last = max(low, value[0]), min(high, value[1])
            if value[0] == value[1]:
                part = 1.0 if low <= value[0] <= high else 0.0
            else:
                part = max(0.0, last - first) / (value[1] - value[0])
            share += weight * part
            total += weight * part * (first + last) / 2
        elif isinstance(predicate, tuple):
            inside = value is not None and predicate[0] <= value <= predicate[1]
            share += weight * inside
            total += weight * inside * (value or 0)
        elif predicate(value):
            share += weight
            total += weight * value if isinstance(value, int | float) else 0.0
    return share, total


def estimate(rows, where, columns, sum_of=None):
    """Expected COUNT, or SUM of a column, over rows of published texts (dicts), each row by itself."""
    answer = 0.0
    for row in rows:
        part = 1.0
        for name, predicate in where.items():
            if name != sum_of:
                part *= likelihood(row[name], predicate, columns[name])[0]
        if sum_of is not None:
            anything = (float("-inf"), float("inf"))
            part *= likelihood(row[sum_of], where.get(sum_of, anything), columns[sum_of])[1]
        answer += part
    return answer


def monte_carlo(rows, where, columns, *, rounds, seed):
    """Mean and standard error of the COUNT over worlds in which every cell's value is drawn."""
    draw = random.Random(seed)
    counts = []
    for _ in range(rounds):
        count = 0
        for row in rows:
            satisfied = True
            for name, predicate in where.items():
                pieces = admitted(row[name], columns[name])
                value = draw.choices([piece for piece, _ in pieces], [weight for _, weight in pieces])[0]
                value = draw.uniform(*value) if isinstance(value, tuple) else value
                if isinstance(predicate, tuple):
                    satisfied &= value is not None and predicate[0] <= value <= predicate[1]
                else:
                    satisfied &= predicate(value)
            count += satisfied
        counts.append(count)
    mean = sum(counts) / rounds
    variance = sum((count - mean) ** 2 for count in counts) / (rounds - 1)
    return mean, (variance / rounds) ** 0.5
