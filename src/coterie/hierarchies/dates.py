"""The date rule: days, months, quarters, years and decades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from coterie.errors import ConfigError, Problem
from coterie.hierarchies.rules import Way
from coterie.values.scalars import Misfits, is_text, parse_moment

_WRITE: dict[str, Callable[[int, int, int], str]] = {
    "day": lambda year, month, day: f"{year:04d}-{month:02d}-{day:02d}",
    "month": lambda year, month, day: f"{year:04d}-{month:02d}",
    "quarter": lambda year, month, day: f"{year:04d}-Q{(month + 2) // 3}",
    "year": lambda year, month, day: f"{year:04d}",
    "decade": lambda year, month, day: f"{year // 10 * 10:04d}s",
}
LEVELS = tuple(_WRITE)


@dataclass(frozen=True)
class Dates:
    """Dates and timestamps grouped into days, months, quarters, years and decades."""

    levels: tuple[str, ...]
    kind: ClassVar[str] = "dates"

    @classmethod
    def of(cls, levels: Sequence[object]) -> Dates:
        """Validate the levels and return the rule; ConfigError lists every problem."""
        choose = f"is not a level; choose from {', '.join(LEVELS)}"
        problems = [Problem("dates", f"{level!r} {choose}") for level in levels if level not in LEVELS]
        good = [str(level) for level in levels if level in LEVELS]
        for fine, coarse in pairwise(good):
            if LEVELS.index(coarse) <= LEVELS.index(fine):
                problems.append(Problem("dates", f"{coarse!r} comes after {fine!r}; levels go from day to decade"))
        if problems:
            raise ConfigError(problems)
        return cls(tuple(good) or LEVELS)

    @property
    def spec(self) -> object:
        """The rule as plain values for TOML and JSON."""
        return {"dates": list(self.levels)}

    def ways(self, values: pa.Array, names: Sequence[str], *, misfits: Misfits) -> list[Way]:
        """Return each value's path; `2024-03-05` lies in `2024-03`, `2024-Q1`, `2024` and `2020s`."""
        days = self._days(values, names, misfits)
        if misfits.problems or days is None:
            return []
        months = days.astype("datetime64[M]")
        day = (days - months.astype("datetime64[D]")).astype(np.int64) + 1
        month = months.astype(np.int64)
        parts = zip((1970 + month // 12).tolist(), (month % 12 + 1).tolist(), day.tolist(), strict=True)
        order = days.astype(np.int64).tolist()
        write = [_WRITE[level] for level in self.levels]
        ways = [
            Way((when, name), (name, *(one(*part) for one in write)))
            for when, name, part in zip(order, names, parts, strict=True)
        ]
        # The only value of a day needs no group with the same name.
        crowd = Counter(order)
        return [
            Way(way.key, (way.labels[0], *way.labels[2:]))
            if way.labels[0] == way.labels[1] and crowd[way.key[0]] == 1
            else way
            for way in ways
        ]

    def _days(self, values: pa.Array, names: Sequence[str], misfits: Misfits) -> npt.NDArray[np.datetime64] | None:
        """Return the day of each value, in its own time zone."""
        kind = values.type
        if is_text(kind) or pa.types.is_null(kind):
            moments = [parse_moment(name) for name in names]
            wrong = [place for place, moment in enumerate(moments) if moment is None]
            misfits.add(wrong, "is not a date", "are not dates", hint="dates are written as 2024-03-05")
            return np.asarray([moment.day if moment else 0 for moment in moments], dtype="datetime64[D]")
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            import pyarrow.compute as pc

            values = pc.local_timestamp(values)
        if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            misfits.add_column(f"the dates rule is for dates, but the column contains {kind}")
            return None
        days: npt.NDArray[np.datetime64] = values.to_numpy(zero_copy_only=False).astype("datetime64[D]")
        return days
