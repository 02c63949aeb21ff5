"""Spark sessions: one for the command line, and temporary changes to the user's own, which Python uses."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coterie.engines.spark.block import BATCH_ROWS
from coterie.errors import BackendError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from coterie.settings.config import Config

SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS)}
"""Arrow batches are large: with Spark's 10,000 rows, half the time would be overhead"""


@dataclass(frozen=True)
class Cluster:
    """The Spark cluster and its options."""

    master: str | None = None
    """local[2], spark://host:7077, yarn, k8s://…; None: from Spark's own configuration, or all local cores"""
    settings: Mapping[str, str] = field(default_factory=dict)
    """further settings of Spark, such as spark.executor.memory"""


@contextmanager
def session_on(cluster: Cluster | None) -> Iterator[SparkSession]:
    """Return a session that ends with the run, or the existing one."""
    if cluster is None:
        cluster = Cluster()
    from coterie.engines.spark.frame import check_spark

    check_spark()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    # Otherwise executors would use any python3, which may lack coterie.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("coterie")
    if cluster.master is not None:
        builder = builder.master(cluster.master)
    # Dates with a time zone are the same on every machine; Spark's progress bar would overwrite ours.
    wanted = {"spark.sql.session.timeZone": "UTC", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    for name, value in {**wanted, **cluster.settings}.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except PySparkException as error:
        reason = error.getCondition() or type(error).__name__
        hint = (
            "It needs Java 17 or newer: install it, or set JAVA_HOME."
            if "JAVA" in reason
            else _master_hint(cluster.master)
        )
        raise BackendError(f"Spark does not start ({reason}).", hint=hint) from None
    except Exception as error:
        raise BackendError(
            f"Spark does not start ({type(error).__name__}).", hint=_master_hint(cluster.master)
        ) from None
    try:
        yield session
    finally:
        session.stop()


def _master_hint(master: str | None) -> str:
    return f"Is the master {master} there?" if master else "Name a master, such as --master local[2]."


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
