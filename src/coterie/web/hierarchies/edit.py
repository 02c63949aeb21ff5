"""Edit operations on a hierarchy: each takes a tree and returns a new one, or explains why it cannot.

Labels are unique, as in every hierarchy, except that a value may share its group's label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from coterie.errors import HierarchyError
from coterie.web.hierarchies.edit_tree import TOP, EditTree, walk

MOST_LABEL = 500
"""the maximum length of a label"""


class EditedTree(NamedTuple):
    """An edited tree, and the node that was edited."""

    tree: EditTree
    node: int


def add_group(tree: EditTree, label: str, *, under: int = TOP) -> EditedTree:
    """Add an empty group at the end of another."""
    _need_group(tree, under)
    label = _free(tree, label)
    node = tree.next_node
    grown = replace(
        tree,
        labels=tree.labels | {node: label},
        children=tree.children | {under: (*tree.children[under], node), node: ()},
        next_node=node + 1,
    )
    return EditedTree(grown, node)


def add_values(tree: EditTree, labels: Sequence[str], *, under: int = TOP) -> EditTree:
    """Add values at the end of a group. A value may have the same name as its group."""
    _need_group(tree, under)
    known = {name for node, name in tree.labels.items() if node != under}
    known |= {tree.labels[node] for node in tree.children[under]}
    fresh = list(dict.fromkeys(labels))
    for label in fresh:
        if label in known:
            raise HierarchyError(f'"{label}" is already in the tree; labels must be unique')
    nodes = range(tree.next_node, tree.next_node + len(fresh))
    return replace(
        tree,
        labels=tree.labels | dict(zip(nodes, fresh, strict=True)),
        children=tree.children | {under: (*tree.children[under], *nodes)},
        next_node=tree.next_node + len(fresh),
    )


def rename(tree: EditTree, node: int, label: str) -> EditTree:
    """Rename a group, a value or the root."""
    _need(tree, node)
    if label == tree.labels[node]:
        return tree
    return replace(tree, labels=tree.labels | {node: _free(tree, label)})


def move(tree: EditTree, nodes: Sequence[int], *, to: int) -> EditTree:
    """Move groups and values to the end of another group, in tree order."""
    _need_group(tree, to)
    moved = _tops(tree, nodes)
    above = set(tree.path(to))
    for node in moved:
        if node in above:
            raise HierarchyError(f'"{tree.labels[node]}" cannot be moved into itself or one of its descendants')
    children = dict(tree.children)
    gone = set(moved)
    for old in {tree.parent[node] for node in moved}:
        children[old] = tuple(each for each in children[old] if each not in gone)
    children[to] = (*children[to], *moved)
    result = replace(tree, children=children)
    _check_names(result, moved)
    return result


def gather(tree: EditTree, nodes: Sequence[int], label: str) -> EditedTree:
    """Move groups and values into a new group, which takes the place of the first of them."""
    moved = _tops(tree, nodes)
    first = moved[0]
    under = tree.parent[first]
    made = add_group(tree, label, under=under)
    # The new group takes the place of the first node before that node moves.
    order = [each for each in made.tree.children[under] if each != made.node]
    order.insert(order.index(first), made.node)
    placed = replace(made.tree, children=made.tree.children | {under: tuple(order)})
    return EditedTree(move(placed, moved, to=made.node), made.node)


def add_level(tree: EditTree, label: str, *, under: int = TOP) -> EditedTree:
    """Add a level: a new group between a group and all its children."""
    _need_group(tree, under)
    if not tree.children[under]:
        return add_group(tree, label, under=under)
    return gather(tree, tree.children[under], label)


def delete(tree: EditTree, node: int) -> EditTree:
    """Delete a node. A group's children move up in its place; a value is removed."""
    _need(tree, node)
    if node == TOP:
        raise HierarchyError("the root cannot be deleted; everything is below it")
    above = tree.parent[node]
    beneath = tree.children.get(node, ())
    order = tree.children[above]
    at = order.index(node)
    children = {each: below for each, below in tree.children.items() if each != node}
    children[above] = (*order[:at], *beneath, *order[at + 1 :])
    labels = {each: label for each, label in tree.labels.items() if each != node}
    result = replace(tree, labels=labels, children=children)
    _check_names(result, beneath)
    return result


def merge(tree: EditTree, nodes: Sequence[int], *, into: int) -> EditTree:
    """Move the children of groups into another group and delete the groups."""
    _need_group(tree, into)
    sources = [node for node in dict.fromkeys(nodes) if node != into]
    if not sources:
        raise HierarchyError("select at least one other group to merge")
    for node in sources:
        _need_group(tree, node)
        if node in tree.path(into):
            raise HierarchyError(f'"{tree.labels[node]}" contains "{tree.labels[into]}" and cannot be merged into it')
    for node in sources:
        if tree.children[node]:
            tree = move(tree, tree.children[node], to=into)
        tree = delete(tree, node)
    return tree


def shift(tree: EditTree, node: int, by: int) -> EditTree:
    """Move a node up (−) or down (+) among its siblings; at the end it stays."""
    _need(tree, node)
    if node == TOP:
        return tree
    order = list(tree.children[tree.parent[node]])
    at = order.index(node)
    order.insert(min(max(at + by, 0), len(order) - 1), order.pop(at))
    return replace(tree, children=tree.children | {tree.parent[node]: tuple(order)})


def _tops(tree: EditTree, nodes: Sequence[int]) -> list[int]:
    """Return the nodes in tree order, without those below another of them."""
    chosen = set(nodes)
    for node in chosen:
        _need(tree, node)
    if TOP in chosen:
        raise HierarchyError("the root cannot be moved; everything is below it")
    if not chosen:
        raise HierarchyError("select a group or value first")
    return [node for node in walk(tree) if node in chosen and not chosen.intersection(tree.path(node)[1:])]


def _need(tree: EditTree, node: int) -> None:
    if node not in tree.labels:
        raise HierarchyError("this group or value no longer exists; the tree was changed elsewhere")


def _need_group(tree: EditTree, node: int) -> None:
    _need(tree, node)
    if node not in tree.children:
        raise HierarchyError(f'"{tree.labels[node]}" is a value and cannot contain others; select a group')


def _free(tree: EditTree, label: str) -> str:
    """Return the label if a node may have it."""
    if not label.strip():
        raise HierarchyError("the label is empty; give it a name")
    if len(label) > MOST_LABEL:
        raise HierarchyError(f"the label is longer than {MOST_LABEL} characters; shorten it")
    if label in tree.labels.values():
        raise HierarchyError(f'there is a "{label}" already; choose another label, or merge the two groups')
    return label


def _check_names(tree: EditTree, moved: Iterable[int]) -> None:
    """Check that a value shares its label only with its group."""
    names = {tree.labels[node] for node in moved}
    bearers: set[tuple[str, int | None]] = set()
    for node, label in tree.labels.items():
        above = tree.parent.get(node)
        own = above is not None and node not in tree.children and tree.labels[above] == label
        bearer = label, above if own else None
        if label in names and bearer in bearers:
            raise HierarchyError(
                f'"{label}" is also the name of a group, and must stay in it; give one of them another label first'
            )
        bearers.add(bearer)
