"""Errors: one line for a person, everything for a program."""

import pickle

import pytest

import coterie
from coterie.errors import ConfigError, CoterieError, DataError, HierarchyError, InfeasibleError, Problem


def problems(count):
    return [Problem(f"columns.c{number}", "is wrong") for number in range(count)]


@pytest.mark.parametrize("kind", [ConfigError, HierarchyError])
def test_messages_show_ten_problems_and_count_the_rest(kind):
    assert str(kind(problems(1))) == "columns.c0: is wrong"
    assert str(kind(problems(2))) == "2 problems: columns.c0: is wrong; columns.c1: is wrong"
    assert str(kind(problems(10))).endswith("columns.c9: is wrong")
    error = kind(problems(1012))
    assert str(error).startswith("1012 problems: columns.c0")
    assert str(error).endswith("columns.c9: is wrong; … and 1,002 more")
    assert "\n" not in str(error)
    assert len(error.problems) == 1012


def test_hints_follow_a_full_stop():
    assert str(CoterieError("It broke", hint="Mend it.")) == "It broke. Mend it."
    assert str(CoterieError("It broke.", hint="Mend it.")) == "It broke. Mend it."
    assert str(CoterieError("It broke")) == "It broke"
    assert str(ConfigError("k is wrong")) == "k is wrong"


def test_every_error_has_its_exit_code():
    codes = {
        "CoterieError": 3,
        "ConfigError": 2,
        "DataError": 3,
        "HierarchyError": 3,
        "InfeasibleError": 4,
        "BackendError": 2,
        "Cancelled": 130,
        "VerificationError": 5,
    }
    assert {name: getattr(coterie, name).exit_code for name in codes} == codes


def test_errors_are_what_python_expects_too():
    assert issubclass(ConfigError, ValueError)
    assert issubclass(DataError, ValueError)
    assert issubclass(coterie.BackendError, RuntimeError)
    error = InfeasibleError("no", wanted=5, possible=3)
    assert (error.wanted, error.possible) == (5, 3)


@pytest.mark.parametrize(
    "error",
    [
        ConfigError(problems(2), hint="Mend it."),
        HierarchyError(problems(2), column="x", rows=3),
        DataError("no", column="x", rows=3, hint="Mend it."),
        InfeasibleError("no", wanted=5, possible=3, hint="Ask for less."),
        coterie.Cancelled("stopped"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_back_from_other_processes(error):
    """Work in other processes fails there and is reported here."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
