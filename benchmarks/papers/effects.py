"""What a paper says, as something that can be checked, and the words by which it is judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

NEAR = 0.05
"""a limit that every point misses by at most this share of it is nearly kept"""
NEAR_WHOLE = 0.1
"""the same where the limit is a share such as 98.75 %: at most this share of what the limit leaves to the whole"""
ABOUT = 1.5
"""a printed size of an effect is met within this factor, in both directions"""

HOLDS, NEARLY, IN_PART, FAILS, UNKNOWN = "holds", "nearly holds", "holds in part", "does not hold", "cannot be judged"


class Grade(NamedTuple):
    """How far points keep a limit."""

    holds: bool
    share: tuple[int, int]
    """how many of how many do"""
    near: bool
    """whether none misses it by more than NEAR of it, or NEAR_WHOLE of what it leaves"""


class About(NamedTuple):
    """The limits within which a printed size of an effect is met; two sizes are the ends of a printed range."""

    above: float
    below: float

    @classmethod
    def of(cls, *printed: float) -> About:
        """From ABOUT times less to ABOUT times more."""
        return cls(min(printed) / ABOUT, max(printed) * ABOUT)

    def __str__(self) -> str:
        ends = (f"{end:,.0f}" if end >= 1000 else f"{end:.2f}" for end in self)
        return f"[{' to '.join(ends)}]"

    def grade(self, values: Iterable[float]) -> Grade:
        """Compare points with both limits, which count as met."""
        return graded(values, above=self.above, below=self.below, closed=True)


def graded(
    values: Iterable[float],
    *,
    below: float | None = None,
    above: float | None = None,
    closed: bool = False,
    share: bool = False,
) -> Grade:
    """Compare points with limits; `closed` lets a point lie on one, `share` says that the lower limit is one of 1."""
    kept, near = [], []
    lowest = None
    if above is not None:
        lowest = above - NEAR_WHOLE * (1 - above) if share else above * (1 - NEAR)
    for value in values:
        low = above is None or value > above or (closed and value == above)
        high = below is None or value < below or (closed and value == below)
        kept.append(low and high)
        near.append((lowest is None or value >= lowest) and (below is None or value <= below * (1 + NEAR)))
    return Grade(all(kept), (sum(kept), len(kept)), all(near))


def counted(checks: Iterable[bool]) -> Grade:
    """So many of so many things came out; none of them can nearly come out."""
    held = list(checks)
    return Grade(all(held), (sum(held), len(held)), False)


class Effect(NamedTuple):
    """One thing that a paper says, or that we say of our own method, and whether it came out so."""

    claim: str
    """C1 … C10, under which it stands on the page"""
    name: str
    says: str
    found: str
    grade: Grade | bool
    quick: bool = True
    """whether few rows are enough to see it; times and sizes of effects need the full run"""
    aside: bool = False
    """whether it is beside the claim, such as about our own method or another reading: it does not count"""
    printed: str = ""
    """the figure that the paper prints, if it does"""
    ours: str = ""
    """ours beside it, if `found` says more than that"""
    untold: bool = False
    """whether our run cannot decide it, such as a ratio of the running times of other programs"""

    @property
    def key(self) -> str:
        """What names it."""
        return f"{self.claim} {self.name}"

    @property
    def holds(self) -> bool:
        """Whether it came out as it is said."""
        return self.grade if isinstance(self.grade, bool) else self.grade.holds

    @property
    def word(self) -> str:
        """How far it did."""
        if self.untold:
            return UNKNOWN
        if self.holds:
            return HOLDS
        if isinstance(self.grade, bool):
            return FAILS
        if self.grade.near:
            return NEARLY
        kept, points = self.grade.share
        return f"{IN_PART}, {kept} of {points}" if kept else FAILS


def tally(effects: list[Effect]) -> str:
    """How many of a paper's statements came out how, in words."""
    words = [effect.word.split(",")[0] for effect in effects if not effect.aside]
    shown = []
    for word, one, many in (
        (HOLDS, "holds", "hold"),
        (NEARLY, "nearly holds", "nearly hold"),
        (IN_PART, "holds in part", "hold in part"),
        (FAILS, "does not hold", "do not hold"),
        (UNKNOWN, "cannot be judged", "cannot be judged"),
    ):
        count = words.count(word)
        if count:
            shown.append(f"{count} {one if count == 1 else many}")
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"of {len(words)} statements, {listed}"


def verdict(effects: list[Effect]) -> str:
    """Whether a claim holds, from what the paper says under it."""
    words = [effect.word for effect in effects if not effect.aside]
    told = [word for word in words if word != UNKNOWN]
    if not told:
        return UNKNOWN
    if all(word == HOLDS for word in told):
        return HOLDS
    if all(word in (HOLDS, NEARLY) for word in told):
        return NEARLY
    return FAILS if all(word == FAILS for word in told) else IN_PART
