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


class _PandasForOthers(MetaPathFinder):
    """Tells pyarrow that there is no pandas.

    pyarrow loads pandas, where it is installed, at the first conversion of a value, only to know its frames when it is
    given one. That takes a third of a second, and commands read files. Other libraries do get it.
    """

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Find nothing, and stand in the way of pandas where pyarrow asks, on behalf of itself or of coterie."""
        if fullname != "pandas":
            return
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("importlib"):
            frame = frame.f_back
        if frame.f_globals.get("__name__", "").partition(".")[0] in ("pyarrow", "coterie"):
            raise ModuleNotFoundError("pandas is left out of commands", name="pandas")


def start_lean() -> None:
    """For the process of the command line only: programs that use coterie decide such things themselves."""
    gc.set_threshold(_OBJECTS, 20, 20)
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _PandasForOthers())


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
