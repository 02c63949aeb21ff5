"""Incognito: LeFevre, DeWitt, Ramakrishnan, "Incognito: efficient full-domain k-anonymity", 2005. A baseline.

Full-domain generalization: one level of its hierarchy for each whole column. Section 3: search the lattices of
levels of single attributes, then of pairs, and so on. A node is a candidate only if all of its projections on fewer
attributes are k-anonymous (their join and prune phases); everything above a k-anonymous node is k-anonymous and is
not counted; the frequency sets of the others are rolled up from those of lower nodes, not counted from the rows. This
finds every minimal k-anonymous node. The paper leaves the choice to the user; here it is the one with
the least loss. A loss that only increases with the levels, as all of these do, is least at a minimal node: this is the
best full-domain release.

A tree's levels are cuts at one depth, counted from the root; in a ragged tree a value stays itself until the cut has
come up to it. A number without a hierarchy gets `number_levels` levels of equal intervals, 2, 4, 8, … of them over its
range; for other widths give it a hierarchy of intervals.

Deviations
    * Each lattice is walked in the order of its nodes' numbers, not breadth-first: a node still comes after all that
      it generalizes, so the same nodes are counted, and one frequency set an attribute is held instead of a queue.
    * `suppress_at_most` lets a share of the rows, those in groups of fewer than k, be suppressed, as other full-domain
      methods do (Samarati 2001). A suppressed row costs the maximum. The loss is then not always least at a
      minimal node, and all nodes that suppress few enough rows are considered.
    * Further privacy models are supported: of the k-anonymous nodes, only those whose groups satisfy all count. Every
      model still holds when groups merge, so going up never violates one if no row is suppressed.
    * Ties go to the node with the lowest level in the first attribute in which they differ.
    * A label above a single present value is published as the level requires. NCP counts it as the measures do: by all
      its leaves with `leaf_counts = "hierarchy"`, as no loss with "present".
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

import numpy as np
from pydantic import Field

from coterie.arrays import Float64, Int64
from coterie.methods._lattice import Lattice, minimal
from coterie.methods._method import PaperOptions, Run, method
from coterie.table.costs import Measure, interval_costs
from coterie.table.grouping import SUPPRESSED, renumber
from coterie.table.recoding import Levels
from coterie.table.table import Table

_MEASURES: dict[str, Literal["ncp", "height", "whd"]] = {"ncp": "ncp", "height": "height", "distortion": "whd"}


class IncognitoOptions(PaperOptions):
    """Options of `incognito`."""

    loss: Literal["ncp", "height", "distortion", "discernability"] = Field(
        "ncp",
        description="Which k-anonymous choice of levels to take: that with the least NCP (leaf share), height ratio, "
        "distortion (weighted hierarchical distance, uniform weights) or discernability.",
    )
    suppress_at_most: float = Field(
        0.0, ge=0.0, lt=1.0, description="Share of the rows, such as 0.01, that may be suppressed instead."
    )
    number_levels: int = Field(
        4,
        ge=0,
        le=20,
        description="Levels between value and root for a number without a hierarchy: 2, 4, 8, … equal intervals.",
    )


@method("incognito", paper="LeFevre, DeWitt, Ramakrishnan 2005", recoding="global", options=IncognitoOptions)
def incognito(table: Table, k: int, options: IncognitoOptions, run: Run) -> Levels:
    """Choose one generalization level for each whole column, the best of all that are k-anonymous."""
    lattice = Lattice(table, number_levels=options.number_levels)
    allowed = _share_of(options.suppress_at_most, table.rows)
    anonymous = lattice.anonymous(k, allowed=allowed, run=run)
    least = minimal(anonymous)
    nodes = np.argwhere(anonymous if allowed or run.privacy else least)
    keeps = _keeps_promises(lattice, table, k, run)
    node = _best(lattice, table, nodes, keeps, k=k, loss=options.loss, allowed=allowed)
    run.notes.append(_note(lattice, table, node, int(np.count_nonzero(least))))
    return _grouping(lattice, table, node, k)


def _share_of(share: float, rows: int) -> int:
    """Return a share as a number of rows, rounded down; 0.29 is 29 hundredths, whatever a float makes of it."""
    return int(Fraction(repr(share)) * rows)


def _best(
    lattice: Lattice,
    table: Table,
    nodes: Int64,
    keeps: Callable[[Int64], bool],
    *,
    k: int,
    loss: str,
    allowed: int,
) -> Int64:
    """Return the node with the least loss of those that satisfy all privacy models; ties go to the first.

    Nodes are counted in the order of a lower bound of their loss, until that exceeds the best. If none satisfies all
    models, none can, and the result is the last one: everything at its root.
    """
    costs = _cell_costs(lattice, table, loss)
    by_groups = loss == "discernability"
    bounds = _group_bounds(lattice, table, nodes) if by_groups else _cell_bounds(table, nodes, costs)
    whole = sum(domain.weight for domain in table.domains)
    best, chosen = np.inf, len(nodes) - 1
    for at in np.argsort(bounds, kind="stable").tolist():
        if bounds[at] > best * (1 + 1e-12):  # sums in another order differ in the last digits
            break
        found = bounds[at]  # with no row suppressed, the bound of the cells' costs is the loss
        if by_groups or allowed:
            found = lattice.losses(nodes[at], costs, whole=whole, k=k)[by_groups]
        if (found < best or (found == best and at < chosen)) and keeps(nodes[at]):
            best, chosen = found, at
    return np.asarray(nodes[chosen])


def _keeps_promises(lattice: Lattice, table: Table, k: int, run: Run) -> Callable[[Int64], bool]:
    """Return whether the groups of a node satisfy all privacy models of the run."""
    if not run.privacy:
        return lambda _: True
    from coterie.grouping.repair.state import Aim

    aim = Aim(table, run.privacy, k)

    def keeps(node: Int64) -> bool:
        run.checkpoint()
        made = _grouping(lattice, table, node, k)
        return bool(aim.assess(aim.count(made.labels, made.groups)).holds.all())

    return keeps


def _cell_costs(lattice: Lattice, table: Table, loss: str) -> list[Float64]:
    """Return, for each attribute, [level, code] → weighted cost of the cell."""
    measure = Measure(_MEASURES.get(loss, "ncp"), table.leaf_counts)
    costs = []
    for domain, levels in zip(table.domains, lattice.levels, strict=True):
        # By the published label, as the measures do: it may be above a single present value.
        node = None if levels.node is None else levels.node.ravel()
        cost = interval_costs(domain, levels.first.ravel(), levels.last.ravel(), measure, node=node)
        costs.append(domain.weight * cost.reshape(len(levels), -1))
    return costs


def _cell_bounds(table: Table, nodes: Int64, costs: list[Float64]) -> Float64:
    """Return node → its loss if no row were suppressed, a lower bound."""
    bounds = np.zeros(len(nodes))
    for j, cost in enumerate(costs):
        counts = np.bincount(table.codes[:, j], minlength=cost.shape[1])
        bounds += (cost @ counts)[nodes[:, j]]
    return bounds


def _group_bounds(lattice: Lattice, table: Table, nodes: Int64) -> Float64:
    """Return node → a lower bound of its discernability: that of the maximum number of equally large groups.

    Suppressing rows could only help if there is one group, and then not below a half.
    """
    groups = np.ones(len(nodes))
    for j, levels in enumerate(lattice.levels):
        cells = np.array([len(np.unique(level)) for level in levels.first], dtype=np.float64)
        groups = np.minimum(groups * cells[nodes[:, j]], len(table.distinct))
    return table.rows**2 / np.maximum(groups, 2)


def _grouping(lattice: Lattice, table: Table, node: Int64, k: int) -> Levels:
    """Group rows with the same generalized values, each group published at the levels of the node."""
    from coterie.kernels.distinct import distinct_rows

    chosen = list(zip(lattice.levels, node.tolist(), strict=True))
    codes = table.distinct.codes
    low = np.column_stack([levels.first[level][codes[:, j]] for j, (levels, level) in enumerate(chosen)])
    group_of, first = distinct_rows(np.ascontiguousarray(low))
    sizes = np.bincount(group_of, weights=table.distinct.counts, minlength=len(first))
    kept = sizes >= k
    labels = np.where(kept[group_of], group_of, SUPPRESSED).astype(np.int32)[table.distinct.of_row]
    ends = codes[first[kept]]
    high = [levels.last[level][ends[:, j]] for j, (levels, level) in enumerate(chosen)]
    nodes = [
        np.full(len(ends), -1) if levels.node is None else levels.node[level][ends[:, j]]
        for j, (levels, level) in enumerate(chosen)
    ]
    return Levels(
        renumber(labels),
        np.ascontiguousarray(low[first[kept]]),
        np.ascontiguousarray(np.column_stack(high).astype(np.int32)),
        nodes=np.ascontiguousarray(np.column_stack(nodes).astype(np.int32)),
    )


def _note(lattice: Lattice, table: Table, node: Int64, minimal_count: int) -> str:
    """Note the chosen levels, for the user."""
    taken = ", ".join(
        f"{domain.name} {levels.heights[level]} of {levels.heights[-1]}"
        for domain, levels, level in zip(table.domains, lattice.levels, node.tolist(), strict=True)
    )
    choices = "choice is" if minimal_count == 1 else "choices are"
    return f"Levels published (0 is the values themselves): {taken}; {minimal_count:,} {choices} minimal for this k."
