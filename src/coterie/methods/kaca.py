"""KACA: Li, Wong, Fu, Pei, "Achieving k-anonymity by clustering in attribute hierarchical structures", 2006.

Algorithm 1: form classes of identical rows; while one of them has fewer than k rows, choose such a class C at random,
find the class C' nearest to it, and generalize both to their closest common generalization. Definition 10: with n₁
tuples t₁ in C, n₂ tuples t₂ in C' and t₁₂ the closest common generalization, the distance is n₁ · Distortion(t₁, t₁₂)
+ n₂ · Distortion(t₂, t₁₂). Tuples are taken as generalized so far. Definitions 5 and 6: a distortion
is a sum of WHD(p, q), the weights between the levels p and q ÷ all weights; as WHD(p, q) = WHD(h, q) − WHD(h, p) for
the lowest level h, it is the difference of what the two boxes cost. Definition 11: if C and C' have 2k rows or more
together, only a stub of k − |C| rows of C' joins C, in the distance too, and the trunk stays as it is.

Deviations
    * Attribute weights multiply an attribute's distortion; the paper has none.
    * Numbers without a hierarchy are allowed: generalizing one interval to another costs the increase of its width
      ÷ the range of the column. The paper's numbers have hierarchies, which `intervals` provides.
    * Leaves of a ragged hierarchy count as being on its lowest level.
    * `suppress_above` makes the paper's remark on outliers precise: the distance is taken per row that would be
      generalized, and the whole class is suppressed.
    * What is published is the tightest generalization of a class's rows. A trunk or a merged stub may need less than
      the class that it was cut from.

Line 1 of Algorithm 1 forms "equivalence classes from the data set", of which there are "normally … significantly less"
than rows: `start="classes"`, the default, begins with classes of identical rows and leaves those of k rows or more as
they are. "One tuple is also called an equivalent class" can be read as a separate class for each row, whatever its
values: `start="rows"`. Identical rows then still join first, at distance 0, but classes rarely grow much beyond k rows.

What the paper leaves open: the class to merge is drawn uniformly from those that are too small (a step takes one random
number u from [0, 1) and picks entry ⌊u · count⌋ of the list of small classes, which begins in the order of the rows;
an entry that leaves is replaced by the last one, a merged class that is still small goes to the end). Among classes
equally near, the one with the lowest row wins. The stub takes the lowest rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from coterie.arrays import Int32, Int64
from coterie.errors import Problem, refuse
from coterie.grouping.box_index import BoxIndex, build_box_index
from coterie.methods._method import PaperOptions, Run, method
from coterie.table.costs import Measure
from coterie.table.grouping import Grouping
from coterie.table.table import Distinct, Table

if TYPE_CHECKING:
    from coterie.kernels.methods.kaca import SmallClasses

LevelWeights = Annotated[tuple[Annotated[float, Field(ge=0)], ...], Field(min_length=1)]

# Steps between two checks of the deadline and for cancellation.
PIECE = 1 << 15


class KacaOptions(PaperOptions):
    """Options of `kaca`."""

    start: Literal["classes", "rows"] = Field(
        "classes", description="Start with classes of identical rows, or with a separate class for each row."
    )
    distance: Literal["whd", "ncp", "height"] = Field(
        "whd", description="Distortion of a value: the paper's WHD (levels), NCP (leaf share) or height ratio."
    )
    weights: Literal["uniform", "height"] = Field(
        "uniform", description="WHD's weights of levels: all the same, or falling from the root downwards by beta."
    )
    beta: float = Field(1.0, ge=1, description='How fast the weights fall, with weights = "height".')
    level_weights: dict[str, LevelWeights] | LevelWeights | None = Field(
        None, description="Custom WHD weights from the root downwards: a list for all hierarchies, or one per column."
    )
    suppress_above: float | None = Field(
        None, ge=0, description="Suppress classes whose nearest one is further than this per row; by default none."
    )


@method("kaca", paper="Li, Wong, Fu, Pei 2006", recoding="local", options=KacaOptions)
def kaca(table: Table, k: int, options: KacaOptions, run: Run) -> Grouping:
    """Merge classes of identical rows that are too small with their nearest ones, in random order."""
    from coterie.kernels.methods.kaca import label_rows, merge_classes

    costs = table.costs_of(_measure(table, options))
    first = table.distinct if options.start == "classes" else _single_rows(table)
    follower = _row_lists(first, table.rows)
    limit = np.inf if options.suppress_above is None else options.suppress_above
    index = build_box_index(costs, lo=first.codes, hi=first.codes, sizes=first.counts, lowest=first.first_row)
    small = _small_classes(index, np.flatnonzero(first.counts < k))
    draws = run.rng().random(len(small.slots))
    count, step, rebuild = len(draws), 0, len(index.group) // 2
    while count > 0:
        run.checkpoint()
        last = min(step + PIECE, max(rebuild, step + 1))
        count, step = merge_classes(index.nodes, costs, k, limit, draws, follower, small, count, step, last)
        run.progress("merging classes", len(draws) - count, len(draws))
        if step >= rebuild:
            # Each step empties at most one slot: now half of them may be empty.
            nodes = index.nodes
            kept = np.flatnonzero(nodes.size)
            before = np.empty(len(nodes.size), dtype=np.int32)
            before[kept] = np.arange(len(kept), dtype=np.int32)
            index = build_box_index(
                costs, lo=nodes.lo[kept], hi=nodes.hi[kept], sizes=nodes.size[kept], lowest=nodes.lowest[kept]
            )
            small = _small_classes(index, before[small.slots[:count]])
            rebuild = step + len(kept) // 2
    return Grouping.of(table.codes, label_rows(index.nodes.lowest[index.nodes.size > 0], follower))


def _measure(table: Table, options: KacaOptions) -> Measure:
    """Return the distance measure; raise a ConfigError if the level weights do not fit the hierarchies."""
    if options.distance != "whd":
        return Measure(options.distance, table.leaf_counts)
    if options.level_weights is None:
        return Measure("whd", beta=options.beta if options.weights == "height" else None)
    heights = {domain.name: int(domain.tree.height[0]) for domain in table.domains if domain.tree is not None}
    own = options.level_weights
    by_column = own if isinstance(own, dict) else dict.fromkeys(heights, own)
    problems = []
    for column, weights in by_column.items():
        path = "options.level_weights" + (f".{column}" if isinstance(own, dict) else "")
        if column not in heights:
            problems.append(Problem(path, f"column {column!r} is not a quasi-identifier with a hierarchy"))
        elif len(weights) < heights[column]:
            problems.append(
                Problem(path, f"{len(weights)} weights, but {column!r} has {heights[column]} levels below its root")
            )
        elif sum(weights[: heights[column]]) <= 0:
            problems.append(Problem(path, f"at least one weight of {column!r} must be above 0"))
    refuse(problems)
    return Measure("whd", column_weights=tuple(by_column.items()))


def _single_rows(table: Table) -> Distinct:
    """Return a separate class for each row, whether or not others are equal to it."""
    every = np.arange(table.rows, dtype=np.int32)
    return Distinct(table.codes, every, np.arange(table.rows + 1, dtype=np.int64), every)


def _row_lists(distinct: Distinct, rows: int) -> Int32:
    """Return row → the next equal row, −1 if there is none."""
    follower = np.full(rows, -1, dtype=np.int32)
    follower[distinct.rows[:-1]] = distinct.rows[1:]
    follower[distinct.rows[distinct.start[1:] - 1]] = -1
    return follower


def _small_classes(index: BoxIndex, groups: Int64 | Int32) -> SmallClasses:
    """Return the slots of these groups, and slot → its position among them, or −1."""
    from coterie.kernels.methods.kaca import SmallClasses

    slots = np.ascontiguousarray(index.slot[groups])
    entry = np.full(len(index.slot), -1, dtype=np.int32)
    entry[slots] = np.arange(len(slots), dtype=np.int32)
    return SmallClasses(slots, entry)
