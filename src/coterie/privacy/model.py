"""What a privacy model is: a promise about every group, decided from counts.

All models here are kept when groups merge: if two groups keep the promise, so does their union. Shares of a union lie
between those of its parts, and each model asks for shares in a convex set or for sizes that only grow. Two things
follow. Classes that are published alike may be counted together. And a table can keep a promise if and only if all of
its rows in one group do, so what is infeasible is known before any grouping.

`monotone` models ask for less still: once a group keeps the promise, it does whatever joins it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

from coterie.arrays import Bool, Float64
from coterie.errors import ConfigError, Problem
from coterie.privacy.exact import as_fraction, plain_number
from coterie.settings.registry import MODELS

if TYPE_CHECKING:
    from coterie.privacy.histogram import Groups
    from coterie.table.domain import Domain

Number: TypeAlias = int | float | Fraction


class Model:
    """A guarantee for every group of a release. A subclass is a frozen dataclass; with a `name` it registers itself.

    A model of your own needs `name`, `parts`, `meaning`, `figure` and `keeps`; the rest follows. It has to hold for the
    union of two groups that it holds for.
    """

    name: ClassVar[str]
    """as written in a configuration"""
    paper: ClassVar[str] = ""
    meaning: ClassVar[str]
    """what it guarantees, in a sentence"""
    not_proved: ClassVar[str] = "Anything beyond its definition."
    """what it does not guarantee, in a sentence"""
    parts: ClassVar[tuple[str, ...]]
    """the parameters in the order in which a text gives them, as in `l-diversity:3:disease:entropy`"""
    parts_help: ClassVar[Mapping[str, str]] = {}
    """parameter → what it is, where its name does not say so"""
    counts: ClassVar[Literal["values", "rows", "population"]] = "values"
    """what has to be counted to judge it: sensitive values, rows, or people of a population"""
    variant: ClassVar[str] = ""
    """the parameter that chooses between definitions, if there is one"""
    colons_at_the_end: ClassVar[bool] = False
    """whether the last part of a text may hold colons itself, as a path does"""

    on: str | None
    """the sensitive column; None is all of them"""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            MODELS.add(cls.name, cls)

    @classmethod
    def choices(cls, part: str) -> tuple[str, ...]:
        """The values that a parameter may have, where they are listed."""
        hint = get_type_hints(cls).get(part)
        return get_args(hint) if get_origin(hint) is Literal else ()

    @classmethod
    def limit_option(cls) -> str:
        """The option of `coterie verify` that gives its limit, without dashes; none where that is not all it needs."""
        return cls.parts[0] if cls.counts == "values" else ""

    @property
    def needs_sensitive(self) -> bool:
        """Whether it is about a sensitive column."""
        return self.counts == "values"

    @property
    def floor(self) -> str:
        """The parameter, besides the limit, that is a least number of rows or values; nothing if there is none."""
        return ""

    def figure(self, counts: Sequence[int], totals: Sequence[int]) -> float:
        """The strictest limit that one group keeps, for people to read.

        Args:
            counts: Sensitive value → rows of the group.
            totals: Sensitive value → rows of the table.
        """
        raise NotImplementedError

    def keeps(self, counts: Sequence[int], totals: Sequence[int]) -> bool:
        """Whether one group keeps the guarantee, decided exactly; arguments as `figure` has them."""
        raise NotImplementedError

    @property
    def monotone(self) -> bool:
        """Whether a group that keeps the promise still does when any rows join it."""
        return False

    @property
    def higher_is_better(self) -> bool:
        """Whether the measured value has to reach the limit, rather than to stay within it."""
        return False

    @property
    def threshold(self) -> str:
        """The parameter that holds the limit."""
        return self.parts[0]

    @property
    def limit(self) -> Fraction:
        """The threshold, exactly: a float means the decimal number that it prints as."""
        return as_fraction(getattr(self, self.threshold))

    @property
    def wanted(self) -> float:
        """The threshold, for people to read."""
        return float(self.limit)

    @property
    def title(self) -> str:
        """What is promised, in a few words."""
        return f"{self.name} ({self.threshold} = {shown(getattr(self, self.threshold))})"

    def measure(self, groups: Groups, column: str | None = None) -> Float64:
        """Group → the strictest threshold that it keeps, for people to read."""
        return np.array([self.figure(*each) for each in groups.column(column).each()], dtype=np.float64)

    def holds(self, groups: Groups, column: str | None = None) -> Bool:
        """Group → whether it keeps the promise, decided exactly."""
        return np.array([self.keeps(*each) for each in groups.column(column).each()], dtype=np.bool_)

    def shortfall(self, groups: Groups, column: str | None = None) -> Float64:
        """Group → how far it is from keeping the promise, in about 0 … 1; for choosing between repairs only."""
        off = np.abs(self.measure(groups, column) - self.wanted) / max(self.wanted, 1.0)
        return np.where(self.holds(groups, column), 0.0, np.minimum(off, 1.0))

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

    def _check_choice(self, name: str) -> None:
        choices = self.choices(name)
        if getattr(self, name) not in choices:
            raise ConfigError([Problem(name, f"must be {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}")])

    def _check_on(self) -> None:
        if self.on is not None and (not isinstance(self.on, str) or not self.on):
            raise ConfigError([Problem("on", "must be the name of a sensitive column, or left out for all of them")])


def shown(value: Number) -> str:
    """A threshold as text."""
    return f"{value:,}" if isinstance(value, int) else str(value)
