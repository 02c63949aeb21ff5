"""Numba loops, and the one place that decides how Numba is used.

A kernel takes arrays and numbers and gives arrays back: no dicts, no strings, no callbacks. Kernels release the
interpreter's lock; threads come from a pool outside them. Compiled code is kept on disk, so that only the first run
after installation pays for compiling.

The disk cache of a kernel does not see a change in a kernel of another file that it calls. The cache folder is
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
    """Where compiled kernels are kept: `NUMBA_CACHE_DIR`, else the user's cache folder, else a temporary one."""
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
    """Kernels that Python calls when a method runs, and that nobody has compiled on such a machine so far."""
    from coterie.kernels.signatures import METHODS

    names = () if numba.config.DISABLE_JIT else METHODS.get(method, ())
    folder = _compiled_folder()
    done = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    return tuple(name for name in names if name not in done)


def note_compiled(name: str) -> None:
    """Note that a kernel is compiled: later runs load it."""
    with suppress(OSError):  # a full disk: the next run looks again
        _compiled_folder().mkdir(exist_ok=True)
        (_compiled_folder() / name).touch()


@cache
def _compiled_folder() -> Path:
    # Numba compiles for the processor and the Python at hand; a home may be shared by several.
    llvm = importlib.import_module("llvmlite.binding")
    return cache_folder() / f"compiled-{llvm.get_host_cpu_name()}-{sys.implementation.cache_tag}"


def compile_named(name: str) -> None:
    """Compile a kernel, or load what was compiled, for the types that it is called with."""
    from coterie.kernels.signatures import SIGNATURES

    module, _, function = name.rpartition(".")
    made = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    made.compile(tuple(map(_read, SIGNATURES[name].split())))


def spelled(kind: types.Type) -> str:
    """A type as signatures.py writes it: int64, int32[:,::1], search.rows_index.Nodes."""
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        cls = kind.instance_class
        return f"{cls.__module__.removeprefix(f'{__name__}.')}.{cls.__name__}"
    if isinstance(kind, types.Array):
        return f"{kind.dtype}[{','.join([':'] * (kind.ndim - 1) + ['::1'])}]"
    return str(kind)


def _read(text: str) -> types.Type:
    """The type that is spelled so."""
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
    """Whole numbers as kernels take them from one another: 64 bits wide, whatever the caller has at hand.

    Without this, a kernel would be compiled once for a constant, once for an entry of an int32 array, and so on.
    """
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


def _without_door(made: Function) -> Function:
    """A part that Python cannot call: Numba would jump to an address that is not there."""
    if isinstance(made, CPUDispatcher):
        name = made.py_func.__name__

        def refuse(*args: object, **kws: object) -> object:
            raise TypeError(f"{name} is a part of kernels, which Python cannot call; make it a @kernel")

        made._insert = lambda *args, **kws: None
        made._compile_for_args = refuse
    return made


def kernel(function: Function) -> Function:
    """Compile a loop on first use: no Python objects, no lock, no fast-math (ties must be exact), cached on disk."""
    return _compile(function, _nrt=True)


def loop(function: Function) -> Function:
    """A kernel that makes no array and returns none, which is far less to compile; its arrays come from outside."""
    return _compile(function, _nrt=False)


def part(function: Function) -> Function:
    """A part of kernels that Python does not call: it makes no array and returns none, which is far less to compile."""
    return _without_door(_compile(function, **_PART))


def once(function: Function) -> Function:
    """A part that one kernel calls in one place: it is compiled as if it stood there, and not a second time alone."""
    return _without_door(_compile(function, inline="always", **_PART))


def step(function: Function) -> Function:
    """A few lines that several kernels share: compiled into each of them as if they stood there."""
    return once(function)


def inner(function: Function) -> Function:
    """A small part of kernels, always compiled into them: a call costs more than what it does."""
    return _without_door(_compile(function, forceinline=True, **_PART))
