"""All tests here need Spark."""

import pytest
from spark_session import session, spark_or_skip

__all__ = ["needs_spark", "session", "spark_or_skip"]


@pytest.fixture(scope="session", autouse=True)
def needs_spark(spark_or_skip):
    """Skip everything here where Spark cannot run."""
