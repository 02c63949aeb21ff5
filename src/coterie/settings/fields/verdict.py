"""The limits of the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from coterie.settings.fields._setting import Group, setting
from coterie.settings.limits import LIMITS
from coterie.settings.roles import parse_names

_DEFAULTS = ", ".join(f"{name} ({limit.default:g})" for name, limit in LIMITS.items())


def _warnings(texts: str | Sequence[str]) -> list[str]:
    """Parse warnings from flags, or from the lines of a field."""
    return parse_names(texts.splitlines() if isinstance(texts, str) else texts)


class VerdictLimits(Group, title="Verdict", protects=True):
    """How much is too much."""

    limits: dict[str, float] = setting(
        {},
        f"Limits of the verdict, as shares: {_DEFAULTS}.",
        more="[The verdict](verdict.md) explains each.",
        flag="limit",
        metavar="NAME=SHARE",
        commands="verify",
        asked=False,
    )
    accept: tuple[str, ...] = setting(
        (),
        "Warnings of the verdict that you accept, such as singling-out:income or utility.",
        more="They no longer decide the verdict; the report lists them.",
        title="Accepted warnings",
        metavar="WARNINGS",
        commands="verify",
        read=_warnings,
        show=lambda value: "\n".join(value),
    )
    row_order: Literal["original", "shuffle"] = setting(
        "original",
        "Order of the published rows: original, or shuffle (a secret order).",
        more="Sorted rows reveal values. The secret order does not depend on the seed, so it differs between runs. "
        "`out.rows.csv` maps published rows to original ones, for `measure`; it is internal.",
        unless="It is not available on Spark, or for `nh` in blocks.",
        title="Order of rows",
        choices={"original": "as in the original", "shuffle": "secret order"},
        metavar="ORDER",
    )
