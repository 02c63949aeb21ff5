"""Price sets of categories by the values that they list, for the search alone.

NCP charges a category without a hierarchy its whole weight w as soon as two of its n values meet. As a set, a group
with the values S costs w · |S| ÷ n, and nothing if S is one value. So the search is given, in place of the column, n
columns "is it this value?" of weight w ÷ n: the box of a group is wide in such a column exactly if S has the value and
another one. Boxes, index, pruning and local search stay as they are; there are only more columns. Missing values joined
with others are published as `*`: their column weighs w · (1 − 1 ÷ n), so that such a group costs at least w.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.table.domain import Domain
from coterie.values.notation import SET_LIMIT

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.table import Table


def priced_by_sets(table: Table, config: Config) -> Table:
    """Return the table in which methods search: with `cost = "set"`, a column for each value of flat categories.

    Longer sets than `SET_LIMIT` are published as `*`, so columns with more values keep their price.
    """
    if config.cost != "set":
        return table
    codes, domains, both = [], [], pa.array([0, 1])
    for at, domain in enumerate(table.domains):
        column = table.codes[:, at]
        flat = domain.tree is not None and not domain.labelled and config.publish.get(domain.name) != "ancestor"
        if not flat or not 2 < domain.size <= SET_LIMIT:  # of two values, both are all
            codes.append(column)
            domains.append(domain)
            continue
        for code in range(domain.size):
            codes.append((column == code).astype(np.int32))
            share = 1 / domain.size if code != domain.missing else 1 - 1 / domain.size
            name, weight = f"{domain.name} {code}", domain.weight * share
            domains.append(Domain(name, "number", both, np.array([0.0, 1.0]), None, -1, weight, labelled=False))
    if len(domains) == len(table.domains):
        return table
    return replace(table, codes=np.ascontiguousarray(np.column_stack(codes)), domains=tuple(domains))
