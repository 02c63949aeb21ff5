"""The guarantees of a configuration as the judge's own plain numbers and names, read from the privacy models."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from coterie.errors import Problem, refuse

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.verification.sensitive import Sensitive


@dataclass(frozen=True)
class Promise:
    """One privacy model on one sensitive attribute, or on none."""

    name: str
    title: str
    limit: Fraction
    column: str | None = None
    kind: str = ""
    """the kind of diversity or likeness, or the distance"""
    least: int = 1
    """the l of recursive diversity, whose limit is c; the k of (α, k)"""
    population: Any = field(default=None, compare=False)
    source: Hashable = None
    """the identity of the population"""
    counts: str = "values"
    """what is counted: sensitive values, rows, or people of a population"""
    own: Any = field(default=None, compare=False)
    """the model itself, whose decision for one class is used if the judge has no rule for it"""

    @property
    def rule(self) -> str:
        """The name of the judge's rule for it."""
        return f"{self.name} {self.kind}".strip()

    def problem(self, table: Sensitive) -> str:
        """Return why a column does not fit; "" if it does: ordered distance needs an order, hierarchical one a tree."""
        if self.kind == "hierarchical" and table.tree is None:
            return "has no hierarchy; give it one in hierarchies, or use the equal distance"
        if self.kind == "ordered" and not table.ordered:
            return "has no order; give it a hierarchy that lists its values in order, or use the equal distance"
        return ""


def promises_of(config: Config) -> tuple[Promise, ...]:
    """Return the guarantees of a configuration beyond k, each on one column; populations first.

    Raises:
        ConfigError: A model names a missing sensitive attribute; reports all problems at once.
    """
    made: list[Promise] = []
    problems: list[Problem] = []
    for model in config.privacy:
        if model.counts != "values":
            made.append(promise_of(model, None))
        elif model.on is not None and model.on not in config.sensitive:
            text = f"{model.name} is on column {model.on!r}, which is not in sensitive; add it"
            problems.append(Problem("privacy", text))
        elif not config.sensitive:
            problems.append(Problem("privacy", f"{model.name} needs a sensitive column; name one in sensitive"))
        else:
            columns = config.sensitive if model.on is None else (model.on,)
            made += [promise_of(model, column) for column in columns]
    refuse(problems)
    return tuple(sorted(dict.fromkeys(made), key=lambda promise: promise.counts != "population"))


def promise_of(model: Any, column: str | None) -> Promise:  # noqa: ANN401 - any model: only its plain fields are read
    """Return a privacy model in the judge's form."""
    limit, kind, least = _read(model)
    population = getattr(model, "population", None)
    source = str(population) if hasattr(population, "__fspath__") or isinstance(population, str) else id(population)
    return Promise(
        model.name,
        model.title,
        # A float means the decimal number that it prints as.
        Fraction(repr(limit)) if isinstance(limit, float) else Fraction(limit),
        column,
        kind,
        least,
        population,
        source,
        model.counts,
        model,
    )


def _read(model: Any) -> tuple[Any, str, int]:  # noqa: ANN401 - as above
    """Return the limit, the kind and the minimum of a model from its fields, never from code that repairs a release."""
    match model.name:
        case "l-diversity":
            return (model.c, "recursive", int(model.l)) if model.kind == "recursive" else (model.l, model.kind, 1)
        case "t-closeness":
            return model.t, model.distance, 1
        case "beta-likeness":
            return model.beta, model.kind, 1
        case "alpha-k":
            return model.alpha, "", model.k or 1
        case "delta-disclosure":
            return model.delta, "", 1
        case "k-anonymity" | "k-map":
            return model.k, "", 1
    # A user-defined model declares these fields.
    kind = str(getattr(model, model.variant)) if model.variant else ""
    return getattr(model, model.threshold), kind, int((getattr(model, model.floor) if model.floor else None) or 1)


def refuse_unfit(promises: Sequence[Promise], tables: dict[str, Sensitive]) -> None:
    """Raise a ConfigError with every sensitive attribute that a guarantee does not fit."""
    problems = [
        Problem("privacy", f"{promise.name}: column {promise.column!r} {text}")
        for promise in promises
        if promise.column is not None and (text := promise.problem(tables[promise.column]))
    ]
    refuse(problems)
