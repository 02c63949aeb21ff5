"""Verify a published file that does not fit the memory."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.settings.memory import default_memory, memory_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.settings.config import Config
    from coterie.verification.verify import Verification


def verify_on_disk(
    path: str | os.PathLike[str], config: Config, *, k: int | None, roots: Mapping[str, str]
) -> Verification:
    """Check a published file as `verify` does, without holding it.

    Args:
        path: CSV, Parquet, Feather or a folder of Parquet files.
        config: The promises.
        k: The k to check; None only counts.
        roots: Column → what a suppressed cell looks like.
    """
    from coterie.files.batches import open_table
    from coterie.verification.duckdb_counts import verify_file
    from coterie.verification.sql import Checker

    memory = default_memory() if config.memory is None else memory_bytes(config.memory)
    with tempfile.TemporaryDirectory(prefix="coterie-") as folder:
        checker = Checker(Path(folder), max(memory // 3, 2**27), config.usable_threads)
        table = open_table(path, config)
        found = verify_file(
            table, config, roots=roots, hidden=0, checker=checker, k=k or 0, measured=bool(config.sensitive)
        )
    return found.verification
