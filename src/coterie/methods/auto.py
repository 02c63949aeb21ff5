"""auto: `compact`, with the effort that fits the table's size. The default."""

from __future__ import annotations

from coterie.methods._method import Options, Run, method
from coterie.methods.compact import CompactOptions, compact
from coterie.table.grouping import Grouping
from coterie.table.table import Table

# Up to here `balanced` takes seconds to half a minute; beyond, `fast` does.
BALANCED_ROWS = 500_000


class AutoOptions(Options):
    """`auto` has no options."""


@method("auto", paper="ours", recoding="local", options=AutoOptions)
def auto(table: Table, k: int, options: AutoOptions, run: Run) -> Grouping:
    """Run `compact` with the effort that fits the table's size, and report the choice."""
    chosen = CompactOptions.model_validate({"effort": "balanced" if table.rows <= BALANCED_ROWS else "fast"})
    run.notes.append(f"auto chose compact with effort {chosen.effort} for {table.rows:,} rows.")
    return compact(table, k, chosen, run)
