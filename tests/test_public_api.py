"""The names that users rely on."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import coterie

ROOT = Path(__file__).parent.parent

PROMISED = {
    "anonymize",
    "verify",
    "measure",
    "Config",
    "Hierarchy",
    "Release",
    "intervals",
    "prefixes",
    "dates",
    "flat",
    "datasets",
    "errors",
}


def test_all_names_exist():
    for name in coterie.__all__:
        assert getattr(coterie, name) is not None
    assert len(set(coterie.__all__)) == len(coterie.__all__)
    assert set(coterie.__all__) >= PROMISED
    assert set(dir(coterie)) == set(coterie.__all__)


def test_lazy_names_are_listed_and_typed():
    source = Path(coterie.__file__).read_text()
    typed = source.split("if TYPE_CHECKING:")[1].split("_HOMES")[0]
    for name in coterie.__all__:
        if name != "__version__":
            assert re.search(rf"\b{name}\b", typed), f"{name} is not imported for type checkers"


def test_every_error_is_public():
    from coterie import errors

    classes = {
        name for name, value in vars(errors).items() if isinstance(value, type) and value.__module__ == "coterie.errors"
    }
    assert classes - {"Problem"} <= set(coterie.__all__)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="anonymise"):
        coterie.anonymise  # noqa: B018


@pytest.mark.parametrize(
    "first",
    [
        "from coterie.verification.verify import verify_table",
        "import coterie.api.risk",
        "import coterie.api.compare",
        "pass",
    ],
)
def test_verify_stays_a_function(first):
    """A module has the same name; importing it must not hide the function."""
    code = f"import coterie\n{first}\nassert callable(coterie.verify) and callable(coterie.measure)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert coterie.__version__ == project["version"]


def test_modules_stay_modules():
    assert isinstance(coterie.datasets, ModuleType)
    assert isinstance(coterie.errors, ModuleType)
