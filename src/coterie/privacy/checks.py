"""Check privacy models on a table, from its rows' classes and sensitive columns alone.

Nothing here knows how the classes came about: it imports no method and no kernel, and serves the verification of
published tables as well as that of groups in the making.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64, Integers
from coterie.errors import ConfigError, InfeasibleError, Problem
from coterie.privacy.histogram import Groups, count_columns
from coterie.privacy.model import Model
from coterie.wording import count_of

if TYPE_CHECKING:
    from coterie.table.domain import Domain


class ModelCheck(NamedTuple):
    """One model on one sensitive column, and whether every class keeps it."""

    model: Model
    column: str | None
    """the sensitive column; None for a model without"""
    wanted: float
    found: float
    """what the worst class has"""
    passed: bool
    failing: int
    """classes that break the promise"""
    rows: int
    """rows in these"""
    worst: int
    """the class that is worst; −1 for a table without rows"""
    size: int
    """rows of the worst class"""

    @property
    def name(self) -> str:
        """The model's name, and the column that it is on."""
        return self.model.name if self.column is None else f"{self.model.name}({self.column})"

    @property
    def text(self) -> str:
        """One sentence for a person, without any cell value."""
        on = _on(self.column)
        if self.worst < 0:
            return f"The table has no rows, so {self.model.title}{on} holds."
        worst = f"the worst has {_figure(self.found)} in {self.size:,} rows"
        if self.passed:
            return f"Every group has {self.model.title}{on}; {worst}."
        groups = count_of(self.failing, "group")
        return f"{self.model.title}{on} is wanted, but {self.rows:,} rows are in {groups} without it; {worst}."


def _figure(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def check_models(
    class_of_row: Integers,
    columns: pa.Table,
    models: Sequence[Model],
    *,
    types: Mapping[str, Any] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> list[ModelCheck]:
    """Check models on a published table.

    Args:
        class_of_row: Row → class 0, 1, …; rows of class −1 are not counted.
        columns: The sensitive columns as published. A model without a column is checked on all of them.
        models: What is promised. Models that need a population have to be checked by `check_groups`.
        types: Column → type, where the guess from its values would be wrong.
        hierarchies: Column → hierarchy, for distances.

    Returns:
        A result for each model and column.
    """
    from coterie.settings.config import Config
    from coterie.table.encode import encode

    names = columns.column_names
    classes = int(class_of_row.max(initial=-1)) + 1
    if not names:
        return check_groups(Groups(_sizes(class_of_row, classes)), models, ())
    config = Config(
        sensitive=tuple(names),
        types={name: kind for name, kind in (types or {}).items() if name in names},
        hierarchies={name: hierarchy for name, hierarchy in (hierarchies or {}).items() if name in names},
    )
    table = encode(columns, config).table
    check_domains(models, table.sensitive)
    groups = count_columns(class_of_row, table.sensitive_codes, table.sensitive, groups=classes)
    return check_groups(groups, models, names)


def _sizes(class_of_row: Integers, classes: int) -> Int64:
    return np.bincount(class_of_row[class_of_row >= 0], minlength=classes).astype(np.int64)


def check_groups(groups: Groups, models: Sequence[Model], sensitive: Sequence[str]) -> list[ModelCheck]:
    """Check models on groups that have been counted."""
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
    """Raise a ConfigError with every sensitive column that a model cannot judge."""
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
    """Raise an InfeasibleError if all rows in one group break a promise: then no grouping keeps it.

    Every model is kept when groups merge, so groups that keep it would keep it as one.

    Args:
        whole: The whole table as one group.
        models: What is wanted.
        sensitive: The sensitive columns.
    """
    failed = [check for check in check_groups(whole, models, sensitive) if not check.passed]
    if not failed:
        return
    best = [check.model.best(whole, check.column) for check in failed]
    texts = [
        f"{check.model.title}{_on(check.column)} cannot be had: {text}."
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
