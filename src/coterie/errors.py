"""The exceptions that coterie raises.

    CoterieError                  .hint  .exit_code
      ConfigError(ValueError)     .problems: every problem at once, as (path, text)         exit 2
      DataError(ValueError)       .column  .rows: how many rows are affected                exit 3
        HierarchyError            .problems: every problem of a hierarchy at once           exit 3
      InfeasibleError             .wanted  .possible: the best that is feasible instead      exit 4
      BackendError(RuntimeError)  an optional dependency is missing; the hint installs it   exit 2
      Cancelled                   the user or a deadline stopped the run                    exit 130
      VerificationError           the release failed verification; nothing was written      exit 5
    CoterieWarning(UserWarning)

A message says what is wrong, where, the limit, and what to do next. It may name columns, hierarchy labels and
row counts. It never contains a cell value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from coterie.wording import visible

# user:password@ in an address, and password=… among its parameters.
_PASSWORD = re.compile(r"\b([a-z][a-z0-9+.-]*:/{1,2}[^\s/:@]*):\S*@", re.IGNORECASE)
_PASSWORD_PARAMETER = re.compile(r"([?&]\w*password=)[^\s&#]*", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """Remove passwords from the addresses in a text."""
    return _PASSWORD_PARAMETER.sub(r"\1", _PASSWORD.sub(r"\1@", text))


class Problem(NamedTuple):
    """One problem of a configuration or hierarchy: where it is and what it is."""

    path: str
    text: str

    def __str__(self) -> str:
        return visible(f"{self.path}: {self.text}" if self.path else self.text)


class CoterieError(Exception):
    """Base of every error that coterie raises on purpose."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str = "") -> None:
        # Whatever was given as a file, a column or an option may have been the address of a database.
        self.message, self.hint = visible(without_passwords(message)), visible(without_passwords(hint))
        super().__init__(self.message)

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        stop = "" if self.message.endswith((".", "!", "?")) else "."
        return f"{self.message}{stop} {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would call the class with the message alone, which most of these classes do not take.
        return _again, (type(self), self.args, vars(self))


def _again(kind: type[CoterieError], arguments: tuple[Any, ...], state: dict[str, Any]) -> CoterieError:
    """Restore an error from another process."""
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


# A message is one line for a person; `.problems` has the rest.
_MOST_SHOWN = 10


def _joined(problems: Sequence[Problem]) -> str:
    if len(problems) == 1:
        return str(problems[0])
    more = len(problems) - _MOST_SHOWN
    shown = "; ".join(str(problem) for problem in problems[:_MOST_SHOWN])
    return f"{len(problems)} problems: {shown}" + (f"; … and {more:,} more" if more > 0 else "")


class ConfigError(CoterieError, ValueError):
    """The request is invalid: an unknown name, a value out of range, conflicting roles."""

    exit_code = 2

    def __init__(self, problems: Sequence[Problem] | str, *, hint: str = "") -> None:
        self.problems = [Problem("", problems)] if isinstance(problems, str) else list(problems)
        super().__init__(_joined(self.problems), hint=hint)


def refuse(problems: Sequence[Problem]) -> None:
    """Raise a ConfigError with every problem, if there are any."""
    if problems:
        raise ConfigError(problems)


class DataError(CoterieError, ValueError):
    """The data cannot be read, or do not match the configuration."""

    def __init__(self, message: str, *, column: str | None = None, rows: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.column = column
        self.rows = rows


class HierarchyError(DataError):
    """A hierarchy is not a tree, or lacks values of the data."""

    def __init__(
        self,
        problems: Sequence[Problem] | str,
        *,
        column: str | None = None,
        rows: int | None = None,
        hint: str = "",
    ) -> None:
        self.problems = [Problem("", problems)] if isinstance(problems, str) else list(problems)
        super().__init__(_joined(self.problems), column=column, rows=rows, hint=hint)


class InfeasibleError(CoterieError):
    """The request is infeasible for this table, whatever the method."""

    exit_code = 4

    def __init__(self, message: str, *, wanted: float, possible: float, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.wanted = wanted
        self.possible = possible


class BackendError(CoterieError, RuntimeError):
    """An optional dependency (Spark, the web app, a file format) is not installed or does not start."""

    exit_code = 2


class Cancelled(CoterieError):  # noqa: N818 - nothing went wrong: it was asked for
    """The run was stopped by its user."""

    exit_code = 130

    def __init__(self, message: str, *, hint: str = "", finished: object = None) -> None:
        super().__init__(message, hint=hint)
        self.finished = finished
        """what was finished before, if useful: for a comparison, its finished runs"""


class VerificationError(CoterieError):
    """The release failed verification and was withheld. This is a bug in coterie."""

    exit_code = 5


class CoterieWarning(UserWarning):
    """Base of coterie's warnings."""

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))
