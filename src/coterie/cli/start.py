"""How the process of a command starts and ends, each half a second sooner than it would by itself."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib.abc import MetaPathFinder
from typing import NoReturn

# Objects made between two looks for rubbish. Loading libraries makes hundreds of thousands, none of them rubbish.
_OBJECTS = 100_000


# Library → those that load it only in case they are asked for what commands never ask for: pyarrow loads pandas to know
# its frames when it is given one (also on behalf of coterie), Numba loads SciPy's linear algebra to multiply matrices.
# Together they take half a second.
_NOT_NEEDED_BY = {"pandas": ("pyarrow", "coterie"), "scipy.linalg": ("numba",)}


class _ForOthers(MetaPathFinder):
    """Tells some libraries that there is no such other library as they could do without; all others get it."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Find nothing, and stand in the way where it is not needed."""
        if fullname not in _NOT_NEEDED_BY:
            return
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("importlib"):
            frame = frame.f_back
        if frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_NEEDED_BY[fullname]:
            raise ModuleNotFoundError(f"{fullname} is left out of commands", name=fullname)


def start_lean() -> None:
    """For the process of the command line only: programs that use coterie decide such things themselves."""
    gc.set_threshold(_OBJECTS, 20, 20)
    sys.meta_path.insert(0, _ForOthers())


def leave(code: int) -> NoReturn:
    """End the process with this code, without taking apart compiled code and libraries: the system frees them at once.

    What was to be done at the end is done, and what was to be printed is printed.
    """
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
