"""The base class of privacy models: a guarantee for every group, decided from counts.

All models here still hold when groups merge: if two groups satisfy the model, so does their union. Shares of a union
lie between those of its parts, and each model requires shares in a convex set or sizes that only grow. Two things
follow. Classes with equal published cells may be counted together. And a model is feasible for a table if and only if
all of its rows in one group satisfy it, so infeasible requests are known before any grouping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

from coterie.arrays import Bool, Float64, Int64
from coterie.errors import ConfigError, Problem
from coterie.privacy.exact import as_fraction, plain_number
from coterie.settings.registry import MODELS

if TYPE_CHECKING:
    from coterie.privacy.histogram import Groups
    from coterie.table.domain import Domain

Number: TypeAlias = int | float | Fraction


class Model:
    """A guarantee for every group of a release. A subclass is a frozen dataclass; with a `name` it registers itself.

    Your own model needs `name`, `parts`, `meaning`, `figure` and `keeps`; the rest follows. It must hold for the
    union of two groups that it holds for.
    """

    name: ClassVar[str]
    """as written in a configuration"""
    paper: ClassVar[str] = ""
    meaning: ClassVar[str]
    """what it guarantees, in a sentence"""
    not_proved: ClassVar[str] = "Anything beyond its definition."
    """its limitations, in a sentence"""
    parts: ClassVar[tuple[str, ...]]
    """the parameters in the order of its text form, as in `l-diversity:3:disease:entropy`"""
    parts_help: ClassVar[Mapping[str, str]] = {}
    """parameter → its description, if its name is not enough"""
    counts: ClassVar[Literal["values", "rows", "population"]] = "values"
    """what must be counted to judge it: sensitive values, rows, or people of a population"""
    variant: ClassVar[str] = ""
    """the parameter that chooses between definitions, if there is one"""
    colons_at_the_end: ClassVar[bool] = False
    """whether the last part of a text may contain colons, as a path does"""

    on: str | None
    """the sensitive attribute; None means all of them"""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            MODELS.add(cls.name, cls)

    @classmethod
    def choices(cls, part: str) -> tuple[str, ...]:
        """Return the allowed values of a parameter, if they are listed."""
        hint = get_type_hints(cls).get(part)
        return get_args(hint) if get_origin(hint) is Literal else ()

    @classmethod
    def limit_option(cls) -> str:
        """Return the `coterie verify` option for its limit, without dashes; none if it needs more than that."""
        return cls.parts[0] if cls.counts == "values" else ""

    @property
    def needs_sensitive(self) -> bool:
        """Whether it is about a sensitive attribute."""
        return self.counts == "values"

    @property
    def floor(self) -> str:
        """The parameter, besides the limit, that is a minimum number of rows or values; empty if there is none."""
        return ""

    def figure(self, counts: Sequence[int], totals: Sequence[int]) -> float:
        """Return the strictest limit that one group satisfies, for display.

        Args:
            counts: Sensitive value → rows of the group.
            totals: Sensitive value → rows of the table.
        """
        raise NotImplementedError

    def keeps(self, counts: Sequence[int], totals: Sequence[int]) -> bool:
        """Return whether one group satisfies the guarantee, decided exactly; arguments as for `figure`."""
        raise NotImplementedError

    @property
    def higher_is_better(self) -> bool:
        """Whether the measured value must reach the limit, rather than stay within it."""
        return False

    @property
    def threshold(self) -> str:
        """The parameter with the limit."""
        return self.parts[0]

    @property
    def limit(self) -> Fraction:
        """The exact threshold: a float means the decimal number that it prints as."""
        return as_fraction(getattr(self, self.threshold))

    @property
    def wanted(self) -> float:
        """The threshold, for display."""
        return float(self.limit)

    @property
    def title(self) -> str:
        """The guarantee, in a few words."""
        return f"{self.name} ({self.threshold} = {shown(getattr(self, self.threshold))})"

    def measure(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → the strictest threshold it satisfies, for display."""
        return np.array([self.figure(*each) for each in groups.column(column).each()], dtype=np.float64)

    def holds(self, groups: Groups, column: str | None = None) -> Bool:
        """Return group → whether it satisfies the model, decided exactly."""
        return np.array([self.keeps(*each) for each in groups.column(column).each()], dtype=np.bool_)

    def shortfall(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → how far it is from satisfying the model, about 0 … 1; only for choosing between repairs."""
        off = np.abs(self.measure(groups, column) - self.wanted) / max(self.wanted, 1.0)
        return np.where(self.holds(groups, column), 0.0, np.minimum(off, 1.0))

    def best(self, whole: Groups, column: str | None = None) -> tuple[float, str]:
        """Return the strictest threshold that the whole table as one group satisfies, and hence any grouping; in words.

        In words it is rounded towards the feasible side.
        """
        found = float(self.measure(whole, column)[0])
        if np.isinf(found):
            return found, f"no {self.threshold} is feasible"
        rounded = (np.floor(found * 10_000) if self.higher_is_better else np.ceil(found * 10_000)) / 10_000
        bound = "at most" if self.higher_is_better else "at least"
        return found, f"in this table {self.threshold} can be {bound} {rounded:,.10g}"

    def columns(self, sensitive: Sequence[str]) -> tuple[str | None, ...]:
        """Return the columns that it applies to: among these sensitive attributes, or (None,) for a model without."""
        if not self.needs_sensitive:
            return (None,)
        return tuple(sensitive) if self.on is None else (self.on,)

    def domain_problem(self, domain: Domain) -> str:
        """Return why a sensitive attribute does not fit this model, or nothing."""
        return ""

    def located(self, base: Path) -> Self:
        """Return the model with relative paths resolved against a folder."""
        return self

    @property
    def spec(self) -> str | dict[str, Any]:
        """The model as text, or as a dict if a name would break the text; `parse_privacy` reads either."""
        non_defaults = self.non_defaults()
        texts = [str(non_defaults.get(part, "")) for part in self.parts]
        while texts and not texts[-1]:
            texts.pop()
        text = ":".join([self.name, *texts])
        if any(":" in part or part != part.strip() for part in texts):
            return {"model": self.name, **non_defaults}
        return text

    def non_defaults(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, as plain values."""
        values = {}
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if each.init and value is not None and value != each.default:
                values[each.name] = str(value) if isinstance(value, Fraction) else value
        return values

    def _check_number(self, name: str, *, least: Fraction | int, strict: bool = False, most: int | None = None) -> None:
        """Check a number of the model and store it as people would write it."""
        number = self._number(name)
        above = "more than" if strict else "at least"
        up_to = f" and at most {most}" if most is not None else ""
        if number is None or number < least or (strict and number == least) or (most is not None and number > most):
            raise ConfigError([Problem(name, f"must be a number of {above} {least}{up_to}")])
        object.__setattr__(self, name, plain_number(number))

    def _check_whole(self, name: str) -> None:
        """Check an integer of the model."""
        number = self._number(name)
        if number is None or number.denominator != 1 or number < 1:
            raise ConfigError([Problem(name, "must be a whole number of at least 1")])
        object.__setattr__(self, name, int(number))

    def _number(self, name: str) -> Fraction | None:
        try:
            return as_fraction(getattr(self, name))
        except (ValueError, TypeError):
            return None

    def _check_choice(self, name: str) -> None:
        choices = self.choices(name)
        if getattr(self, name) not in choices:
            raise ConfigError([Problem(name, f"must be {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}")])

    def _check_on(self) -> None:
        if self.on is not None and (not isinstance(self.on, str) or not self.on):
            raise ConfigError([Problem("on", "must be the name of a sensitive column, or left out for all of them")])


class AtLeastK(Model):
    """A model that asks for k of something in every group."""

    k: int
    higher_is_better = True
    on = None

    def count(self, groups: Groups) -> Int64:
        """Return group → what is counted."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """The guarantee, in a few words."""
        return f"{self.k:,}{self.name.removeprefix('k')}"

    def measure(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → its count."""
        return self.count(groups).astype(np.float64)

    def holds(self, groups: Groups, column: str | None = None) -> Bool:
        """Return group → whether it has k."""
        return self.count(groups) >= self.k

    def shortfall(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → the missing share of k."""
        return np.maximum(self.k - self.count(groups), 0) / self.k


def shown(value: Number) -> str:
    """Format a threshold."""
    return f"{value:,}" if isinstance(value, int) else str(value)
