"""Mondrian: LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006. The papers' baseline.

Cut the rows at the median of the widest attribute, and each part again, as long as both parts hold at least k rows.
Widths are normalised: an attribute's interval costs what it would cost in the release.

Deviations
    * Categories are cut in the depth-first order of their hierarchy's leaves: one rule for numbers and trees.
    * Strict: the cut lies after the median code or, where that leaves too few rows, before it; if neither holds on
      the widest attribute, the next widest is tried. Ties between attributes go to the first.
    * Relaxed: the left half takes ⌊size / 2⌋ rows; rows with the median code are shared out by row number.
"""

from __future__ import annotations

from pydantic import Field

from coterie.boxes import Grouping
from coterie.methods._method import Options, Run, method
from coterie.table import Table


class MondrianOptions(Options):
    """Options of `mondrian`."""

    strict: bool = Field(
        True,
        description="Keep rows with the same value on the same side of a cut; false shares them out (relaxed).",
    )


@method("mondrian", paper="LeFevre, DeWitt, Ramakrishnan 2006", recoding="local", options=MondrianOptions)
def mondrian(table: Table, k: int, options: MondrianOptions, run: Run) -> Grouping:
    """Cut the table in two at the median of its widest attribute, again and again."""
    from coterie.kernels.mondrian import relaxed_cuts, strict_cuts

    if not options.strict:
        return Grouping.of(table.codes, relaxed_cuts(table.costs, table.codes, k))
    distinct = table.distinct
    labels = strict_cuts(table.costs, distinct.codes, distinct.counts, k)
    return Grouping.of(table.codes, labels[distinct.of_row])
