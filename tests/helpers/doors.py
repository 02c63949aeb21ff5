"""Parts of kernels as tests may call them: Python itself cannot, see coterie.kernels.part."""

import inspect

import numba


def door(part):
    """The part, to be called from Python."""
    if numba.config.DISABLE_JIT:
        return part
    names = ", ".join(inspect.signature(part.py_func).parameters)
    # Numba inlines no call with *args, so that the names are spelled out.
    space = {"part": part}
    exec(f"def call({names}):\n    return part({names})", space)
    return numba.njit(space["call"])
