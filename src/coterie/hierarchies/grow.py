"""Build a tree from rows of labels, or report why they do not form one.

A row goes from a value up to the root. Labels are nodes: the same text is the same node wherever it occurs, so a
label with two different parents is an error. A label that repeats along a row ("Other;Other;*") counts once. A value
may have the same name as its group ("Other" under "Other", next to "Misc"): it is then a separate leaf
below that node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby, pairwise

from coterie.errors import HierarchyError, Problem
from coterie.hierarchies.faults import edge_faults
from coterie.hierarchies.whole import ROOT, WholeTree

_ROOT_WORDS = frozenset({"any", "all", "root", "top", "total", "everything"})


def is_root_word(label: str) -> bool:
    """Return whether a label conventionally names the root: `*`, `***`, Any, All and the like."""
    return (bool(label) and set(label) == {"*"}) or label.casefold() in _ROOT_WORDS


def grow(rows: Iterable[Sequence[str]], *, root: str | None = None, lines: Sequence[int] | None = None) -> WholeTree:
    """Return the tree described by rows of labels, each from a value up to the root.

    Args:
        rows: May differ in length, repeat labels, contain empty cells and omit the root.
        root: The root's label, if the rows do not determine it.
        lines: Each row's line in its file, named in errors.

    Raises:
        HierarchyError: The rows do not form a tree; every problem is listed.
    """
    chains = _Chains(rows, lines)
    if not chains.rows:
        raise HierarchyError("the hierarchy has no values; give one row for each value")
    top = chains.find_root(root)
    problems = edge_faults(chains.parents, numbered=lines is not None)
    tops = set(chains.tops)
    if not problems and top not in tops and top in chains.parents:
        problems = [Problem("", f'the root "{top}" has a parent itself: "{next(iter(chains.parents[top]))}"')]
    if problems:
        raise HierarchyError(problems)
    return _emit(_children(chains.rows, top, tops), top)


class _Chains:
    """Rows without padding, and the parents they assign to each label."""

    def __init__(self, rows: Iterable[Sequence[str]], lines: Sequence[int] | None) -> None:
        self.rows: list[tuple[str, tuple[str, ...]]] = []
        self.parents: dict[str, dict[str, int]] = {}
        self.labels: dict[str, None] = {}
        tails: dict[tuple[str, ...], tuple[str, ...]] = {}
        for place, row in enumerate(rows):
            if not any(cell.strip() for cell in row):
                continue
            line = lines[place] if lines is not None else place + 1
            leaf, raw = row[0], tuple(row[1:])
            known = tails.get(raw)
            # Without padding: no empty cells, no consecutive repeats.
            tail = tails[raw] = known or tuple(cell for cell, _ in groupby(filter(str.strip, raw)))
            # "Other;Other;*" says no more than "Other;*".
            above = tail[1:] if tail and tail[0] == leaf else tail
            self._note((leaf, *above[:1]), line)
            if known is None:
                self._note(tail, line)
            self.rows.append((leaf, above))

    def _note(self, chain: tuple[str, ...], line: int) -> None:
        self.labels.update(dict.fromkeys(chain))
        for child, above in pairwise(chain):
            self.parents.setdefault(child, {}).setdefault(above, line)

    @cached_property
    def tops(self) -> list[str]:
        """Labels that no row places under another."""
        return [label for label in self.labels if label not in self.parents]

    def find_root(self, wanted: str | None) -> str:
        """Return the label of the root.

        It is the given one, a top-level label that conventionally names a root, or the only top-level label. If
        rows end in different labels, none of them conventional, these are groups whose root was omitted.
        """
        if wanted is not None:
            return wanted
        with_children = {above for parents in self.parents.values() for above in parents}
        stars = [top for top in self.tops if top and set(top) == {"*"}]
        words = [top for top in self.tops if top in with_children and is_root_word(top)]
        if stars or words:
            return (stars or words)[0]
        if len(self.tops) == 1 and self.tops[0] in with_children:
            return self.tops[0]
        root = ROOT
        while root in self.labels:
            root += ROOT
        return root


def _children(rows: list[tuple[str, tuple[str, ...]]], root: str, tops: set[str]) -> dict[str, dict[str | None, None]]:
    """Return label → its children, in order of first appearance; None stands for the label itself as a value."""
    children: dict[str, dict[str | None, None]] = {root: {}}
    for leaf, tail in rows:
        children.setdefault(leaf, {})[None] = None
        child = leaf
        for above in tail:
            children.setdefault(above, {})[child] = None
            child = above
        if child != root and child in tops:
            children[root][child] = None
    return children


def _emit(children: dict[str, dict[str | None, None]], root: str) -> WholeTree:
    """Return the nodes in depth-first order, using an explicit stack for hierarchies deeper than Python's."""
    labels: list[str] = []
    parent: list[int] = []
    stack: list[tuple[str, int, bool]] = [(root, -1, False)]
    while stack:
        label, above, alone = stack.pop()
        node = len(labels)
        labels.append(label)
        parent.append(above)
        beneath = {} if alone else children[label]
        if node > 0 and len(beneath) == 1 and None in beneath:
            continue
        stack.extend((label if child is None else child, node, child is None) for child in reversed(beneath))
    return WholeTree(tuple(labels), tuple(parent))
