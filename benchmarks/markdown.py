"""Tables and numbers for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Lines of a Markdown table; all columns but the first are set flush right."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def number(value: float | None, digits: int = 2) -> str:
    """A number with so many decimals, or a dash."""
    return "–" if value is None else f"{value:,.{digits}f}"


def loss(value: float | None, *, best: bool = False) -> str:
    """A GCP as .0679, bold where it is the best of its column."""
    if value is None:
        return "–"
    text = f"{value:.4f}".removeprefix("0")
    return f"**{text}**" if best else text
