"""Find errors that keep rows of labels from forming a tree, and warnings about trees that look wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from itertools import islice
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING

from coterie.errors import Problem
from coterie.values.scalars import parse_number
from coterie.wording import count_of

if TYPE_CHECKING:
    from coterie.hierarchies.whole import WholeTree

_MOST_OF_CYCLE = 6


def edge_faults(parents: Mapping[str, Mapping[str, int]], *, numbered: bool) -> list[Problem]:
    """Return cycles and labels with two parents, given label → its parents → the first row with that edge.

    Messages name these rows if the user knows their numbers.
    """
    knot = _knot(parents)
    problems = [_cycle_fault(cycle) for cycle in _cycles(parents, knot)]
    for label, above in parents.items():
        # Parents within a cycle are reported with that cycle.
        outside = [name for name in above if not (label in knot and name in knot)]
        if len(outside) > 1:
            named = [f'"{name}"' + (f" (row {above[name]:,})" if numbered else "") for name in outside]
            number = "two" if len(named) == 2 else f"{len(named):,}"
            problems.append(Problem("", f'"{label}" has {number} parents: {_listed(named)}; labels must be unique'))
    return problems


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def _knot(parents: Mapping[str, Mapping[str, int]]) -> set[str]:
    """Return the labels that are unreachable because of a cycle, without those that are merely below one."""
    children: dict[str, list[str]] = {}
    for label, above in parents.items():
        for name in above:
            children.setdefault(name, []).append(label)
    left = _peel(parents, children)
    # The remaining labels are in or below a cycle; peel again from below.
    up = {label: [name for name in parents[label] if name in left] for label in left}
    down = {label: [name for name in children.get(label, ()) if name in left] for label in left}
    return _peel(down, up)


def _peel(needs: Mapping[str, Iterable[str]], feeds: Mapping[str, Iterable[str]]) -> set[str]:
    """Repeatedly remove labels whose prerequisites have all been removed; return what remains."""
    waiting = {label: len(list(names)) for label, names in needs.items()}
    ready = [label for label, number in waiting.items() if number == 0]
    ready += [label for label in feeds if label not in waiting]
    gone = set()
    while ready:
        label = ready.pop()
        gone.add(label)
        for name in feeds.get(label, ()):
            waiting[name] -= 1
            if waiting[name] == 0:
                ready.append(name)
    return set(waiting) - gone


def _cycles(parents: Mapping[str, Mapping[str, int]], knot: set[str]) -> list[list[str]]:
    """Return disjoint cycles; every strongly connected set of labels yields at least one."""
    cycles = []
    seen: set[str] = set()
    for start in parents:  # not the set itself: the order of a set changes from run to run
        if start not in knot or start in seen:
            continue
        walk: dict[str, None] = {}
        label = start
        while label not in seen:
            seen.add(label)
            walk[label] = None
            label = next(name for name in parents[label] if name in knot)
        if label in walk:
            way = list(walk)
            cycles.append(way[way.index(label) :])
    return cycles


def _cycle_fault(cycle: list[str]) -> Problem:
    shown = [f'"{label}"' for label in cycle[:_MOST_OF_CYCLE]]
    if len(cycle) > _MOST_OF_CYCLE:
        shown.append(f"… {len(cycle) - _MOST_OF_CYCLE:,} more …")
    way = " under ".join([*shown, f'"{cycle[0]}"'])
    return Problem("", f"a cycle: {way}; a label cannot be its own ancestor")


_N = r"([+-]?[0-9]+(?:\.[0-9]+)?)"
_RANGE = re.compile(rf"([\[\]()]?)\s*{_N}\s*(?:-|–|,|\.\.|to)\s*{_N}\s*([\[\]()]?)")
_BOUND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*{_N}")
_COMPARE: dict[str, Callable[[Decimal, Decimal], bool]] = {"<": lt, "<=": le, "≤": le, ">": gt, ">=": ge, "≥": ge}


def _states(label: str, value: Decimal) -> bool | None:
    """Return whether a label such as `20-24`, `[20, 25)` or `>= 65` contains a number; None if it is not a range."""
    if match := _RANGE.fullmatch(label.strip()):
        left, low, high, right = match.groups()
        above = value > Decimal(low) if left in ("(", "]") else value >= Decimal(low)
        below = value < Decimal(high) if right in (")", "[") else value <= Decimal(high)
        return above and below
    if match := _BOUND.fullmatch(label.strip()):
        sign, bound = match.groups()
        return _COMPARE[sign](value, Decimal(bound))
    return None


def doubts(tree: WholeTree) -> list[Problem]:
    """Return warnings: not errors, but likely mistakes in the tree."""
    found = []
    outside = _outside_their_range(tree)
    if outside:
        leaf, label = outside[0]
        number = f"{count_of(len(outside), 'value')} {'lies' if len(outside) == 1 else 'lie'}"
        found.append(
            Problem("", f'{number} outside the range that a label above states, such as "{leaf}" under "{label}"')
        )
    both = [label for label in tree.leaf_of if label in tree.inner_labels]
    if both:
        what = "is a value and also" if len(both) == 1 else "are values and also"
        group = "the name of a group" if len(both) == 1 else "names of groups"
        shown = _listed([f'"{label}"' for label in both[:5]] + ([f"{len(both) - 5:,} more"] if len(both) > 5 else []))
        found.append(Problem("", f"{shown} {what} {group}: readers cannot tell which is meant"))
    return found


def _outside_their_range(tree: WholeTree) -> list[tuple[str, str]]:
    """Return numeric leaves, each with the first range label above it that does not contain it."""
    found = []
    for leaf, node in tree.leaf_of.items():
        if (value := parse_number(leaf)) is not None:
            wrong = (label for label in tree.path(node)[1:] if _states(label, value) is False)
            found += [(leaf, label) for label in islice(wrong, 1)]
    return found
