"""Privacy models decided from counts: class × sensitive value → rows, some classes at a time.

What comes from SQL, of whatever engine, is judged here by the models' own exact decisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.privacy.checks import ModelCheck, check_domains, check_groups
from coterie.privacy.histogram import Groups, Histogram
from coterie.privacy.kmap import KMap
from coterie.privacy.model import Model
from coterie.table.codebook import CountedValues, Lookup, counted_domain, plain_cells
from coterie.table.domain import Domain
from coterie.values.codes import column_codes, row_classes
from coterie.verification.models import MEASURES, Measured, as_check, population_matches
from coterie.verification.verify import Check, Classes

if TYPE_CHECKING:
    from coterie.settings.config import Config


class Sensitive(NamedTuple):
    """A sensitive column of the release."""

    domain: Domain
    lookup: Lookup
    totals: Int64
    """code → rows of the release"""


class ClassCounts(NamedTuple):
    """Some classes, each with all of its sensitive values."""

    group: Int64
    """pair → class 0, 1, …"""
    values: pa.Array
    """pair → value"""
    counts: Int64
    """pair → rows"""

    @classmethod
    def of(cls, table: pa.Table, names: Sequence[str]) -> ClassCounts:
        """From a table of the published columns, `v` the value and `n` the rows."""
        classes, _ = row_classes([column_codes(table.column(name), name=name) for name in names])
        return cls(classes, plain_cells(table.column("v")), table.column("n").to_numpy())


def sensitive_domains(counted: Mapping[str, pa.Table], config: Config) -> dict[str, Sensitive]:
    """The sensitive columns of a release, from their values `v` and rows `n`, sorted by value."""
    found = {}
    for name, table in counted.items():
        values, rows = plain_cells(table.column("v")), table.column("n").to_numpy()
        present = values.is_valid().to_numpy(zero_copy_only=False)
        made = CountedValues(values.drop_null(), rows[present].astype(np.int64), int(rows[~present].sum()))
        domain, lookup = counted_domain(name, made, config)
        weights = np.append(made.counts, made.missing)[: len(lookup.codes)]
        totals = np.bincount(lookup.codes, weights=weights, minlength=domain.size).astype(np.int64)
        found[name] = Sensitive(domain, lookup, totals)
    return found


class ModelChecks:
    """The checks of some models, added up over all classes."""

    def __init__(
        self, models: Sequence[Model], columns: Mapping[str, Sensitive], config: Config, *, measuring: bool = False
    ) -> None:
        plain = [model for model in models if not isinstance(model, KMap)]
        check_domains(plain, [each.domain for each in columns.values()])
        self.models, self.columns, self.config = tuple(models), dict(columns), config
        self._found: dict[Model, ModelCheck] = {}
        self._worst: dict[tuple[str, str], Measured] = {}
        self._measuring = measuring

    def add_values(self, column: str, counts: ClassCounts) -> None:
        """Judge some classes by the models on one sensitive column."""
        domain, lookup, totals = self.columns[column]
        codes = lookup.find(counts.values).astype(np.int64)
        keys, place = np.unique(counts.group * domain.size + codes, return_inverse=True)
        rows = np.bincount(place, weights=counts.counts, minlength=len(keys)).astype(np.int64)
        group, value = np.divmod(keys, max(domain.size, 1))
        sizes = np.bincount(group, weights=rows).astype(np.int64)
        histogram = Histogram(group, value, rows, sizes, totals, domain.tree)
        models = [model for model in self.models if model.on == column]
        groups = Groups(sizes, {column: histogram})
        self.add(check_groups(groups, models, (column,)))
        if self._measuring:
            self._measure(column, groups)

    def _measure(self, column: str, groups: Groups) -> None:
        """Find the worst of these classes by every model, promised or not."""
        for name, model in MEASURES.items():
            if model.domain_problem(self.columns[column].domain):
                continue
            values = model.measure(groups, column)
            at = int(np.argmin(values) if model.higher_is_better else np.argmax(values))
            found = Measured(column, name, float(values[at]), int(groups.sizes[at]), -1)
            before = self._worst.get((column, name), found)
            chosen = min if model.higher_is_better else max
            self._worst[(column, name)] = chosen(before, found, key=lambda each: each.value)

    def measured(self) -> tuple[Measured, ...]:
        """What the worst class of each column has, by every model; nothing unless it was asked for."""
        names, columns = list(MEASURES), list(self.columns)
        order = sorted(self._worst, key=lambda key: (columns.index(key[0]), names.index(key[1])))
        return tuple(self._worst[key] for key in order)

    def add_classes(self, classes: pa.Table, names: Sequence[str]) -> None:
        """Judge some classes by the models that ask a population.

        Args:
            classes: The published columns of each class, and `n` its rows.
            names: The published columns.
        """
        sizes = classes.column("n").to_numpy().astype(np.int64)
        table = classes.select(list(names))
        every = Classes(table, tuple(self.config.quasi), np.arange(len(sizes)), sizes)
        for model in self.models:
            if isinstance(model, KMap):
                matches = population_matches(every, model, self.config)
                self.add(check_groups(Groups(sizes, matches={model.key: matches}), [model], ()))

    def found(self) -> list[ModelCheck]:
        """What was found so far, for `add` of the same checks elsewhere."""
        return list(self._found.values())

    def add(self, checks: Sequence[ModelCheck]) -> None:
        """Add what was found elsewhere, of other classes."""
        for check in checks:
            before = self._found.get(check.model)
            self._found[check.model] = check if before is None else _worse(before, check)

    def results(self) -> list[Check]:
        """One check for each model."""
        nothing = Groups(np.zeros(0, dtype=np.int64))
        for model in self.models:
            if model not in self._found:
                self._found[model] = check_groups(nothing, [model], () if model.on is None else (model.on,))[0]
        # Populations first, as the check in memory has them.
        ordered = sorted(self.models, key=lambda model: not isinstance(model, KMap))
        return [as_check(self._found[model])._replace(worst=-1) for model in ordered]


def _worse(one: ModelCheck, two: ModelCheck) -> ModelCheck:
    """Both checks as one: the worst class is that of the worse; one that fails goes before one that does not."""
    if one.passed != two.passed:
        worst = two if one.passed else one
    elif one.model.higher_is_better:
        worst = min(one, two, key=lambda check: check.found)
    else:
        worst = max(one, two, key=lambda check: check.found)
    return worst._replace(passed=one.passed and two.passed, failing=one.failing + two.failing, rows=one.rows + two.rows)
