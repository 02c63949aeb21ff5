"""Numba kernels, and the one place that configures Numba.

A kernel takes arrays and numbers and returns arrays: no dicts, no strings, no callbacks. Kernels release the
GIL; threads come from a pool outside them. Compiled code is cached on disk, so that only the first run
after installation has to compile.

A kernel's disk cache does not notice a change in another file's kernel that it calls. The cache folder is
therefore named after the content of all kernel files: whatever changes, stale code is never loaded.

May import: nothing else of coterie.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

import numba
from numba import types
from numba.core.registry import CPUDispatcher

Function = TypeVar("Function", bound=Callable[..., object])


@cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels: `NUMBA_CACHE_DIR`, else the user's cache folder, else a temporary one."""
    digest = hashlib.sha256(numba.__version__.encode())
    folder = Path(__file__).parent
    for file in sorted(set(folder.rglob("*.py")) - {folder / "signatures.py"}):
        digest.update(file.relative_to(folder).as_posix().encode())
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
    folder = Path(tempfile.mkdtemp(prefix="coterie-kernels-")) / name
    folder.mkdir()
    return folder


def missing(method: str) -> tuple[str, ...]:
    """Return the kernels that a method calls and that have not been compiled on this kind of machine."""
    from coterie.kernels.signatures import METHODS

    names = () if numba.config.DISABLE_JIT else METHODS.get(method, ())
    folder = _compiled_folder()
    done = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    return tuple(name for name in names if name not in done)


def note_compiled(name: str) -> None:
    """Record that a kernel is compiled: later runs load it."""
    with suppress(OSError):  # a full disk: the next run looks again
        _compiled_folder().mkdir(exist_ok=True)
        (_compiled_folder() / name).touch()


@cache
def _compiled_folder() -> Path:
    # Numba compiles for the processor and the Python at hand; a home may be shared by several.
    llvm = importlib.import_module("llvmlite.binding")
    return cache_folder() / f"compiled-{llvm.get_host_cpu_name()}-{sys.implementation.cache_tag}"


def compile_named(name: str) -> None:
    """Compile or load a kernel for the types it is called with."""
    from coterie.kernels.signatures import SIGNATURES

    module, _, function = name.rpartition(".")
    made = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    made.compile(tuple(map(_read, SIGNATURES[name].split())))


def spelled(kind: types.Type) -> str:
    """Write a type as signatures.py does: int64, int32[:,::1], search.rows_index.Nodes."""
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        cls = kind.instance_class
        return f"{cls.__module__.removeprefix(f'{__name__}.')}.{cls.__name__}"
    if isinstance(kind, types.Array):
        return f"{kind.dtype}[{','.join([':'] * (kind.ndim - 1) + ['::1'])}]"
    return str(kind)


def _read(text: str) -> types.Type:
    """Parse a type written by `spelled`."""
    from coterie.kernels.signatures import TUPLES

    if "." in text:
        module, _, name = text.rpartition(".")
        cls = getattr(importlib.import_module(f"{__name__}.{module}"), name)
        return types.BaseTuple.from_types([_read(each) for each in TUPLES[text].split()], cls)
    name, bracket, dimensions = text.partition("[")
    kind = getattr(types, {"bool": "boolean"}.get(name, name))
    return types.Array(kind, dimensions.count(",") + 1, "C") if bracket else kind


# What calls a kernel is Python or another kernel, never C.
_OPTIONS = {"nogil": True, "fastmath": False, "error_model": "numpy", "no_cfunc_wrapper": True}
# No door for Python, and no counting of who holds an array: the kernel that calls holds them all. A Nodes tuple is 16
# arrays, each counted up and down wherever one of them is named, and compiling that took most of the first run.
_PART = {"no_cpython_wrapper": True, "_nrt": False}


def _compile(function: Function, **more: bool | str) -> Function:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        made: Function = numba.njit(cache=True, **_OPTIONS, **more)(function)
    finally:
        numba.config.CACHE_DIR = before
    if isinstance(made, CPUDispatcher):
        resolve = made.get_call_template
        made.get_call_template = lambda args, kws: resolve(tuple(map(_widened, args)), kws)
    return made


def _widened(kind: types.Type) -> types.Type:
    """Widen integers to 64 bits for calls between kernels, whatever type the caller has.

    Otherwise a kernel would be compiled once for a constant, once for an entry of an int32 array, and so on.
    """
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


def _without_door(made: Function) -> Function:
    """Make Python calls of a part raise an error; Numba would jump to a missing address."""
    if isinstance(made, CPUDispatcher):
        name = made.py_func.__name__

        def refuse(*args: object, **kws: object) -> object:
            raise TypeError(f"{name} is a part of kernels, which Python cannot call; make it a @kernel")

        made._insert = lambda *args, **kws: None
        made._compile_for_args = refuse
    return made


def kernel(function: Function) -> Function:
    """Compile a loop on first use: no Python objects, no GIL, no fast-math (ties must be exact), cached on disk."""
    return _compile(function, _nrt=True)


def loop(function: Function) -> Function:
    """Compile a kernel that neither creates nor returns arrays, which compiles much faster."""
    return _compile(function, _nrt=False)


def part(function: Function) -> Function:
    """Compile a function that only kernels call. It neither creates nor returns arrays, so it compiles much faster."""
    return _without_door(_compile(function, **_PART))


def once(function: Function) -> Function:
    """Inline a function that one kernel calls in one place, so that it is not compiled separately."""
    return _without_door(_compile(function, inline="always", **_PART))


def step(function: Function) -> Function:
    """Inline a few lines that several kernels share."""
    return once(function)


def inner(function: Function) -> Function:
    """Inline a small function that kernels call often: a call would cost more than its work."""
    return _without_door(_compile(function, forceinline=True, **_PART))
