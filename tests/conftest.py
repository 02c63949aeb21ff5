"""Shared by all tests: how hard Hypothesis tries, and a small table of people."""

import os

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings

# No deadline anywhere: the first call of a kernel compiles it. In CI the same examples are tried on every run.
_quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("default", max_examples=50, deadline=None, suppress_health_check=_quiet)
settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True, suppress_health_check=_quiet)
settings.register_profile("mutants", max_examples=10, deadline=None, derandomize=True, suppress_health_check=_quiet)
settings.register_profile("thorough", max_examples=1000, deadline=None, suppress_health_check=_quiet)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


@pytest.fixture(scope="module")
def few_queries():
    """A report asks a thousand queries; where nobody looks at what they say, some will do."""
    from coterie.reporting import utility as report_utility

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_utility, "QUERIES", 50)
        yield


@pytest.fixture
def people() -> pa.Table:
    """Nine people; two missing values, a zip code with a leading zero, a name with a comma."""
    return pa.table(
        {
            "name": ["Ann", "Bob", "Cleo, Dr.", "Dan", "Eva", "Fay", "Gus", "Hal", "Ida"],
            "age": [34, 45, 29, 61, 58, 33, 47, 52, 30],
            "zip": ["02138", "02139", "02138", "02141", "02142", None, "02139", "02141", "02138"],
            "disease": ["flu", "cold", "flu", "gout", "cold", "gout", None, "flu", "cold"],
        }
    )
