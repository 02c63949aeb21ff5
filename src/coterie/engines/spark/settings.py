"""Temporary changes to the user's session, and secrets drawn for a run."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coterie.engines.spark.block import BATCH_ROWS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from coterie.settings.config import Config


def with_secrets(config: Config) -> Config:
    """Draw secret options, if required: a task that runs again must use the same ones."""
    options = config.method_options()
    drawn = {name: secrets.token_hex(32) for name in options.secrets if getattr(options, name) is None}
    return config.replace(options={**config.options, **drawn}) if drawn else config


@contextmanager
def settings(session: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Apply some settings to the user's session temporarily."""
    before = {name: session.conf.get(name, None) for name in values}
    for name, value in values.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)


@contextmanager
def kept_unless_failing(frame: DataFrame) -> Iterator[list[DataFrame]]:
    """Collect what executors cache for a release; if it fails, release it."""
    kept = [frame]
    try:
        yield kept
    except BaseException:
        for each in kept:
            each.unpersist()
        raise


SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS)}
"""Arrow batches are large: with Spark's 10,000 rows, half the time would be overhead"""
