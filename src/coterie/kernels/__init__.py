"""Numba loops, and the one place that decides how Numba is used.

A kernel takes arrays and numbers and gives arrays back: no dicts, no strings, no callbacks. Kernels release the
interpreter's lock; threads come from a pool outside them. Compiled code is kept on disk, so that only the first run
after installation pays for compiling.

The disk cache of a kernel does not see a change in a kernel of another file that it calls. The cache folder is
therefore named after the content of all kernel files: whatever changes, stale code is never loaded.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import numba
from numba import types
from numba.core.registry import CPUDispatcher

Function = TypeVar("Function", bound=Callable[..., object])

# Checked before the folder is touched: the first run after installation finds no compiled code.
_MARK = "compiled"


@cache
def cache_folder() -> Path:
    """Where compiled kernels are kept: `NUMBA_CACHE_DIR`, else the user's cache folder, else a temporary one."""
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    # Bounds checks and a switched-off compiler make other code from the same source.
    digest.update(f"{numba.config.BOUNDSCHECK} {numba.config.DISABLE_JIT}".encode())
    name = f"kernels-{digest.hexdigest()[:16]}"
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    for base in (numba.config.CACHE_DIR, str(Path(home) / "coterie")):
        if not base:
            continue
        folder = Path(base) / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="coterie-kernels-"))


def first_run() -> bool:
    """Whether no run has finished with these kernels yet, so that this one will have to compile."""
    return not (cache_folder() / _MARK).exists()


def compiled() -> None:
    """Note that a run has finished: later ones load compiled code."""
    (cache_folder() / _MARK).touch()


def _compile(function: Function, **more: bool) -> Function:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        made: Function = numba.njit(cache=True, nogil=True, fastmath=False, error_model="numpy", **more)(function)
    finally:
        numba.config.CACHE_DIR = before
    if isinstance(made, CPUDispatcher):
        resolve = made.get_call_template
        made.get_call_template = lambda args, kws: resolve(tuple(map(_widened, args)), kws)
    return made


def _widened(kind: types.Type) -> types.Type:
    """Whole numbers as kernels take them from one another: 64 bits wide, whatever the caller has at hand.

    Without this, a kernel would be compiled once for a constant, once for an entry of an int32 array, and so on.
    """
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


def kernel(function: Function) -> Function:
    """Compile a loop on first use: no Python objects, no lock, no fast-math (ties must be exact), cached on disk."""
    return _compile(function)


def inner(function: Function) -> Function:
    """A small part of kernels, always compiled into them: passing a tuple of arrays costs more than what it does."""
    return _compile(function, forceinline=True)
