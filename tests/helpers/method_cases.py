"""Tables and option sets that every registered method is tried on."""

from typing import Literal, Union, get_args, get_origin

import numpy as np
from pydantic import ValidationError
from tables import number_domain, tree_domain

from coterie.methods import Run, all_methods
from coterie.table.table import Table

METHODS = all_methods()
NAMES = list(METHODS)

PLACES = [None, 0, 1, 2, 2, 1, 5, 0, 7, 7, 7, 0]
PLACE_LEAVES = [3, 4, 6, 8, 9, 10, 11]


# Methods that take small tables only, and how many rows the tests give them at most.
MOST_ROWS = {"optimal": 9}


def cut(name, table):
    """The table, or as many of its first rows as the method takes."""
    rows = MOST_ROWS.get(name, table.rows)
    return table if table.rows <= rows else Table(table.codes[:rows].copy(), table.domains)


def mixed_table(rows, seed=0, *, missing=True):
    """Numbers and a ragged tree, weighted, with equal rows and missing values."""
    rng = np.random.default_rng(seed)
    domains = (
        number_domain("age", list(range(20, 60)), weight=2.0),
        tree_domain("place", PLACES, PLACE_LEAVES, missing=missing),
        number_domain("size", [0, 1, 2, 4, 8, 16], missing=missing, weight=0.5),
        tree_domain("sex", [None, 0, 0], [1, 2]),
    )
    columns = [
        rng.binomial(39, 0.3, rows),
        rng.integers(0, domains[1].size, rows),
        rng.binomial(domains[2].size - 1, 0.4, rows),
        rng.integers(0, 2, rows),
    ]
    return Table(np.ascontiguousarray(np.column_stack(columns).astype(np.int32)), domains)


def group(name, table, k, options=None, **run):
    """Run a method with default options unless told otherwise."""
    return METHODS[name].run(table, k, options, Run(**run))


def option_sets(name):
    """The default options, and each choice of a named option by itself."""
    model = METHODS[name].options
    yield model()
    for field, about in model.model_fields.items():
        for value in _choices(about.annotation):
            if value != about.default:
                try:
                    yield model(**{field: value})
                except ValidationError:  # a choice that needs another option beside it
                    continue


def _choices(annotation):
    if annotation is bool:
        return (True, False)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) is Union or "|" in str(annotation):
        return tuple(choice for part in get_args(annotation) for choice in _choices(part))
    return ()
