"""`coterie compile`: compile the kernels ahead of the first release."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from coterie.cli_options import Quiet

# Enough rows for several groups, so that every loop of a method runs.
ROWS = 400


def compile_kernels(
    method: Annotated[
        list[str] | None, typer.Option("--method", "-m", metavar="NAME", help="Which method's; auto if left out.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Compile the kernels of a method now, so that the first release does not have to wait for it.

    For images and shared machines: run it once after installation. Compiled code is kept in the user's cache folder,
    or where NUMBA_CACHE_DIR says.
    """
    from coterie import kernels
    from coterie.api import anonymize
    from coterie.cli_demo import configuration, people
    from coterie.cli_show import Voice

    voice = Voice(quiet=quiet)
    started = time.perf_counter()
    table = people().slice(0, ROWS)
    for name in method or ["auto"]:
        release = anonymize(table, config=configuration(k=3, method=name))
        release.measures["bound"]
        if name == "auto":  # which groups a large table with less effort, by some loops of its own
            anonymize(table, config=configuration(k=3, method="compact").replace(options={"effort": "fast"}))
    voice.say(f"Kernels are compiled ({time.perf_counter() - started:.0f} s), in {kernels.cache_folder()}.")
