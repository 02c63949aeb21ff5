"""Price sets of categories by the values that they list, for the search alone.

NCP charges a category without a hierarchy its whole weight w as soon as two of its n values meet. As a set, a group
with the values S costs w · |S| ÷ n, and nothing if S is one value. So the search is given, in place of the column, n
columns "is it this value?" of weight w ÷ n: the box of a group is wide in such a column exactly if S has the value and
another one. Boxes, index, pruning and local search stay as they are; there are only more columns. Missing values joined
with others are published as `*`: their column weighs w · (1 − 1 ÷ n), so that such a group costs at least w. Sets of
more than `SET_LIMIT` values are published as `*`, too, and are still priced by their number, as no sum of columns can
be capped; groups of few rows do not reach it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.table.domain import Domain

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.table import Table

PRICED_VALUES = 200
"""values of all columns together that are priced by sets: time and memory of the search grow with their number"""


def priced_by_sets(table: Table, config: Config) -> Table:
    """Return the table in which methods search: with `cost = "set"`, a column for each value of flat categories."""
    priced, _ = _columns(table.domains, config)
    if not priced:
        return table
    codes, domains, both = [], [], pa.array([0, 1])
    for at, domain in enumerate(table.domains):
        column = table.codes[:, at]
        if at not in priced:
            codes.append(column)
            domains.append(domain)
            continue
        for code in range(domain.size):
            codes.append((column == code).astype(np.int32))
            share = 1 / domain.size if code != domain.missing else 1 - 1 / domain.size
            name, weight = f"{domain.name} {code}", domain.weight * share
            domains.append(Domain(name, "number", both, np.array([0.0, 1.0]), None, -1, weight, labelled=False))
    return replace(table, codes=np.ascontiguousarray(np.column_stack(codes)), domains=tuple(domains))


def sets_note(domains: Sequence[Domain], config: Config) -> str:
    """Return a note on the columns that `cost = "set"` leaves out, or on its having no effect; "" if there is none."""
    priced, large = _columns(domains, config)
    if large:
        named = ", ".join(f"{domains[at].name} ({domains[at].size:,} values)" for at in sorted(large))
        return (
            f'cost = "set" does not apply to {named}: it takes columns of up to {PRICED_VALUES} values in total, those '
            "with the fewest values first. Any two values of a column that is left out cost as much as all of them."
        )
    if config.cost == "set" and not priced:
        return 'cost = "set" has no effect: no quasi-identifier is published as sets of three or more values.'
    return ""


def _columns(domains: Sequence[Domain], config: Config) -> tuple[list[int], list[int]]:
    """Return the positions of flat categories that are priced by sets, and of those with too many values for it."""
    flat = [
        at
        for at, domain in enumerate(domains)
        if config.cost == "set"
        and domain.tree is not None
        and not domain.labelled
        and domain.size > 2  # of two values, both are all
        and config.publish.get(domain.name) != "ancestor"
    ]
    flat.sort(key=lambda at: domains[at].size)
    fit = int(np.searchsorted(np.cumsum([domains[at].size for at in flat]), PRICED_VALUES, side="right"))
    return flat[:fit], flat[fit:]
