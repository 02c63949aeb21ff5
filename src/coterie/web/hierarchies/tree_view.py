"""Views of a tree being edited: its expanded lines, and the tree as rows of a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from coterie.errors import HierarchyError
from coterie.hierarchies.check import ColumnValues
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.hierarchies.whole import WholeTree
from coterie.web.hierarchies.column_values import ColumnValue, placed_values
from coterie.web.hierarchies.edit_tree import TOP, EditTree, rows, walk
from coterie.web.hierarchies.operations import numbers
from coterie.web.pages import Fault

AT_ONCE = 200
"""lines of a group that are shown before the rest is requested"""
ALL_OPEN = 150
"""a tree of at most this many nodes is shown whole"""
FOUND = 200
TABLE_ROWS = 50
DEEPEST = 60
"""levels that are shown expanded; pages are nested no deeper"""
LEVELS = 12
"""levels that the table shows; deeper trees are edited as trees"""


class Counts(NamedTuple):
    """Row counts of each node, and the values that the tree lacks."""

    rows: dict[int, int]
    lost: list[ColumnValue]


def counts_of(tree: EditTree, column: ColumnValues) -> Counts:
    """Count the rows below each node."""
    own = {tree.labels[node]: node for node in tree.values}
    # Only the leaves are needed to find values.
    leaves = WholeTree((tree.labels[TOP], *own), (-1, *[0] * len(own)))
    found: dict[int, int] = {}
    lost = []
    for value, leaf in placed_values(leaves, column):
        if leaf is None:
            lost.append(value)
            continue
        for node in tree.path(own[leaves.labels[leaf]]):
            found[node] = found.get(node, 0) + value.rows
    return Counts(found, lost)


@dataclass(frozen=True)
class TreeView:
    """A tree as the page shows it: as far as it is opened, with the rows and values below each node."""

    tree: EditTree
    rows: Mapping[int, int]
    """node → rows of the data below it"""
    opened: Collection[int]
    """the groups that are expanded"""
    shown: Collection[int] = ()
    """nodes that appear, however many precede them"""

    @cached_property
    def values(self) -> dict[int, int]:
        """Node → values below it; 1 for a value."""
        sizes: dict[int, int] = {}
        for node in reversed(list(walk(self.tree))):
            below = self.tree.children.get(node)
            sizes[node] = 1 if below is None else sum(sizes[child] for child in below)
        return sizes

    def end(self, node: int, first: int = 0) -> int:
        """Return how many children of a group are on the page once those after the `first` are shown."""
        below = self.tree.children[node]
        last = max((at for at, child in enumerate(below, start=1) if child in self._needed), default=0)
        end = max(first + AT_ONCE, last)
        # A few more lines are shown at once instead of requiring another request.
        return len(below) if len(below) <= end + 20 else end

    @cached_property
    def _needed(self) -> set[int]:
        return {above for node in self.shown for above in self.tree.path(node)}


def open_nodes(tree: EditTree, wanted: Collection[int] | None) -> set[int]:
    """Return the groups to expand: those that were, or all of a small tree, or only the root."""
    if wanted is None:
        wanted = set(tree.children) if len(tree.labels) <= ALL_OPEN else ()
    return {TOP, *(node for node in wanted if node in tree.labels and len(tree.path(node)) < DEEPEST)}


def find(tree: EditTree, text: str) -> list[int]:
    """Find nodes whose labels contain a text, ignoring case."""
    wanted = text.strip().casefold()
    if not wanted:
        return []
    found = [node for node in walk(tree) if node != TOP and wanted in tree.labels[node].casefold()]
    return found[:FOUND]


class TablePage(NamedTuple):
    """Rows of the tree as in ARX: the value, then one column for each level below the root."""

    first: int
    levels: int
    rows: list[list[str]]

    @classmethod
    def of(cls, tree: EditTree, *, first: int = 0) -> TablePage:
        """Return some rows of a tree. Raises a HierarchyError if it is too deep for a table."""
        paths = [path[:-1] for path in rows(tree)]
        levels = max((len(path) for path in paths), default=1) - 1
        if levels > LEVELS:
            raise HierarchyError(
                f"the tree has {levels} levels below the root; the table shows {LEVELS}. Edit it as a tree"
            )
        first = min(max(first, 0), max(len(paths) - 1, 0)) // TABLE_ROWS * TABLE_ROWS
        part = paths[first : first + TABLE_ROWS]
        return cls(first, levels, [[path[0], *[""] * (levels + 1 - len(path)), *path[1:]] for path in part])

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> TablePage:
        """Read the rows of a submitted form."""
        first, levels, count = (next(iter(numbers(fields.get(name, ""))), 0) for name in ("from", "levels", "count"))
        width = min(levels, LEVELS + 3)
        found = range(min(count, TABLE_ROWS))
        return cls(first, width, [[fields.get(f"c-{row}-{level}", "") for level in range(width + 1)] for row in found])

    def wider(self) -> dict[str, str]:
        """Return the fields of the form with an empty level after the value."""
        wide = [[row[0], "", *row[1:]] for row in self.rows]
        cells = {f"c-{at}-{level}": text for at, row in enumerate(wide) for level, text in enumerate(row)}
        return {"from": str(self.first), "levels": str(self.levels + 1), "count": str(len(wide)), **cells}

    def replaced_in(self, tree: EditTree) -> Hierarchy:
        """Return the hierarchy with these rows instead of its own; an empty value removes its row.

        Raises:
            HierarchyError: The rows no longer form a tree; every error is reported with its table row.
        """
        old, root = rows(tree), tree.labels[TOP]
        new = [[*row, root] if row and row[0].strip() else [] for row in self.rows]
        return Hierarchy.from_rows([*old[: self.first], *new, *old[self.first + len(new) :]], root=root)

    def faults(self, tree: EditTree) -> list[Fault]:
        """Return why these rows do not form a tree."""
        try:
            self.replaced_in(tree)
        except HierarchyError as error:
            return [Fault("", str(problem)) for problem in error.problems[:20]] or [Fault("", str(error))]
        return []
