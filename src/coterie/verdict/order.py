"""What the order of rows and the tightness of cells add to an attacker's knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.disclosure.downcoding import downcode
from coterie.disclosure.labels import forms_of
from coterie.disclosure.order import order_leaks
from coterie.settings.limits import limit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coterie.disclosure.downcoding import CellCounts
    from coterie.disclosure.order import Reader
    from coterie.settings.config import Config
    from coterie.verdict.question import Findings


def look_at_order(findings: Findings, read: Reader, config: Config, *, names: Sequence[str], k: int) -> None:
    """Warn where the order of rows narrows what is published; k is the class size that is wanted."""
    leaks = order_leaks(read, names, quasi=config.quasi, k=k)
    findings.figures["order"] = [leak._asdict() for leak in leaks]
    for leak in leaks:
        findings.evidence.append(f"{leak.text}.")
        findings.add(
            "warn" if leak.narrowed > limit(config.limits, "order") else "pass",
            what="order",
            advice='Set row_order = "shuffle": rows are then published in a secret order. '
            'To accept the risk: accept = ["singling-out:order"].',
        )


def look_at_tightness(findings: Findings, counted: Mapping[str, CellCounts], config: Config) -> None:
    """Report what tight cells reveal; not all methods publish cells that are no wider than their rows."""
    from coterie.methods import find_method

    if not find_method(config.method).kind.tight:
        return
    forms = forms_of(config)
    found = downcode(counted, forms=forms, rounded=config.round)
    findings.figures["downcoding"] = [each._asdict() for each in found]
    if found:
        worst = max(found, key=lambda each: (each.narrowed, each.exact))
        findings.evidence.append(f"{worst.text}; this does not affect the state.")
