"""Turn a form of the tree editor into an edit of the tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    operation = _OPERATIONS.get(asked.what)
    if operation is None:
        raise HierarchyError("unknown operation; reload the page")
    return operation(tree, asked)


def _first(asked: EditRequest) -> int:
    if not asked.nodes:
        raise HierarchyError("select a group or value in the tree first")
    return asked.nodes[0]


def _named(tree: EditTree, nodes: Sequence[int]) -> str:
    known = [tree.labels[node] for node in nodes if node in tree.labels]
    return f'"{known[0]}"' if len(known) == 1 else f"{len(known):,} entries"


def _rename(tree: EditTree, asked: EditRequest) -> EditOutcome:
    node = _first(asked)
    changed = edit.rename(tree, node, asked.label.strip())
    return EditOutcome(changed, node, f'Renamed to "{changed.labels[node]}".')


def _move(tree: EditTree, asked: EditRequest) -> EditOutcome:
    first = _first(asked)
    changed = edit.move(tree, asked.nodes, to=asked.to)
    return EditOutcome(changed, first, f'{_named(tree, asked.nodes)} moved into "{tree.labels[asked.to]}".')


def _gather(tree: EditTree, asked: EditRequest) -> EditOutcome:
    _first(asked)
    made = edit.gather(tree, asked.nodes, asked.label.strip())
    return EditOutcome(made.tree, made.node, f'New group "{asked.label.strip()}" around {_named(tree, asked.nodes)}.')


def _add_group(tree: EditTree, asked: EditRequest) -> EditOutcome:
    node = asked.nodes[0] if asked.nodes else TOP
    under = node if tree.is_group(node) else tree.parent.get(node, TOP)
    made = edit.add_group(tree, asked.label.strip(), under=under)
    return EditOutcome(made.tree, made.node, f'New empty group "{asked.label.strip()}" in "{tree.labels[under]}".')


def _add_level(tree: EditTree, asked: EditRequest) -> EditOutcome:
    node = asked.nodes[0] if asked.nodes else TOP
    made = edit.add_level(tree, asked.label.strip(), under=node)
    return EditOutcome(made.tree, made.node, f'New level "{asked.label.strip()}" beneath "{tree.labels[node]}".')


def _delete(tree: EditTree, asked: EditRequest) -> EditOutcome:
    _first(asked)
    order = list(walk(tree))
    gone = set(asked.nodes)
    changed = tree
    for node in asked.nodes:
        changed = edit.delete(changed, node)
    # The focus goes to what stood before: a list without focus leaves people who cannot see it lost.
    at = order.index(asked.nodes[0])
    before = next((node for node in reversed(order[:at]) if node not in gone), TOP)
    up = any(tree.children.get(node) for node in asked.nodes)
    return EditOutcome(
        changed, before, f"Deleted {_named(tree, asked.nodes)}." + (" Its contents moved up." if up else "")
    )


def _merge(tree: EditTree, asked: EditRequest) -> EditOutcome:
    _first(asked)
    changed = edit.merge(tree, asked.nodes, into=asked.to)
    return EditOutcome(changed, asked.to, f'Merged {_named(tree, asked.nodes)} into "{tree.labels[asked.to]}".')


def _up(tree: EditTree, asked: EditRequest) -> EditOutcome:
    return EditOutcome(edit.shift(tree, _first(asked), -1), _first(asked), "Moved up.")


def _down(tree: EditTree, asked: EditRequest) -> EditOutcome:
    return EditOutcome(edit.shift(tree, _first(asked), 1), _first(asked), "Moved down.")


def _place(tree: EditTree, asked: EditRequest) -> EditOutcome:
    if not asked.values:
        raise HierarchyError("select at least one of the missing values")
    changed = edit.add_values(tree, asked.values, under=asked.to)
    number = count_of(len(asked.values), "value")
    return EditOutcome(changed, asked.to, f'{number} added to "{tree.labels[asked.to]}".')


_OPERATIONS: dict[str, Callable[[EditTree, EditRequest], EditOutcome]] = {
    "rename": _rename,
    "move": _move,
    "gather": _gather,
    "add-group": _add_group,
    "add-level": _add_level,
    "delete": _delete,
    "merge": _merge,
    "up": _up,
    "down": _down,
    "place": _place,
}
