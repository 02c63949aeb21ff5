"""Methods of a release that need packages above it: explaining, reporting, showing itself in a notebook.

Imported by name when one of these methods is called, so that a release does not depend on reports.
"""

from __future__ import annotations

from coterie.explaining.loss import explain_loss, what_if
from coterie.explaining.row import explain_row
from coterie.reporting.notebook import release_html
from coterie.reporting.report import write_report
from coterie.verdict.verdict import verdict_of

__all__ = [
    "explain_loss",
    "explain_row",
    "release_html",
    "verdict_of",
    "what_if",
    "write_report",
]
