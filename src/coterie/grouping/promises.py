"""Guarantees of a grouping beyond k, refused before grouping if infeasible.

A person with several rows is one more model: every group needs k distinct values of the column that identifies people.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coterie.errors import InfeasibleError
from coterie.privacy.checks import check_domains, refuse_infeasible
from coterie.privacy.histogram import Groups, Histogram

if TYPE_CHECKING:
    from coterie.privacy.model import Model
    from coterie.settings.config import Config
    from coterie.table.codebook import Codebook
    from coterie.table.table import Table


def models_of(config: Config) -> tuple[Model, ...]:
    """Return every model that groups must satisfy, each on one column."""
    if not config.privacy and config.entity is None:
        return ()
    from coterie.privacy import LDiversity

    models: list[Model] = []
    for model in config.privacy:
        if model.needs_sensitive and model.on is None:
            models += [replace(model, on=column) for column in config.sensitive]  # type: ignore[type-var]
        else:
            models.append(model)
    people = () if config.entity is None else (LDiversity(config.k, on=config.entity),)
    return (*dict.fromkeys(models), *people)


def refuse_impossible(book: Codebook, table: Table | None = None) -> None:
    """Raise an InfeasibleError, before any work, for what is infeasible for any grouping of the table.

    Args:
        book: The counts of its values, and the configuration.
        table: Its rows, if in memory: k-map, which counts rows of the population, is then checked as well.
    """
    config, rows = book.config, np.array([book.rows])
    people = None if config.entity is None else book.sensitive[-1].size
    if book.rows < config.k:
        taken = f", {book.all_rows - book.rows:,} of which are suppressed" if book.rows < book.all_rows else ""
        raise InfeasibleError(
            f"Groups of {config.k:,} rows cannot be made: the table has {book.all_rows:,} rows{taken}.",
            wanted=config.k,
            possible=book.rows,
            hint=f"Use a k of at most {book.rows:,}." if book.rows else "Give a table with rows.",
        )
    if people is not None and people < config.k:
        raise InfeasibleError(
            f"Groups of {config.k:,} people cannot be made: {config.entity!r} names {people:,}.",
            wanted=config.k,
            possible=people,
            hint=f"Use a k of at most {people:,}.",
        )
    models = models_of(config)
    counted = [model for model in models if model.counts != "population"]
    check_domains(counted, book.sensitive)
    columns = {}
    for domain in book.sensitive:
        totals = book.totals[domain.name]
        value = np.flatnonzero(totals)
        group = np.zeros(len(value), dtype=np.int64)
        columns[domain.name] = Histogram(group, value, totals[value], rows, totals, domain.tree)
    refuse_infeasible(Groups(rows, columns), counted, tuple(columns))
    if table is not None and len(counted) < len(models):
        from coterie.grouping.repair.repair import feasible

        feasible(table, [model for model in models if model.counts == "population"])
