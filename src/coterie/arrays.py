"""Shared type aliases: arrays by element type, and the types that callers may pass."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Bool: TypeAlias = npt.NDArray[np.bool_]
Int8: TypeAlias = npt.NDArray[np.int8]
Int32: TypeAlias = npt.NDArray[np.int32]
Int64: TypeAlias = npt.NDArray[np.int64]
UInt64: TypeAlias = npt.NDArray[np.uint64]
Float64: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]
"""whole numbers of any width"""

AnyTable: TypeAlias = Any
"""a frame of any kind that Narwhals takes, the path of a file, or "-" """
AnyFrame: TypeAlias = Any
"""the caller's own kind of frame"""
AnySetting: TypeAlias = Any
"""the value of a field of Config, as its validators take it"""
AnyFlags: TypeAlias = Any
"""an array of truth values of any library, or a mapping or frame of such"""
