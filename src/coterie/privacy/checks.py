"""Check privacy models during grouping: which groups violate one, and what is infeasible for any grouping.

Published tables are not judged here: `coterie.verification` does that, with its own code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.errors import ConfigError, InfeasibleError, Problem
from coterie.privacy.histogram import Groups
from coterie.privacy.model import Model

if TYPE_CHECKING:
    from coterie.table.domain import Domain


class ModelCheck(NamedTuple):
    """One model on one sensitive attribute, and whether every class satisfies it."""

    model: Model
    column: str | None
    """the sensitive attribute; None for a model without"""
    wanted: float
    found: float
    """the value in the worst class"""
    passed: bool
    failing: int
    """classes that violate the model"""
    rows: int
    """rows in these"""
    worst: int
    """the class that is worst; −1 for a table without rows"""
    size: int
    """rows of the worst class"""


def check_groups(groups: Groups, models: Sequence[Model], sensitive: Sequence[str]) -> list[ModelCheck]:
    """Check models on counted groups."""
    return [_check(groups, model, column) for model in models for column in model.columns(sensitive)]


def _check(groups: Groups, model: Model, column: str | None) -> ModelCheck:
    if not len(groups.sizes):
        return ModelCheck(model, column, model.wanted, model.wanted, True, 0, 0, -1, 0)
    holds = model.holds(groups, column)
    found = model.measure(groups, column)
    # A class that fails goes before one that does not, also where rounding shows the same value for both.
    candidates = np.flatnonzero(~holds) if not holds.all() else np.arange(len(holds))
    values = found[candidates]
    worst = int(candidates[np.argmin(values) if model.higher_is_better else np.argmax(values)])
    return ModelCheck(
        model=model,
        column=column,
        wanted=model.wanted,
        found=float(found[worst]),
        passed=bool(holds.all()),
        failing=int(np.count_nonzero(~holds)),
        rows=int(groups.sizes[~holds].sum()),
        worst=worst,
        size=int(groups.sizes[worst]),
    )


def check_domains(models: Sequence[Model], sensitive: Sequence[Domain]) -> None:
    """Raise a ConfigError with every sensitive attribute that a model does not support."""
    problems = []
    by_name = {domain.name: domain for domain in sensitive}
    for model in models:
        for column in model.columns(tuple(by_name)):
            if column is None:
                continue
            if column not in by_name:
                problems.append(Problem("privacy", f"{model.name}: there is no sensitive column {column!r}"))
            elif text := model.domain_problem(by_name[column]):
                problems.append(Problem("privacy", f"{model.name}: column {column!r} {text}"))
    if problems:
        raise ConfigError(problems)


def refuse_infeasible(whole: Groups, models: Sequence[Model], sensitive: Sequence[str]) -> None:
    """Raise an InfeasibleError if all rows in one group violate a model: then every grouping does.

    Every model still holds when groups merge, so groups that satisfy it would also satisfy it as one.

    Args:
        whole: The whole table as one group.
        models: The privacy models.
        sensitive: The sensitive attributes.
    """
    failed = [check for check in check_groups(whole, models, sensitive) if not check.passed]
    if not failed:
        return
    best = [check.model.best(whole, check.column) for check in failed]
    texts = [
        f"{check.model.title}{_on(check.column)} is infeasible: {text}."
        for check, (_, text) in zip(failed, best, strict=True)
    ]
    raise InfeasibleError(
        " ".join(texts),
        wanted=failed[0].wanted,
        possible=best[0][0],
        hint="Ask for less" + (", or leave the column out of the release." if failed[0].column else "."),
    )


def _on(column: str | None) -> str:
    return "" if column is None else f" of {column!r}"
