"""Pass errors from executors to the driver, without any cells in them.

Spark turns a task's error into the text of a Java exception. Coterie's own errors travel in it as an encoded line and
are raised again by the driver; for any other error only its kind and place are reported.
"""

from __future__ import annotations

import base64
import pickle
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from coterie.errors import BackendError, CoterieError

Task = TypeVar("Task", bound=Callable[..., Iterator[Any]])

_SEAL = re.compile(r"coterie-error:([A-Za-z0-9+/=]+):end")
_PLACE = re.compile(r"coterie-place:([^\n{}]*):end")


class TaskError(RuntimeError):
    """Raised by a task in place of an error whose text might quote a cell."""


def guarded_task(task: Task) -> Task:
    """Wrap a task so that its errors contain no cells."""

    @wraps(task)
    def guarded(*words: Any, **named: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever the guarded task takes
        try:
            yield from task(*words, **named)
        except CoterieError as error:
            sealed = base64.b64encode(pickle.dumps(error)).decode()
            raise TaskError(f"{type(error).__name__} coterie-error:{sealed}:end") from None
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} in {Path(where.filename).name}, line {where.lineno}"
            raise TaskError(f"coterie-place:{place}:end") from None

    return guarded  # type: ignore[return-value]


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Run Spark jobs that do something, such as "counting values"; raise their errors as coterie's."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _translated(error, what) from None


def _translated(error: Exception, what: str) -> CoterieError:
    text = str(error)
    sealed = _SEAL.search(text)
    if sealed is not None:
        # Written by the executors of this very job, which already run whatever code the driver sends them.
        found = pickle.loads(base64.b64decode(sealed.group(1)))
        if isinstance(found, CoterieError):
            return found
    place = _PLACE.search(text)
    if place is not None:
        return BackendError(f"Spark failed while {what}: {place.group(1)}.", hint="This is a bug in coterie.")
    if "ModuleNotFoundError" in text or "No module named" in text:
        return BackendError(
            f"Spark failed while {what}: an executor lacks coterie or one of its dependencies.",
            hint="Install coterie on every node, or set PYSPARK_PYTHON to a Python that has it.",
        )
    condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
    return BackendError(f"Spark failed while {what} ({condition}).", hint="The log of the driver says more.")
