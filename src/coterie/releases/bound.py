"""The lower bound that a release is compared with, computed when it is first asked for.

It depends on the table, k and the effort alone, not on the method or the release: prices always begin near the costs
of the same quick grouping.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from coterie.grouping.bound import lower_bound

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table


def guiding_groups(
    table: Table,
    k: int,
    threads: int = 1,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    effort: str = "quick",
) -> Grouping:
    """Return the grouping near whose costs the search for prices begins.

    The first prices are as good without local search as with it. The greater efforts also begin with the boxes of these
    groups.
    """
    from coterie.methods import Run, find_method
    from coterie.methods.compact import grow_groups

    run = Run(seed=0, threads=threads, cancelled=cancelled)
    if effort == "quick":
        return grow_groups(table, k, run)
    compact = find_method("compact")
    return compact.run(table, k, compact.options.model_validate({"effort": "fast"}), run)


def guided_bound(
    table: Table,
    k: int,
    *,
    threads: int = 1,
    effort: str | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> float:
    """Return the least loss of every grouping into groups of at least k rows: weighted NCP, summed over rows.

    Args:
        table: The rows.
        k: The minimum group size.
        threads: Number of threads; the result does not depend on it.
        effort: quick (by default), good, best, or a number of seconds.
        cancelled: Asked between units of work; if true, Cancelled is raised.
    """
    from coterie.methods import Run

    effort = effort or "quick"
    return lower_bound(
        table,
        k,
        guide=partial(guiding_groups, table, k, threads, cancelled, effort=effort),
        threads=threads,
        effort=effort,
        checkpoint=Run(cancelled=cancelled).checkpoint,
    )


def in_words(ratio: float | None) -> str:
    """Say what the ratio of a loss to the bound means; nothing if it says little: more than twice the bound."""
    if ratio is None or not 1.0 <= ratio < 2.0:
        return ""
    percent = math.ceil(round(100 * (ratio - 1.0), 6))  # the bound is rounded down by a billionth
    return f"within {percent} % of the least possible loss"


@dataclass(eq=False)
class LateBound:
    """The bound of a table, computed once on first access, in whichever process.

    It is for groups of the rows of the table. A suppressed row costs 1 per cell, which is no less than it would cost in
    any group, so the bound also holds with suppression.
    """

    table: Table
    config: Config
    threads: int

    @cached_property
    def value(self) -> float:
        """The bound, summed over rows."""
        return guided_bound(self.table, self.config.k, threads=self.threads, effort=self.config.bound_effort)

    def per_cell(self) -> float:
        """Return the bound per cell, as `gcp`."""
        return self.value / max(self.table.rows * self.table.attributes, 1)

    def ratio(self, ncp: float) -> float:
        """Return a loss relative to the bound."""
        return ncp / self.value if self.value > 0 else (1.0 if ncp == 0 else float("inf"))
