"""Rows on disk, by leaf of the tree: their numbers and codes, packed as tightly as the domains allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.arrays import Int32, Int64
from coterie.engines.cuts import CutTree, in_sample, plant, sample_share
from coterie.engines.leaves import LeafCounts, too_large
from coterie.table.codebook import Codebook

# Bytes of rows buffered in memory before they are appended to their files.
PENDING = 48 * 2**20
# Rows read from a file at a time if not all of it is needed at once.
PIECE = 2**18


class SpilledRows(NamedTuple):
    """Rows of a block, in row order."""

    numbers: Int64
    codes: Int32
    sensitive: Int32


class Spill:
    """A folder with one file of rows for each leaf."""

    def __init__(self, folder: Path, book: Codebook) -> None:
        self.folder = folder
        self.book = book
        self._quasi = [f"q{j}" for j in range(len(book.domains))]
        self._sensitive = [f"s{j}" for j in range(len(book.sensitive))]
        sizes = [domain.size for domain in (*book.domains, *book.sensitive)]
        kinds = [np.min_scalar_type(max(size - 1, 0)) for size in sizes]
        self.dtype = np.dtype([("row", np.int64), *zip((*self._quasi, *self._sensitive), kinds, strict=True)])
        self._waiting: dict[int, list[npt.NDArray[Any]]] = {}
        self._bytes = 0

    def path(self, leaf: int) -> Path:
        """Return the path of a leaf's rows."""
        return self.folder / f"leaf-{leaf:06}"

    def add(self, leaf: Int32, rows: SpilledRows) -> None:
        """Append rows to the files of their leaves."""
        packed = np.empty(len(leaf), dtype=self.dtype)
        packed["row"] = rows.numbers
        for names, codes in ((self._quasi, rows.codes), (self._sensitive, rows.sensitive)):
            for j, name in enumerate(names):
                packed[name] = codes[:, j]
        self._append(leaf, packed)

    def _append(self, leaf: Int32, packed: npt.NDArray[Any]) -> None:
        order = np.argsort(leaf, kind="stable")
        present, starts = np.unique(leaf[order], return_index=True)
        for number, part in zip(present, np.split(packed[order], starts[1:]), strict=True):
            self._waiting.setdefault(int(number), []).append(part)
        self._bytes += packed.nbytes
        if self._bytes > PENDING:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows."""
        for leaf, parts in sorted(self._waiting.items()):
            with self.path(leaf).open("ab") as file:
                for part in parts:
                    file.write(part.tobytes())
        self._waiting.clear()
        self._bytes = 0

    def pieces(self, leaf: int) -> Iterator[npt.NDArray[Any]]:
        """Yield the rows of a leaf, some at a time."""
        path = self.path(leaf)
        if not path.exists():
            return
        with path.open("rb") as file:
            while len(piece := np.fromfile(file, dtype=self.dtype, count=PIECE)):
                yield piece

    def unpack(self, packed: npt.NDArray[Any]) -> SpilledRows:
        """Unpack rows into numbers and codes."""
        parts = []
        for names in (self._quasi, self._sensitive):
            codes = np.empty((len(packed), len(names)), dtype=np.int32)
            for j, name in enumerate(names):
                codes[:, j] = packed[name]
            parts.append(codes)
        return SpilledRows(np.ascontiguousarray(packed["row"]), parts[0], parts[1])

    def read(self, leaves: Sequence[int]) -> SpilledRows:
        """Read all rows of some leaves, in row order."""
        found = [np.fromfile(self.path(leaf), dtype=self.dtype) for leaf in leaves if self.path(leaf).exists()]
        packed = np.concatenate(found) if found else np.empty(0, dtype=self.dtype)
        if len(found) > 1:
            packed = packed[np.argsort(packed["row"], kind="stable")]
        return self.unpack(packed)

    def drop(self, leaves: Sequence[int]) -> None:
        """Delete the files of some leaves."""
        for leaf in leaves:
            self.path(leaf).unlink(missing_ok=True)

    def cut_again(self, tree: CutTree, leaf: int, rows: int, *, most: int, threads: int = 1) -> CutTree:
        """Return the tree with a leaf that has too many rows cut further; the files match its leaves."""
        share = sample_share(rows)
        chosen = [piece[in_sample(piece["row"], share)] for piece in self.pieces(leaf)]
        sample = self.unpack(np.concatenate(chosen))
        subtree = plant(sample.codes, sample.numbers, self.book, expected=rows, most=most, threads=threads)
        if subtree.leaves == 1:  # a sample of a row or none: then by row numbers
            start = rows // 2 * self.dtype.itemsize
            middle = np.fromfile(self.path(leaf), dtype=self.dtype, count=1, offset=start)
            subtree = CutTree.by_row(int(middle["row"][0]))
        grown = tree.replace_leaf(leaf, subtree)
        whole = self.path(leaf).rename(self.folder / "cut-again")
        with whole.open("rb") as file:
            while len(piece := np.fromfile(file, dtype=self.dtype, count=PIECE)):
                held = self.unpack(piece)
                self._append(grown.leaf_of(held.codes, held.numbers), piece)
        self.flush()
        whole.unlink()
        return grown

    def count(self, tree: CutTree) -> LeafCounts:
        """Count the rows of all leaves from their files."""
        counts = LeafCounts(tree.leaves, self.book)
        for leaf in range(tree.leaves):
            for piece in self.pieces(leaf):
                held = self.unpack(piece)
                counts.add(np.full(len(piece), leaf, dtype=np.int32), held.sensitive)
        return counts

    def fit(self, tree: CutTree, counts: LeafCounts, *, most: int, threads: int = 1) -> tuple[CutTree, LeafCounts]:
        """Cut leaves again until none has too many rows."""
        while large := too_large(counts, most):
            for leaf in large:
                tree = self.cut_again(tree, leaf, int(counts.rows[leaf]), most=most, threads=threads)
            counts = self.count(tree)
        return tree, counts
