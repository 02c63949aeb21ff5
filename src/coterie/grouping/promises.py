"""What a grouping has to keep beyond k: refused before grouping if impossible, repaired after it, checked at the end.

A person with several rows is one more model: every group needs k distinct values of the column that names people.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import InfeasibleError
from coterie.verification.verify import Rule

if TYPE_CHECKING:
    from coterie.methods import Run
    from coterie.privacy.model import Model
    from coterie.settings.config import Config
    from coterie.table.encode import EncodedTable
    from coterie.table.grouping import Grouping


def models_of(config: Config) -> tuple[Model, ...]:
    """Every model that groups have to keep, each on one column."""
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


def refuse_too_few(config: Config, *, rows: int, remaining: int, people: int | None) -> None:
    """Raise an InfeasibleError where k is more than there are.

    Args:
        config: What is wanted.
        rows: Rows of the original.
        remaining: Those of them that are not suppressed.
        people: Whom they are about, if k counts people.
    """
    if remaining < config.k:
        taken = f", {rows - remaining:,} of which are suppressed" if remaining < rows else ""
        raise InfeasibleError(
            f"Groups of {config.k:,} rows cannot be made: the table has {rows:,} rows{taken}.",
            wanted=config.k,
            possible=remaining,
            hint=f"Ask for k of at most {remaining:,}." if remaining else "Give a table with rows.",
        )
    if people is not None and people < config.k:
        raise InfeasibleError(
            f"Groups of {config.k:,} people cannot be made: {config.entity!r} names {people:,}.",
            wanted=config.k,
            possible=people,
            hint=f"Ask for k of at most {people:,}.",
        )


def refuse_impossible(encoded: EncodedTable, config: Config, rows: int) -> None:
    """Raise an InfeasibleError, before any work, for what no grouping of the table can keep.

    Args:
        encoded: The table.
        config: What is wanted.
        rows: Rows of the original, suppressed ones included.
    """
    # The column of people is the last of the sensitive ones.
    people = None if config.entity is None else len(np.unique(encoded.table.sensitive_codes[:, -1]))
    refuse_too_few(config, rows=rows, remaining=encoded.table.rows, people=people)
    models = models_of(config)
    if models:
        from coterie.grouping.repair.repair import feasible

        feasible(encoded.table, models)


def keep_promises(
    grouping: Grouping, encoded: EncodedTable, config: Config, *, columns: pa.Table, run: Run
) -> Grouping:
    """The grouping, repaired where it breaks a model.

    Args:
        grouping: What the method made.
        encoded: The table.
        config: What is wanted.
        columns: The original columns.
        run: Told of progress; may stop the work.
    """
    models = models_of(config)
    if not models:
        return grouping
    from coterie.grouping.repair.repair import repair

    kept = np.flatnonzero(grouping.labels >= 0)
    if len(kept) == len(grouping.labels):
        return repair(encoded.table, grouping, models, k=config.k, run=run)
    # Shares are those of the published rows, so that rows and values which are suppressed must not count.
    part = _without_suppressed(encoded, kept, columns=columns, config=config)
    inner = replace(grouping, labels=grouping.labels[kept])
    mended = repair(part.table, inner, models, k=config.k, run=run)
    labels = grouping.labels.copy()
    labels[kept] = mended.labels
    return replace(mended, labels=labels)


def _without_suppressed(encoded: EncodedTable, kept: Int64, *, columns: pa.Table, config: Config) -> EncodedTable:
    """The table without some rows; its sensitive columns know nothing of the values of these."""
    from coterie.table.encode import encode

    rows = encoded.rows[kept]
    names = [*config.sensitive, *([] if config.entity is None else [config.entity])]
    settings = config.replace(quasi=(), privacy=())
    sensitive = encode(columns.select(names).take(pa.array(rows)), settings).table
    table = replace(
        encoded.table,
        codes=np.ascontiguousarray(encoded.table.codes[kept]),
        sensitive_codes=sensitive.sensitive_codes,
        sensitive=sensitive.sensitive,
    )
    return encoded._replace(table=table, rows=rows)


def rules_of(config: Config, *, columns: pa.Table | None = None, kept: Int64 | None = None) -> list[Rule]:
    """The promises as rules for the check of a published table.

    Args:
        config: What is promised.
        columns: The original columns: people are counted there, since the release does not name them.
        kept: Row of the published table → position in the original.
    """
    if not config.privacy and config.entity is None:
        return []
    from coterie.verification.models import model_rules

    people = None
    if config.entity is not None and columns is not None and config.entity in columns.column_names:
        people = columns.column(config.entity)
        people = people if kept is None else people.take(pa.array(kept))
    return model_rules(config, people=people)
