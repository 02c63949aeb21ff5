"""What the row order and the tightness of published intervals disclose to an attacker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.disclosure.ends import tight_ends
from coterie.disclosure.order import order_leaks
from coterie.settings.limits import limit
from coterie.wording import count_of, percent_text

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.settings.config import Config
    from coterie.verdict.question import Findings


def look_at_order(findings: Findings, table: pa.Table, config: Config, *, k: int) -> None:
    """Warn if the order of rows narrows the published values.

    Args:
        findings: Findings to add to.
        table: The published table in its published order.
        config: The quasi-identifiers, limits and accepted warnings.
        k: The required class size.
    """
    ends = tight_ends(table, quasi=config.quasi, but=list(config.hierarchies))
    findings.figures["ends"] = [each._asdict() for each in ends]
    if ends:
        worst = max(ends, key=lambda each: each.known)
        findings.evidence.append(
            f"Both ends of an interval are values of rows: of `{worst.column}`, {percent_text(worst.known)} of the "
            "cells are known up to the row. A hierarchy of intervals prevents it; this does not decide the state."
        )
    leaks = order_leaks(table, quasi=config.quasi, k=k)
    findings.figures["order"] = [leak._asdict() for leak in leaks]
    for leak in leaks:
        findings.evidence.append(
            f"Rows are sorted by `{leak.column}`: running bounds over the published intervals narrow "
            f"{percent_text(leak.narrowed)} of its cells, and raise exactly known ones from "
            f"{percent_text(leak.exact_before)} to {percent_text(leak.exact_after)}; "
            f"{count_of(leak.below, 'row')} fall into classes below k = {k:,}."
        )
        findings.add(
            "warn" if leak.narrowed > limit(config.limits, "order") else "pass",
            what="order",
            advice='Set row_order = "shuffle": rows are then published in a secret order. '
            'To accept the risk: accept = ["singling-out:order"].',
        )
