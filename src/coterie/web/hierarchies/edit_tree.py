"""The editable form of a hierarchy, shown by the page and changed by `edit`.

Nodes have permanent numbers, so that a page can refer to them. Unlike a finished hierarchy,
an editable tree may have empty groups; they are left out when it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter

from coterie.hierarchies.whole import ROOT, WholeTree

TOP = 0
"""the number of the root"""


@dataclass(frozen=True)
class EditTree:
    """A hierarchy being edited."""

    labels: dict[int, str]
    """node → label"""
    children: dict[int, tuple[int, ...]]
    """group → its children, in order; values have no entry"""
    next_node: int
    weights: dict[int, float] = field(default_factory=dict)
    """node → its weight for NCP, if it has one; a deleted node may keep its entry"""

    @cached_property
    def parent(self) -> dict[int, int]:
        """Node → the node above; the root has none."""
        return {node: above for above, below in self.children.items() for node in below}

    @property
    def values(self) -> list[int]:
        """The values, in tree order."""
        return [node for node in walk(self) if node not in self.children]

    @property
    def groups(self) -> list[int]:
        """The groups, root first, in tree order."""
        return [node for node in walk(self) if node in self.children]

    def path(self, node: int) -> list[int]:
        """Return the node and all its ancestors."""
        found = [node]
        while node != TOP:
            node = self.parent[node]
            found.append(node)
        return found


def flat_tree(values: Iterable[str], *, root: str = ROOT) -> EditTree:
    """Place every value directly under the root."""
    labels = dict(enumerate((root, *dict.fromkeys(values))))
    below = tuple(range(1, len(labels)))
    return EditTree(labels, {TOP: below}, len(labels))


def from_whole(tree: WholeTree) -> EditTree:
    """Make a finished hierarchy editable."""
    children: dict[int, list[int]] = {TOP: []}
    for node, above in enumerate(tree.parent):
        if node != TOP:
            children.setdefault(above, []).append(node)
    below = {node: tuple(nodes) for node, nodes in children.items()}
    made = EditTree(dict(enumerate(tree.labels)), below, len(tree.labels))
    return with_weights(made, dict(tree.weights))


def with_weights(tree: EditTree, weights: Mapping[str, float]) -> EditTree:
    """Return the tree with the weights of those labels that name one node."""
    count = Counter(tree.labels.values())
    kept = {node: weights[label] for node, label in tree.labels.items() if label in weights and count[label] == 1}
    return replace(tree, weights=kept)


def label_weights(tree: EditTree) -> dict[str, float]:
    """Return label → weight, as a configuration has it: of the nodes that are written, if no other has the label."""
    count, empty = Counter(tree.labels.values()), set(empty_groups(tree))
    kept = {node: weight for node, weight in tree.weights.items() if node in tree.labels and node not in empty}
    return {label: weight for node, weight in kept.items() if count[label := tree.labels[node]] == 1}


def walk(tree: EditTree, start: int = TOP) -> Iterator[int]:
    """Yield a node and its descendants, parents first."""
    stack = [start]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(tree.children.get(node, ())))


def rows(tree: EditTree) -> list[list[str]]:
    """Return one row per value, from it up to the root, as in an ARX CSV file. Empty groups are left out."""
    return [[tree.labels[each] for each in tree.path(node)] for node in tree.values]


def empty_groups(tree: EditTree) -> list[int]:
    """Return the groups without values."""
    full = {above for node in tree.values for above in tree.path(node)}
    return [node for node in tree.groups if node != TOP and node not in full]


def to_plain(tree: EditTree) -> dict[str, Any]:
    """Convert the tree to plain values for JSON."""
    return _PLAIN.dump_python(tree)  # type: ignore[no-any-return]


def from_plain(values: Mapping[str, Any]) -> EditTree:
    """Restore a tree from `to_plain`. Raises a ValueError if the values are not a tree."""
    tree = _PLAIN.validate_python(values)
    once = sum(map(len, tree.children.values())) == len(tree.parent) and TOP not in tree.parent
    if TOP not in tree.children or not once or set(walk(tree)) != set(tree.labels):
        raise ValueError("no tree")
    return tree


_PLAIN = TypeAdapter(EditTree)
