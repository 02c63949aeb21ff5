"""Check privacy models before grouping: which columns do not fit one, and what is infeasible for any grouping.

Published tables are not judged here: `coterie.verification` does that, with its own code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coterie.errors import InfeasibleError, Problem, refuse
from coterie.privacy.histogram import Groups
from coterie.privacy.model import Model

if TYPE_CHECKING:
    from coterie.table.domain import Domain


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
    refuse(problems)


def refuse_infeasible(whole: Groups, models: Sequence[Model], sensitive: Sequence[str]) -> None:
    """Raise an InfeasibleError if all rows in one group violate a model: then every grouping does.

    Every model still holds when groups merge, so groups that satisfy it would also satisfy it as one.
    """
    asked = [(model, column) for model in models for column in model.columns(sensitive)]
    failed = [(model, column) for model, column in asked if not model.holds(whole, column).all()]
    if not failed:
        return
    texts = []
    for model, column in failed:
        on = "" if column is None else f" of {column!r}"
        texts.append(f"{model.title}{on} is infeasible: {model.best(whole, column)[1]}.")
    model, column = failed[0]
    raise InfeasibleError(
        " ".join(texts),
        wanted=model.wanted,
        possible=model.best(whole, column)[0],
        hint="Ask for less" + (", or leave the column out of the release." if column else "."),
    )
