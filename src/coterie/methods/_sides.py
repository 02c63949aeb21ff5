"""Choose the side of a row when a part is cut around two seeds, for `top-down` and `nh`."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import Field

Compare = Literal["increase", "enlarge", "side", "seed"]

COMPARE: Any = Field(
    "increase",
    description="What decides the side of a row: the increase of the summed penalty, the growth of the side's box, the "
    "cost of the whole box with the row, or the row's distance from the side's seed.",
)


def rule_number(compare: Compare) -> int:
    """Return the rule's number in `kernels/parts.py`."""
    return get_args(Compare).index(compare)
