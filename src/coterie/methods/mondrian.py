"""Mondrian: LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006. The papers' baseline.

Cut the rows at the median of the widest attribute, then each part again, while both parts have at least k rows.
Widths are normalized: an attribute's interval costs what it would cost in the release.

Deviations
    * Categories are cut in the depth-first order of their hierarchy's leaves: one rule for numbers and trees.
    * Strict: the paper cuts into rows up to the median and rows above it. If that leaves too few rows above, ours
      also tries the cut before the median, which matters if one value has more than half of the rows;
      `before_median=False` (`preset="paper"`) does not. If no cut is left on the widest attribute, the next widest is
      tried. Ties between attributes go to the first.
    * Relaxed: the left half takes ⌊size / 2⌋ rows; rows with the median code are divided by row number.
    * Privacy models beyond k: the paper would reject cuts that violate one, which soon leaves the widest attributes
      uncut. Here the groups are made twice and those that lose less are kept: by the cuts above, repaired by the shared
      repair; and by median cuts that satisfy every model, best first, where a cut may also halve
      the rows of each sensitive value separately. Either may separate rows with the same value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from coterie.methods._method import PaperOptions, Run, method
from coterie.table.grouping import Grouping
from coterie.table.table import Table


class MondrianOptions(PaperOptions):
    """Options of `mondrian`."""

    published: ClassVar[Mapping[str, Any]] = {"before_median": False}

    strict: bool = Field(
        True,
        description="Keep rows with the same value on the same side of a cut; false divides them (relaxed).",
    )
    before_median: bool = Field(
        True,
        description="Strict cuts: where the cut after the median leaves too few rows, also try the one before it; "
        "false is the paper's cut, up to the median and above it.",
    )


@method("mondrian", paper="LeFevre, DeWitt, Ramakrishnan 2006", recoding="local", options=MondrianOptions)
def mondrian(table: Table, k: int, options: MondrianOptions, run: Run) -> Grouping:
    """Cut the table in two at the median of its widest attribute, repeatedly."""
    from coterie.kernels.methods.mondrian import relaxed_cuts, strict_cuts

    if options.strict:
        distinct = table.distinct
        labels = strict_cuts(table.costs, distinct.codes, distinct.counts, k, options.before_median)[distinct.of_row]
    else:
        labels = relaxed_cuts(table.costs, table.codes, k)
    grouping = Grouping.of(table.codes, labels)
    return _heeding(table, k, grouping, run) if run.privacy else grouping


def _heeding(table: Table, k: int, plain: Grouping, run: Run) -> Grouping:
    """Return groups that satisfy the privacy models of the run."""
    from coterie.grouping.repair.cuts import cut_whole
    from coterie.grouping.repair.repair import repair
    from coterie.grouping.repair.state import Aim
    from coterie.methods.compact import loss_of  # late: compact imports this module

    mended = repair(table, plain, run.privacy, k=k, run=run)
    cut = cut_whole(Aim(table, run.privacy, k), run)
    return cut if loss_of(table, cut) < loss_of(table, mended) else mended
