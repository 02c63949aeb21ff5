"""Shared type aliases: arrays by element type, and the types that callers may pass."""

from __future__ import annotations

from collections.abc import Callable
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
