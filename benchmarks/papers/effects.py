"""What a paper says, as something that can be checked."""

from __future__ import annotations

from typing import NamedTuple


class Effect(NamedTuple):
    """One thing that a paper says, or that we say of our own method, and whether it came out so."""

    claim: str
    """C1 … C10, under which it stands on the page"""
    name: str
    says: str
    found: str
    holds: bool
    quick: bool = True
    """whether few rows are enough to see it; times and sizes of effects need the full run"""
    aside: bool = False
    """whether it is beside the claim, such as about our own method or another reading: it does not count"""

    @property
    def key(self) -> str:
        """What names it."""
        return f"{self.claim} {self.name}"


def verdict(effects: list[Effect]) -> str:
    """Whether a claim holds, from what the paper says under it."""
    said = [effect.holds for effect in effects if not effect.aside]
    if all(said):
        return "holds"
    return "holds in part" if any(said) else "does not hold"
