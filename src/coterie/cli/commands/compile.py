"""`coterie compile`: compile the kernels ahead of the first release."""

from __future__ import annotations

import time

from coterie.cli.flags import Quiet, option
from coterie.cli.show import ProgressBar, Voice

ALL = "all"
# Enough rows for several groups, so that every loop of a method runs.
ROWS = 400


def compile_kernels(
    method: list[str] | None = option(
        None, "NAME", "Method to compile for, or all; auto by default.", "--method", "-m"
    ),
    quiet: Quiet = False,
) -> None:
    """Precompile the kernels of a method, so that the first release does not have to wait.

    Run it once after installation, for example in a container image. Compiled code is cached in the user's cache
    folder, or in NUMBA_CACHE_DIR.
    """
    from coterie import kernels
    from coterie.kernels.compiling import compile_ahead
    from coterie.methods import all_methods, find_method

    voice = Voice(quiet=quiet)
    started = time.perf_counter()
    names = [find_method(name).name for name in method or ["auto"] if name != ALL]
    if ALL in (method or []):
        names = list(all_methods())
    with ProgressBar(quiet=quiet) as progress:
        for name in names:
            compile_ahead(name, progress)
        _try_out()
    voice.say(f"Kernels are compiled ({time.perf_counter() - started:.0f} s), in {kernels.cache_folder()}.")


def _try_out() -> None:
    """Make a small release, to compile the code that all methods share."""
    from coterie.api.anonymize import anonymize
    from coterie.cli.commands.demo import configuration, people

    release = anonymize(people().slice(0, ROWS), config=configuration(k=3, method="mondrian"))
    release.measures["bound"]
