"""A hierarchy under change: the tree that the page shows and `edit` changes.

Nodes have numbers that stay the same through all changes, so that a page can speak of them. Unlike a finished hierarchy
a tree under change may have groups with nothing in them; they are left out when it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coterie.hierarchies.whole import ROOT, WholeTree

TOP = 0
"""the number of the root"""


@dataclass(frozen=True)
class EditTree:
    """A hierarchy under change."""

    labels: dict[int, str]
    """node → label"""
    parent: dict[int, int]
    """node → the node above; the root has none"""
    children: dict[int, tuple[int, ...]]
    """group → what stands in it, in order; values have no entry"""
    next_node: int

    def is_group(self, node: int) -> bool:
        """Whether a node can hold others."""
        return node in self.children

    @property
    def values(self) -> list[int]:
        """The values, in the order of the tree."""
        return [node for node in walk(self) if node not in self.children]

    @property
    def groups(self) -> list[int]:
        """The groups, the root first, in the order of the tree."""
        return [node for node in walk(self) if node in self.children]

    def path(self, node: int) -> list[int]:
        """The node and all above it."""
        found = [node]
        while node != TOP:
            node = self.parent[node]
            found.append(node)
        return found


def flat_tree(values: Iterable[str], *, root: str = ROOT) -> EditTree:
    """Every value directly under the root."""
    labels = dict(enumerate((root, *dict.fromkeys(values))))
    below = tuple(range(1, len(labels)))
    return EditTree(labels, dict.fromkeys(below, TOP), {TOP: below}, len(labels))


def from_whole(tree: WholeTree) -> EditTree:
    """A finished hierarchy, to be changed."""
    children: dict[int, list[int]] = {TOP: []}
    for node, above in enumerate(tree.parent):
        if node != TOP:
            children.setdefault(above, []).append(node)
    parent = {node: above for node, above in enumerate(tree.parent) if node != TOP}
    below = {node: tuple(nodes) for node, nodes in children.items()}
    return EditTree(dict(enumerate(tree.labels)), parent, below, len(tree.labels))


def walk(tree: EditTree, start: int = TOP) -> Iterator[int]:
    """A node and all beneath it, each before what it holds."""
    stack = [start]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(tree.children.get(node, ())))


def rows(tree: EditTree) -> list[list[str]]:
    """One row for each value, from it up to the root: a CSV file in ARX's form. Empty groups are left out."""
    return [[tree.labels[each] for each in tree.path(node)] for node in tree.values]


def empty_groups(tree: EditTree) -> list[int]:
    """Groups without a value in them."""
    full = {above for node in tree.values for above in tree.path(node)}
    return [node for node in tree.groups if node != TOP and node not in full]


def to_plain(tree: EditTree) -> dict[str, Any]:
    """The tree in what JSON can hold."""
    nodes = [[node, tree.parent.get(node, -1), tree.is_group(node), tree.labels[node]] for node in walk(tree)]
    return {"nodes": nodes, "next": tree.next_node}


def from_plain(values: Mapping[str, Any]) -> EditTree:
    """The tree that `to_plain` gave.

    Raises:
        KeyError, ValueError, TypeError: It is no such thing.
    """
    labels: dict[int, str] = {}
    parent: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for node, above, group, label in values["nodes"]:
        labels[int(node)] = str(label)
        if group:
            children[int(node)] = []
        if node != TOP:
            parent[int(node)] = int(above)
            children[int(above)].append(int(node))
    if TOP not in children or len(labels) != len(values["nodes"]):
        raise ValueError("no tree")
    return EditTree(labels, parent, {node: tuple(below) for node, below in children.items()}, int(values["next"]))
