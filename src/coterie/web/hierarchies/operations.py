"""Turn a form of the tree editor into an edit of the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from coterie.errors import HierarchyError
from coterie.web.hierarchies import edit
from coterie.web.hierarchies.edit_tree import TOP, EditTree, walk
from coterie.wording import count_of


class EditRequest(NamedTuple):
    """An edit request from a form."""

    what: str
    nodes: tuple[int, ...] = ()
    """the selected nodes; the first is focused"""
    label: str = ""
    to: int = TOP
    values: tuple[str, ...] = ()


class EditOutcome(NamedTuple):
    """The result of an edit."""

    tree: EditTree
    focus: int
    """the node to focus"""
    told: str
    """what happened, for screen readers"""


def read_asked(fields: Mapping[str, str], values: Sequence[str]) -> EditRequest:
    """Parse the request of a form; anything that is not a number is left out."""
    return EditRequest(
        what=fields.get("what", ""),
        nodes=numbers(fields.get("nodes", "")),
        label=fields.get("label", ""),
        to=next(iter(numbers(fields.get("to", ""))), TOP),
        values=tuple(values),
    )


def numbers(text: str) -> tuple[int, ...]:
    """Parse `3,5,8` into numbers."""
    parts = (part.strip() for part in text.split(",", 100_000))
    return tuple(dict.fromkeys(int(part) for part in parts if part.isascii() and part.isdecimal() and len(part) < 10))


def apply(tree: EditTree, asked: EditRequest) -> EditOutcome:
    """Apply an edit to the tree.

    Raises:
        HierarchyError: It is not possible; the message says why and what to do.
    """
    what, nodes, to, label = asked.what, asked.nodes, asked.to, asked.label.strip()
    if not nodes and what in ("rename", "move", "gather", "delete", "merge", "up", "down"):
        raise HierarchyError("select a group or value in the tree first")
    node, named = nodes[0] if nodes else TOP, _named(tree, nodes)
    match what:
        case "rename":
            changed = edit.rename(tree, node, label)
            return EditOutcome(changed, node, f'Renamed to "{changed.labels[node]}".')
        case "move":
            changed = edit.move(tree, nodes, to=to)
            return EditOutcome(changed, node, f'{named} moved into "{tree.labels[to]}".')
        case "gather":
            made = edit.gather(tree, nodes, label)
            return EditOutcome(*made, f'New group "{label}" around {named}.')
        case "add-group":
            under = node if node in tree.children else tree.parent.get(node, TOP)
            made = edit.add_group(tree, label, under=under)
            return EditOutcome(*made, f'New empty group "{label}" in "{tree.labels[under]}".')
        case "add-level":
            made = edit.add_level(tree, label, under=node)
            return EditOutcome(*made, f'New level "{label}" beneath "{tree.labels[node]}".')
        case "delete":
            return _delete(tree, nodes, named)
        case "merge":
            changed = edit.merge(tree, nodes, into=to)
            return EditOutcome(changed, to, f'Merged {named} into "{tree.labels[to]}".')
        case "up" | "down":
            return EditOutcome(edit.shift(tree, node, -1 if what == "up" else 1), node, f"Moved {what}.")
        case "place":
            return _place(tree, asked.values, to)
    raise HierarchyError("unknown operation; reload the page")


def _named(tree: EditTree, nodes: Sequence[int]) -> str:
    known = [tree.labels[node] for node in nodes if node in tree.labels]
    return f'"{known[0]}"' if len(known) == 1 else f"{len(known):,} entries"


def _delete(tree: EditTree, nodes: Sequence[int], named: str) -> EditOutcome:
    order, changed = list(walk(tree)), tree
    for node in nodes:
        changed = edit.delete(changed, node)
    # The previous node receives the focus: without one, screen reader users lose their place.
    before = next((node for node in reversed(order[: order.index(nodes[0])]) if node not in nodes), TOP)
    up = any(tree.children.get(node) for node in nodes)
    return EditOutcome(changed, before, f"Deleted {named}." + (" Its contents moved up." if up else ""))


def _place(tree: EditTree, values: Sequence[str], to: int) -> EditOutcome:
    if not values:
        raise HierarchyError("select at least one of the missing values")
    changed = edit.add_values(tree, values, under=to)
    return EditOutcome(changed, to, f'{count_of(len(values), "value")} added to "{tree.labels[to]}".')
