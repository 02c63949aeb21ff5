"""A release in a secret order, however many rows it has.

Every row is thrown into one of many files at random, then each file is put into a random order by itself: all orders of
all rows are equally likely. The randomness is the operating system's and follows from no seed.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from coterie.arrays import Int64
from coterie.files.door import bare_table
from coterie.verification.sql import HiddenColumn, RowReader

if TYPE_CHECKING:
    from coterie.engines.blocks.write import BlockStripes
    from coterie.methods._method import Progress

# Files that are open at once.
MOST_FILES = 256
_PLACE, _PERSON = "\0place", "\0person"


@dataclass(frozen=True, eq=False)
class ShuffledStripes:
    """The rows of a release in another order, some at a time."""

    inner: BlockStripes
    folder: Path
    people: HiddenColumn | None = None
    """the person of each row, in the order of `inner`"""

    def order(self, rows: int = 2**18) -> Iterator[Int64]:
        """Yield the place that each row had before, some rows at a time."""
        with (self.folder / "order").open("rb") as file:
            while len(places := np.fromfile(file, dtype=np.int64, count=rows)):
                yield places

    def stripes(self, progress: Progress | None = None) -> Iterator[pa.Table]:
        """Yield the release in a secret order."""
        self.folder.mkdir(exist_ok=True)
        rng = np.random.default_rng(secrets.randbits(128))
        levels: dict[str, pa.Array] = {}
        paths = self._thrown(rng, levels, progress)
        with ExitStack() as stack:
            order = stack.enter_context((self.folder / "order").open("wb"))
            people = None
            for path in paths:
                held = _taken(path)
                if not held.num_rows:
                    continue
                held = held.take(pa.array(rng.permutation(held.num_rows)))
                order.write(held.column(_PLACE).to_numpy().tobytes())
                if self.people is not None:
                    named = pa.table({self.people.name: held.column(_PERSON)})
                    people = people or stack.enter_context(ipc.new_stream(self.folder / "people", named.schema))
                    people.write_table(named)
                kept = [name for name in held.column_names if name not in (_PLACE, _PERSON)]
                yield bare_table(held.select(kept), levels=levels)

    def restored(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield rows that are in the secret order in the order that they had before, for the last check."""
        size, total = self.inner.made.store.stripe_rows, self.inner.made.plan.book.all_rows
        width = size * max(1, -(-total // (size * MOST_FILES)))
        paths = [self.folder / f"restored-{number:06}" for number in range(-(-total // width))]
        writers: list[ipc.RecordBatchStreamWriter] = []
        rows = RowReader(batches)
        with ExitStack() as stack:
            for places in self.order(size):
                held = rows.take(len(places)).append_column(_PLACE, pa.array(places))
                writers = writers or [stack.enter_context(ipc.new_stream(path, held.schema)) for path in paths]
                for number in np.unique(places // width).tolist():
                    writers[number].write_table(held.filter(pa.array(places // width == number)))
        rows.end()
        for path in paths if writers else ():
            yield from _taken(path).sort_by(_PLACE).drop_columns(_PLACE).to_batches()

    def shuffled_people(self) -> HiddenColumn | None:
        """Return the person of each row in the secret order, once all rows were asked for."""
        return None if self.people is None else self.people._replace(batches=self._named())

    def _named(self) -> Iterator[pa.RecordBatch]:
        with ipc.open_stream(self.folder / "people") as reader:
            yield from reader

    def _thrown(self, rng: np.random.Generator, levels: dict[str, pa.Array], progress: Progress | None) -> list[Path]:
        """Throw all rows into files."""
        size, total = self.inner.made.store.stripe_rows, self.inner.made.plan.book.all_rows
        files = max(1, min(MOST_FILES, -(-total // size)))
        paths = [self.folder / f"thrown-{number:06}" for number in range(files)]
        persons = None if self.people is None else RowReader(self.people.batches)
        writers: list[ipc.RecordBatchStreamWriter] = []
        start = 0
        with ExitStack() as stack:
            for stripe in self.inner.stripes(progress):
                places = pa.array(np.arange(start, start + stripe.num_rows))
                start += stripe.num_rows
                stripe = stripe.append_column(_PLACE, places)
                if persons is not None and stripe.num_rows:
                    stripe = stripe.append_column(_PERSON, persons.take(stripe.num_rows).column(0))
                elif self.people is not None:
                    stripe = stripe.append_column(_PERSON, pa.nulls(0, self.people.type))
                if not writers:
                    writers = [stack.enter_context(ipc.new_stream(path, stripe.schema)) for path in paths]
                if self.inner.one_dictionary and stripe.num_rows:
                    coded = [field.name for field in stripe.schema if pa.types.is_dictionary(field.type)]
                    levels |= {name: stripe.column(name).chunk(0).dictionary for name in coded}
                chosen = rng.integers(files, size=stripe.num_rows)
                for number, writer in enumerate(writers):
                    writer.write_table(stripe.filter(pa.array(chosen == number)))
        return paths


def _taken(path: Path) -> pa.Table:
    """Return the rows of a file, which is removed."""
    with ipc.open_stream(path) as reader:
        held = reader.read_all().unify_dictionaries().combine_chunks()
    path.unlink()
    return held
