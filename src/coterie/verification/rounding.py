"""Whether the intervals of a column are rounded as the settings say, from the published cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING

from coterie.verification.cells import MARK, number_in
from coterie.verification.verify import Check

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.verification.counts import Counter

_ENDS = re.compile(r"\[([0-9.]+)-([0-9.]+)\]|\[(.+), (.+)\]")
_EXACT = Context(prec=1000)


def rounding_checks(counter: Counter, config: Config, *, names: Sequence[str]) -> list[Check]:
    """Check each column with a step: all ends are multiples of it, and no interval is narrower.

    Args:
        counter: The engine's counts.
        config: The steps.
        names: The columns of the release.
    """
    return [_check(counter, name, Decimal(str(step)), names) for name, step in config.round.items()]


def _check(counter: Counter, name: str, step: Decimal, names: Sequence[str]) -> Check:
    wrong = 0
    for column in (name,) if name in names else (f"{name}_min", f"{name}_max"):
        cells = counter.cells(column)
        texts = cells.values.cast("string").to_pylist()
        wrong += sum(
            int(rows)
            for text, rows in zip(texts, cells.rows.tolist(), strict=True)
            if not (_multiple(text, step) if column != name else _rounded(text, step))
        )
    text = f"Both ends of every interval of {name!r} are multiples of {step.normalize():f}."
    if wrong:
        text = f"The ends of intervals of {name!r} are to be multiples of {step.normalize():f}, but {wrong:,} cells have others."
    return Check(f"round:{name}", float(step), wrong, not wrong, text)


def _rounded(text: str, step: Decimal) -> bool:
    if text == MARK:
        return True
    match = _ENDS.fullmatch(text)
    ends = [each for each in match.groups() if each is not None] if match else []
    return len(set(ends)) == 2 and all(_multiple(end, step) for end in ends)


def _multiple(text: str, step: Decimal) -> bool:
    number = number_in(text)
    return number is not None and _EXACT.remainder(number, step) == 0
