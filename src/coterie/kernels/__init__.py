"""Numba loops, and the one place that decides how Numba is used.

A kernel takes arrays and numbers and gives arrays back: no dicts, no strings, no callbacks. Compiled code is kept on
disk, so that only the first run after installation pays for compiling. Kernels release the interpreter's lock;
threads come from a pool outside them. A kernel and the kernels that it calls live in one file, because the disk
cache of a caller does not see a change in another file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a loop on first use: no Python objects, no lock, no fast-math (ties must be exact), cached on disk."""
    compiled: Function = numba.njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function)
    return compiled
