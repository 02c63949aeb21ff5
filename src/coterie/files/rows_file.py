"""The original row of each published row, saved next to a release with shuffled rows.

The file is internal, like the mapping: it reveals the hidden order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import DataError
from coterie.files.output import provenance_path, whole_file

_HEAD = b"row\n"


def rows_path(output: str | os.PathLike[str]) -> Path:
    """Return the path of the row numbers of a release: out.csv → out.rows.csv."""
    beside = provenance_path(output)
    return beside.with_name(beside.name.removesuffix(".coterie.toml") + ".rows.csv")


def write_rows(output: str | os.PathLike[str], kept: Iterable[Int64], *, force: bool) -> None:
    """Write the number (from 1) of the original row of each published one, given its position, some rows at a time."""
    with whole_file(rows_path(output), force=force) as sink:
        sink.write(_HEAD)
        for some in kept:
            sink.write("".join(f"{row + 1}\n" for row in some.tolist()).encode())


def read_rows(output: str | os.PathLike[str]) -> Iterator[Int64]:
    """Yield published row → position in the original, some rows at a time."""
    from pyarrow import csv

    with csv.open_csv(rows_path(output)) as reader:
        for batch in reader:
            yield batch.column(0).to_numpy() - 1


def in_original_order(published: pa.Table, output: object) -> pa.Table:
    """Return the rows of a shuffled release, which was read from `output`, in the original order.

    Raises:
        DataError: The file with the order does not exist next to it, or belongs to another release.
    """
    path = rows_path(output) if isinstance(output, str | os.PathLike) and os.fspath(output) != "-" else None
    if path is None or not path.is_file():
        name = "the file with its order (.rows.csv)" if path is None else path.name
        raise DataError(
            f"The release was published in a secret order, and {name} is not next to it.",
            hint="Measure it where it was made, or use release.measures in Python.",
        )
    head, _, body = path.read_bytes().partition(b"\n")
    try:
        rows = np.array(body.split(), dtype=np.int64)
    except ValueError:
        rows = np.zeros(0, dtype=np.int64)
    if head + b"\n" != _HEAD or len(rows) != published.num_rows or len(np.unique(rows)) != len(rows):
        raise DataError(f"{path.name} is not the order of this release.", hint="Make the release again.")
    return published.take(pa.array(np.argsort(rows, kind="stable")))
