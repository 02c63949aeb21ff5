"""Shared type aliases: arrays by element type, and the types that callers may pass. And work on arrays in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Bool: TypeAlias = npt.NDArray[np.bool_]
Int8: TypeAlias = npt.NDArray[np.int8]
Int32: TypeAlias = npt.NDArray[np.int32]
Int64: TypeAlias = npt.NDArray[np.int64]
UInt64: TypeAlias = npt.NDArray[np.uint64]
Float64: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]
"""integers of any width"""

AnyTable: TypeAlias = Any
"""any frame that Narwhals supports, the path of a file, or "-" """


class Collects(Protocol):
    """A lazy frame of Polars or Narwhals, or a DataFrame of Spark."""

    @property
    def collect(self) -> Callable[..., object]:
        """Return the rows."""


class Computes(Protocol):
    """A frame of Dask."""

    @property
    def compute(self) -> Callable[..., object]:
        """Return the rows."""


class Executes(Protocol):
    """A table of Ibis."""

    @property
    def execute(self) -> Callable[..., object]:
        """Return the rows."""


class Fetches(Protocol):
    """A relation of DuckDB."""

    @property
    def fetchall(self) -> Callable[..., object]:
        """Return the rows."""


class EagerFrame(Protocol):
    """A frame that holds its rows. Lazy ones have no such method."""

    @property
    def equals(self) -> Callable[..., object]:
        """Return whether another frame is the same."""


Lazy: TypeAlias = Collects | Computes | Executes | Fetches
"""any lazy frame"""

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Frame = TypeVar("Frame", bound=EagerFrame, default=Any)
    """the input's kind of frame; any for files, databases and lazy frames, which become Arrow or Polars"""
    Frame_co = TypeVar("Frame_co", covariant=True, default=Any)
    """the kind of frame that a release returns"""
else:  # Python 3.11 and 3.12 know no defaults of type variables
    from typing import TypeVar

    Frame = TypeVar("Frame")
    Frame_co = TypeVar("Frame_co", covariant=True)

AnyFrame: TypeAlias = Any
"""the caller's kind of frame"""
AnySetting: TypeAlias = Any
"""the value of a field of Config, as accepted by its validators"""
AnyFlags: TypeAlias = Any
"""a boolean array of any library, or a mapping or frame of such"""

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield what a function returns for each item, in order, while other threads work on the next ones.

    Arrow, NumPy and hashlib let others run while they compute. No more items are taken ahead than Arrow uses threads.
    """
    import pyarrow as pa

    ahead: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        for item in items:
            ahead.append(pool.submit(work, item))
            if len(ahead) > pa.cpu_count():
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
