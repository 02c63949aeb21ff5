"""Views of a tree being edited: its expanded lines, and the tree as rows of a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from coterie.errors import HierarchyError
from coterie.hierarchies.check import ColumnValues
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.hierarchies.whole import WholeTree
from coterie.web.hierarchies.column_values import ColumnValue, placed_values
from coterie.web.hierarchies.edit_tree import TOP, EditTree, rows, walk

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


@dataclass
class Line:
    """One node as shown on the page."""

    node: int
    label: str
    group: bool
    rows: int
    values: int
    level: int
    place: int
    """its position among its siblings, from 1"""
    of: int
    open: bool = False
    lines: list[Line] = field(default_factory=list)
    more: int = 0
    """siblings of its children that are not shown yet"""


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


def open_nodes(tree: EditTree, wanted: Collection[int] | None) -> set[int]:
    """Return the groups to expand: those that were, or all of a small tree, or only the root."""
    if wanted is None:
        wanted = set(tree.children) if len(tree.labels) <= ALL_OPEN else ()
    return {TOP, *(node for node in wanted if node in tree.labels and len(tree.path(node)) < DEEPEST)}


def lines_of(
    tree: EditTree,
    counts: Mapping[int, int],
    *,
    opened: Collection[int],
    start: int = TOP,
    first: int = 0,
    shown: Collection[int] = (),
) -> Line:
    """Return the node `start` and its descendants, as far as they are `opened`, each with its rows of the data.

    Its `first` children are on the page already and left out. Nodes in `shown` appear, however many precede them.
    """
    sizes = _sizes(tree)
    must = {above for node in shown if node in tree.labels for above in tree.path(node)}

    def line(node: int, level: int, place: int, of: int) -> Line:
        made = Line(node, tree.labels[node], node in tree.children, counts.get(node, 0), sizes[node], level, place, of)
        made.open = made.group and node in opened
        return made

    order = tree.children[tree.parent[start]] if start != TOP else (TOP,)
    top = line(start, len(tree.path(start)), order.index(start) + 1, len(order))
    stack = [(top, first)]
    while stack:
        parent, skipped = stack.pop()
        if not parent.open:
            continue
        below = tree.children[parent.node]
        last = max((at for at, node in enumerate(below) if node in must), default=-1) + 1
        end = max(skipped + AT_ONCE, last)
        # A few more lines are shown at once instead of requiring another request.
        end = len(below) if len(below) <= end + 20 else end
        for at, node in enumerate(below[skipped:end], start=skipped + 1):
            child = line(node, parent.level + 1, at, len(below))
            parent.lines.append(child)
            stack.append((child, 0))
        parent.more = len(below) - end
    return top


def _sizes(tree: EditTree) -> dict[int, int]:
    """Return node → values below it; 1 for a value."""
    sizes: dict[int, int] = {}
    for node in reversed(list(walk(tree))):
        sizes[node] = sum(sizes[child] for child in tree.children[node]) if node in tree.children else 1
    return sizes


def find(tree: EditTree, text: str) -> list[int]:
    """Find nodes whose labels contain a text, ignoring case."""
    wanted = text.strip().casefold()
    if not wanted:
        return []
    found = [node for node in walk(tree) if node != TOP and wanted in tree.labels[node].casefold()]
    return found[:FOUND]


@dataclass(frozen=True)
class TableView:
    """Rows of the tree as in ARX: the value, then one column for each level below the root."""

    levels: int
    rows: list[list[str]]
    first: int
    total: int


def table_of(tree: EditTree, *, first: int = 0) -> TableView:
    """Return some rows of a tree as a table.

    Raises:
        HierarchyError: The tree is too deep for a table.
    """
    paths = [path[:-1] for path in rows(tree)]
    levels = max((len(path) for path in paths), default=1) - 1
    if levels > LEVELS:
        raise HierarchyError(
            f"the tree has {levels} levels below the root; the table shows {LEVELS}. Edit it as a tree"
        )
    first = min(max(first, 0), max(len(paths) - 1, 0)) // TABLE_ROWS * TABLE_ROWS
    part = paths[first : first + TABLE_ROWS]
    padded = [[path[0], *[""] * (levels + 1 - len(path)), *path[1:]] for path in part]
    return TableView(levels, padded, first, len(paths))


def with_rows(tree: EditTree, changed: Sequence[Sequence[str]], *, first: int) -> Hierarchy:
    """Return the hierarchy with some table rows replaced; an empty value removes its row.

    Raises:
        HierarchyError: The rows no longer form a tree; every error is reported with its table row.
    """
    root = tree.labels[TOP]
    paths = [path[:-1] for path in rows(tree)]
    new = [[*row, root] if row and row[0].strip() else [] for row in changed]
    every = [[*path, root] for path in paths[:first]] + new
    every += [[*path, root] for path in paths[first + len(changed) :]]
    return Hierarchy.from_rows(every, root=root)
