"""Start and end the process of a command, each half a second faster than by default."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib.abc import MetaPathFinder
from typing import NoReturn

# Allocations between two garbage collections. Importing libraries makes hundreds of thousands, none of them garbage.
_OBJECTS = 100_000


# Library → the libraries that import it for features that commands never use: pyarrow imports pandas to recognize its
# frames (also on behalf of coterie), Numba imports SciPy's linear algebra to multiply matrices. Together they take half
# a second.
_NOT_NEEDED_BY = {"pandas": ("pyarrow", "coterie"), "scipy.linalg": ("numba",)}


class _ForOthers(MetaPathFinder):
    """Hides a library from other libraries that only use it optionally."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Find nothing, and block the import where it is not needed."""
        if fullname not in _NOT_NEEDED_BY:
            return
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("importlib"):
            frame = frame.f_back
        if frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_NEEDED_BY[fullname]:
            raise ModuleNotFoundError(f"{fullname} is left out of commands", name=fullname)


def start_lean() -> None:
    """Set up a lean process for the command line; programs that use coterie make such choices themselves."""
    gc.set_threshold(_OBJECTS, 20, 20)
    sys.meta_path.insert(0, _ForOthers())


def leave(code: int) -> NoReturn:
    """Exit with this code without tearing down compiled code and libraries, which the operating system frees at once.

    Exit handlers still run and output is flushed.
    """
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
