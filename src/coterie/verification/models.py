"""Privacy models beyond k, checked and measured on a published table.

Promises become rules of `verify_table`; what nobody promised is measured all the same, so that a table tells which l, t
or β it has. Nothing here knows how the table was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import ConfigError, Problem
from coterie.privacy import AlphaK, BetaLikeness, DeltaDisclosure, KMap, LDiversity, Model, TCloseness
from coterie.privacy.checks import ModelCheck, check_groups, check_models
from coterie.privacy.histogram import Groups
from coterie.settings.models import column_problems
from coterie.values.codes import column_codes
from coterie.verification.verify import Check, Classes, Rule

if TYPE_CHECKING:
    from coterie.settings.config import Config

# What is measured of every sensitive column: what it is called, and the model that measures it, whatever its limit.
MEASURES: dict[str, Model] = {
    "distinct l": LDiversity(1),
    "frequency l": LDiversity(1, kind="frequency"),
    "entropy l": LDiversity(1, kind="entropy"),
    "alpha": AlphaK(1),
    "t (equal)": TCloseness(1),
    "t (ordered)": TCloseness(1, distance="ordered"),
    "t (hierarchical)": TCloseness(1, distance="hierarchical"),
    "beta": BetaLikeness(1),
    "delta": DeltaDisclosure(1),
}


class Measured(NamedTuple):
    """What the worst class has of one sensitive column."""

    column: str
    name: str
    value: float
    size: int
    """rows of the worst class"""
    worst: int
    """the worst class; −1 for a table without rows"""


def promised(config: Config) -> tuple[Model, ...]:
    """The models of a configuration, each on one column, so that no other column than these is meant."""
    models: list[Model] = []
    for model in config.privacy:
        if model.needs_sensitive and model.on is None:
            models += [replace(model, on=column) for column in config.sensitive]
        else:
            models.append(model)
    return tuple(dict.fromkeys(models))


def model_rules(config: Config, *, people: pa.ChunkedArray | None = None) -> list[Rule]:
    """The promises of a configuration beyond k, as rules.

    Args:
        config: Models, sensitive columns with their types and hierarchies, and k.
        people: Row of the published table → person, if k is to count people.
    """
    problems = column_problems(config.privacy, config.sensitive)
    if problems:
        raise ConfigError(problems)
    models = promised(config)
    mapped = [model for model in models if isinstance(model, KMap)]
    plain = [model for model in models if not isinstance(model, KMap)]
    rules: list[Rule] = [lambda classes, model=model: _k_map(classes, model, config) for model in mapped]  # type: ignore[misc]
    if plain:
        rules.append(lambda classes: _plain(classes, plain, config))
    if people is not None:
        rules.append(lambda classes: people_check(classes, people, config.k))
    return rules


def _plain(classes: Classes, models: Sequence[Model], config: Config) -> list[Check]:
    columns = list(dict.fromkeys(model.on for model in models if model.on is not None))
    refuse_absent(classes.table.column_names, columns)
    made = check_models(
        classes.of_row,
        classes.table.select(columns),
        models,
        types=config.types,
        hierarchies=config.hierarchies,
    )
    return [as_check(check) for check in made]


def refuse_absent(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise a ConfigError that names the sensitive columns which a table does not have."""
    absent = [column for column in columns if column not in names]
    if absent:
        raise ConfigError([Problem("sensitive", f"the table has no column {column!r}") for column in absent])


def as_check(made: ModelCheck) -> Check:
    """The check of a model as one of a table."""
    return Check(made.name, made.wanted, made.found, made.passed, made.text, made.worst, made.size)


def _k_map(classes: Classes, model: KMap, config: Config) -> list[Check]:
    matches = population_matches(classes, model, config)
    groups = Groups(classes.sizes, matches={model.key: matches})
    return [as_check(check) for check in check_groups(groups, [model], ())]


def population_matches(classes: Classes, model: KMap, config: Config) -> Int64:
    """Class → people of a population whom its published values fit."""
    from coterie.disclosure.link import link_tables
    from coterie.files import tables

    population = tables.read(model.population, missing_values=config.missing_values, header=True).table
    link = link_tables(
        population, classes.table, on=classes.quasi, config=config, published=(False, True), unknown="value"
    )
    matches = np.zeros(len(classes.sizes), dtype=np.int64)
    matches[classes.of_row] = link.candidates()[link.second.class_of_row]
    return matches


def people_check(classes: Classes, people: pa.ChunkedArray, k: int) -> Check:
    """Whether every class holds rows of at least k people; rows without a person are one person together."""
    codes = column_codes(people, name="entity")
    pairs = np.unique(classes.of_row * max(codes.size, 1) + codes.codes)
    counts = np.bincount(pairs // max(codes.size, 1), minlength=len(classes.sizes))
    below = np.flatnonzero(counts < k)
    worst = int(np.argmin(counts)) if len(counts) else -1
    least, size = (int(counts[worst]), int(classes.sizes[worst])) if len(counts) else (0, 0)
    rows = int(classes.sizes[below].sum())
    made = people_counted(k, least=least, size=size, classes_below=len(below), rows_below=rows, classes=len(counts))
    return made._replace(worst=worst)


def people_counted(k: int, *, least: int, size: int, classes_below: int, rows_below: int, classes: int) -> Check:
    """The check of people, from counts.

    Args:
        k: People that every class has to have.
        least: People of the class with the fewest.
        size: Rows of that class.
        classes_below: Classes of fewer than k people.
        rows_below: Rows of these.
        classes: All classes.
    """
    if not classes:
        return Check("k-anonymity of people", k, k, True, "The table has no rows, so nobody is exposed.")
    text = f"Every group has rows of at least {k:,} people."
    if classes_below:
        text = (
            f"Groups of {k:,} people are wanted, but {rows_below:,} rows are in {classes_below:,} "
            f"groups of fewer; the smallest has {least:,}."
        )
    return Check("k-anonymity of people", k, least, not classes_below, text, -1, size)


def measure_models(classes: Classes, config: Config, sensitive: Sequence[str]) -> tuple[Measured, ...]:
    """What every model would find in the sensitive columns, worst class by worst class."""
    refuse_absent(classes.table.column_names, sensitive)
    if not sensitive:
        return ()
    found: list[Measured] = []
    table, groups = _counted(classes, config, sensitive)
    for column, domain in zip(sensitive, table.sensitive, strict=True):
        for name, model in MEASURES.items():
            if model.domain_problem(domain):
                continue
            found.append(_worst(groups, model, column, name))
    return tuple(found)


def _worst(groups: Groups, model: Model, column: str, name: str) -> Measured:
    """What a model finds in its worst class. Nothing is promised here, so no exact decision is needed."""
    if not len(groups.sizes):
        return Measured(column, name, model.wanted, 0, -1)
    values = model.measure(groups, column)
    worst = int(np.argmin(values) if model.higher_is_better else np.argmax(values))
    return Measured(column, name, float(values[worst]), int(groups.sizes[worst]), worst)


def _counted(classes: Classes, config: Config, sensitive: Sequence[str]) -> tuple[Any, Groups]:
    from coterie.privacy.histogram import count_columns
    from coterie.settings.config import Config
    from coterie.table.encode import encode

    settings = Config(
        sensitive=tuple(sensitive),
        types={name: kind for name, kind in config.types.items() if name in sensitive},
        hierarchies={name: each for name, each in config.hierarchies.items() if name in sensitive},
    )
    table = encode(classes.table, settings).table
    return table, count_columns(classes.of_row, table.sensitive_codes, table.sensitive, groups=len(classes.sizes))
