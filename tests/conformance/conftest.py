"""The count of compiled kernels comes last, when all others have used them; engines are ready when a test has them."""

import pytest
from spark_session import session, spark_or_skip

__all__ = ["engine", "session", "spark_or_skip"]


@pytest.fixture
def engine(request):
    """The name of an engine that can be used; Spark has a session then, or the test is skipped."""
    if request.param == "spark":
        request.getfixturevalue("session")
    return request.param


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: "test_signatures.py" in item.nodeid)
