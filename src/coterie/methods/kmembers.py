"""k-members clustering: Wang, Liu, Gao, "Research on k-anonymity algorithm in privacy protection".

Section III.D, Table III: take a row as seed, then k − 1 times the row r for which IL(e ∪ r) is least; repeat until
fewer than k rows are left; put each of those where the loss increases least. Definition 5: IL(e) = |e| · Σ (width of a
number's interval ÷ range, or height of the lowest common ancestor ÷ height of the tree). All candidates for a
group have the same |e|, so the search compares the cost of the box.

Deviations
    * The paper's own options are `seeding="random"` and `loss="height"`, the height ratio; `preset="paper"` sets both.
      Without them the loss is NCP and groups start in dense regions, which loses less.
    * `seeding="furthest"` is that of Byun, Kamra, Bertino, Li 2007, which the paper builds on: the first seed is
      random, each later one is the free row furthest from the previous seed. `"dense-first"` is ours: rows in
      dense regions first, because a late group there would have to reach far.
    * Ties go to the lowest row number, and remaining rows are placed in seed order; the paper leaves both open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from coterie.grouping.index import build_index
from coterie.methods._method import PaperOptions, Run, method
from coterie.table.costs import Measure
from coterie.table.grouping import Grouping
from coterie.table.table import Table


class KMembersOptions(PaperOptions):
    """Options of `kmembers`."""

    published: ClassVar[Mapping[str, Any]] = {"seeding": "random", "loss": "height"}

    seeding: Literal["random", "furthest", "dense-first"] = Field(
        "dense-first",
        description="Rows that groups grow from: in random order, each furthest from the last, or dense regions first.",
    )
    loss: Literal["ncp", "height"] = Field(
        "ncp", description="What the search minimizes: NCP (leaf share) or the paper's height ratio."
    )


@method("kmembers", paper="Wang, Liu, Gao 2011", recoding="local", options=KMembersOptions)
def kmembers(table: Table, k: int, options: KMembersOptions, run: Run) -> Grouping:
    """Grow each group from a seed, adding the row that costs it least, k rows at a time."""
    from coterie.kernels.methods.kmembers import grow_groups
    from coterie.kernels.unassigned import place_leftovers

    costs = table.costs_of(Measure(options.loss, table.leaf_counts))
    index = build_index(table, costs)
    if options.seeding == "dense-first":
        seeds = np.argsort(index.neighbour_costs(k - 1, threads=run.threads), kind="stable").astype(np.int32)
    else:
        seeds = run.rng().permutation(table.rows).astype(np.int32)
    labels, lo, hi = grow_groups(index.nodes, costs, table.codes, k, seeds, options.seeding == "furthest")
    place_leftovers(costs, table.codes, labels, lo, hi, np.full(len(lo), k, dtype=np.int64), seeds)
    return Grouping.of(table.codes, labels)
