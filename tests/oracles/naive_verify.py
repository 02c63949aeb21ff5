"""The slow, obvious twin of `verify`: a Counter over tuples. Imports nothing but the standard library."""

from collections import Counter
from math import isnan

MISSING = ("missing",)


def cell(value):
    """A cell as what it is compared by: null and NaN are one value, −0.0 is 0.0."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return MISSING
    if isinstance(value, float) and value == 0:
        return 0.0
    return value


def verify(columns, k):
    """Lists of cells, one per quasi-identifier → what a verification says."""
    rows = [tuple(cell(value) for value in row) for row in zip(*columns, strict=True)]
    sizes = Counter(rows)
    below = {row: size for row, size in sizes.items() if size < k}
    number = {row: position for position, row in enumerate(dict.fromkeys(rows))}
    return {
        "rows": len(rows),
        "groups": len(sizes),
        "k": min(sizes.values(), default=0),
        "largest": max(sizes.values(), default=0),
        "rows_below": sum(below.values()),
        "classes_below": len(below),
        "missing_cells": sum(value == MISSING for row in rows for value in row),
        "suppressed": sum(size for row, size in sizes.items() if all(value == "*" for value in row)),
        "passed": not below,
        "class_of_row": [number[row] for row in rows],
    }
