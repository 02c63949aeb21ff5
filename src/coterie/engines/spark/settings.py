"""What a run changes in the user's session for a while, and what is drawn for it."""

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
    """The configuration with secret options drawn, if they are to be: a task that runs again has to draw the same."""
    options = config.method_options()
    drawn = {name: secrets.token_hex(32) for name in options.secrets if getattr(options, name) is None}
    return config.replace(options={**config.options, **drawn}) if drawn else config


@contextmanager
def settings(session: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Some settings of the user's session, for a while."""
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
    """What executors keep for a release, to which more may be added; if it fails, they keep nothing."""
    kept = [frame]
    try:
        yield kept
    except BaseException:
        for each in kept:
            each.unpersist()
        raise


SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS)}
"""batches of Arrow are large: of Spark's 10,000 rows, half the time would be overhead"""
