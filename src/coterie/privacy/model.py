"""What a privacy model is: a promise about every group, decided from counts.

All models here are kept when groups merge: if two groups keep the promise, so does their union. Shares of a union lie
between those of its parts, and each model asks for shares in a convex set or for sizes that only grow. Two things
follow. Classes that are published alike may be counted together. And a table can keep a promise if and only if all of
its rows in one group do, so what is infeasible is known before any grouping.

`monotone` models ask for less still: once a group keeps the promise, it does whatever joins it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from coterie.arrays import Bool, Float64
from coterie.errors import ConfigError, Problem
from coterie.privacy.exact import as_fraction, plain_number

if TYPE_CHECKING:
    from coterie.privacy.histogram import Groups
    from coterie.table.domain import Domain

Number: TypeAlias = int | float | Fraction


class Model(ABC):
    """A promise about every group of a release. Subclasses are frozen dataclasses."""

    name: ClassVar[str]
    """as written in a configuration"""
    paper: ClassVar[str]
    parts: ClassVar[tuple[str, ...]]
    """the fields in the order in which a text gives them, as in `l-diversity:3:disease:entropy`"""
    needs_sensitive: ClassVar[bool] = True
    colons_at_the_end: ClassVar[bool] = False
    """whether the last part of a text may hold colons itself, as a path does"""

    on: str | None
    """the sensitive column; None is all of them"""

    @property
    def monotone(self) -> bool:
        """Whether a group that keeps the promise still does when any rows join it."""
        return False

    @property
    def higher_is_better(self) -> bool:
        """Whether the measured value has to reach the limit, rather than to stay within it."""
        return False

    @property
    @abstractmethod
    def threshold(self) -> str:
        """The field that holds the limit."""

    @property
    def limit(self) -> Fraction:
        """The threshold, exactly: a float means the decimal number that it prints as."""
        return as_fraction(getattr(self, self.threshold))

    @property
    def wanted(self) -> float:
        """The threshold, for people to read."""
        return float(self.limit)

    @property
    @abstractmethod
    def title(self) -> str:
        """What is promised, in a few words."""

    @abstractmethod
    def measure(self, groups: Groups, column: str | None = None) -> Float64:
        """Group → the strictest threshold that it keeps, for people to read."""

    @abstractmethod
    def holds(self, groups: Groups, column: str | None = None) -> Bool:
        """Group → whether it keeps the promise, decided exactly."""

    @abstractmethod
    def shortfall(self, groups: Groups, column: str | None = None) -> Float64:
        """Group → how far it is from keeping the promise, in about 0 … 1; for choosing between repairs only."""

    def best(self, whole: Groups, column: str | None = None) -> tuple[float, str]:
        """The strictest threshold that the whole table as one group keeps, and hence any grouping of it; in words.

        In words it is rounded to the side that can be had.
        """
        found = float(self.measure(whole, column)[0])
        if np.isinf(found):
            return found, f"no {self.threshold} would do"
        rounded = (np.floor(found * 10_000) if self.higher_is_better else np.ceil(found * 10_000)) / 10_000
        bound = "at most" if self.higher_is_better else "at least"
        return found, f"in this table {self.threshold} can be {bound} {rounded:,.10g}"

    def columns(self, sensitive: Sequence[str]) -> tuple[str | None, ...]:
        """The columns it speaks of: of these sensitive ones, or (None,) for a model without."""
        if not self.needs_sensitive:
            return (None,)
        return tuple(sensitive) if self.on is None else (self.on,)

    def domain_problem(self, domain: Domain) -> str:
        """Why a sensitive column cannot be judged by this model, or nothing."""
        return ""

    def located(self, base: Path) -> Self:
        """The model with relative paths taken from a folder."""
        return self

    @property
    def spec(self) -> str | dict[str, Any]:
        """The model as a text, or as a dict where a name would break the text; `parse_privacy` reads either."""
        non_defaults = self.non_defaults()
        texts = [str(non_defaults.get(part, "")) for part in self.parts]
        while texts and not texts[-1]:
            texts.pop()
        text = ":".join([self.name, *texts])
        if any(":" in part or part != part.strip() for part in texts):
            return {"model": self.name, **non_defaults}
        return text

    def non_defaults(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as plain values."""
        values = {}
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if each.init and value is not None and value != each.default:
                values[each.name] = str(value) if isinstance(value, Fraction) else value
        return values

    def _check_number(self, name: str, *, least: Fraction | int, strict: bool = False, most: int | None = None) -> None:
        """Check a number of the model and keep it as people would write it."""
        value = getattr(self, name)
        above = "more than" if strict else "at least"
        up_to = f" and at most {most}" if most is not None else ""
        try:
            number = as_fraction(value)
        except (ValueError, TypeError):
            number = None
        if number is None or number < least or (strict and number == least) or (most is not None and number > most):
            raise ConfigError([Problem(name, f"must be a number of {above} {least}{up_to}")]) from None
        object.__setattr__(self, name, plain_number(number))

    def _check_whole(self, name: str, *, least: int = 1) -> None:
        """Check a whole number of the model."""
        try:
            number = as_fraction(getattr(self, name))
        except (ValueError, TypeError):
            number = None
        if number is None or number.denominator != 1 or number < least:
            raise ConfigError([Problem(name, f"must be a whole number of at least {least}")]) from None
        object.__setattr__(self, name, int(number))

    def _check_choice(self, name: str, choices: tuple[str, ...]) -> None:
        if getattr(self, name) not in choices:
            raise ConfigError([Problem(name, f"must be {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}")])

    def _check_on(self) -> None:
        if self.on is not None and (not isinstance(self.on, str) or not self.on):
            raise ConfigError([Problem("on", "must be the name of a sensitive column, or left out for all of them")])


def shown(value: Number) -> str:
    """A threshold as text."""
    return f"{value:,}" if isinstance(value, int) else str(value)
