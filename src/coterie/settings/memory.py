"""The memory limit of a run: set by the user, or derived from the machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_TEXT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)I?B?\s*", re.IGNORECASE)
SPARK_MEMORY = 2 * 2**30
"""the default memory for blocks on Spark, whose executors are other machines"""
# If the system does not report it.
FALLBACK = 4 * 2**30


def memory_bytes(text: str) -> int:
    """Parse a size such as "2GB", "512 MB" or "1.5g" into bytes; a kilobyte has 1,024 bytes.

    Raises:
        ValueError: The text is not a size.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError('must be a size such as "2GB" or "512MB"')
    return int(float(found[1]) * _UNITS[found[2].upper()])


def default_memory() -> int:
    """Return half of the memory available to this process: of the machine, or of its container."""
    found = [FALLBACK * 2]
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names:
        found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for limit in (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")):
        try:
            found.append(int(limit.read_text()))
        except (OSError, ValueError):
            continue
    return min(found) // 2


def give_back() -> None:
    """Return free memory to the system: the next step uses other allocators and needs it."""
    import ctypes

    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):
        return  # other systems do so automatically


@contextmanager
def one_allocator() -> Iterator[None]:
    """Make Arrow use NumPy's allocator: its own keeps a cache for each thread."""
    import pyarrow as pa

    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)
