"""Bins of a column, and the distribution of its cells over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Float64
from coterie.evaluation.cells import Cells, Predicate, Span, codes_predicate, is_whole, present_numbers, span_predicate
from coterie.values.axis import axis_of
from coterie.values.notation import value_texts
from coterie.values.scalars import float_text

if TYPE_CHECKING:
    from coterie.table.domain import Domain

MISSING = "(missing)"
OTHER = "(other)"


@dataclass(frozen=True, eq=False)
class Bins:
    """A partition of a column's values."""

    predicates: tuple[Predicate, ...]
    """bin → the condition that a value lies in it"""
    labels: tuple[str, ...]
    """bin → its name, which may be a value of the table"""
    edges: tuple[float, ...] | None = None
    """numbers: where bins begin, and where the last one ends, as numbers; None for dates and categories"""

    def spread(self, cells: Cells) -> Float64:
        """Return [cell, bin] probabilities that a value of the cell lies in the bin."""
        found = np.zeros((cells.count, len(self.predicates)))
        for at, predicate in enumerate(self.predicates):
            found[:, at] = cells.share(predicate)
        return found

    def mass(self, cells: Cells) -> Float64:
        """Return bin → expected number of rows."""
        rows = cells.rows.astype(np.float64)
        return np.asarray([float(cells.share(predicate) @ rows) for predicate in self.predicates])


def bins_of(domain: Domain, *, most: int, before: Cells | None = None) -> Bins:
    """Return the bins of a column: its values, or ranges of numbers of equal width.

    Args:
        domain: The column.
        most: The maximum number, not counting missing. A hierarchy is cut where it has no more labels; without one
            (or if even its top level has more), rare values share one bin.
        before: The original, which shows which values are rare; without it, the last ones are.
    """
    predicates, labels, edges = _ranges(domain, most) if domain.kind == "number" else _groups(domain, most, before)
    if domain.missing >= 0:
        missing = codes_predicate(domain, [domain.missing])
        predicates.append(replace(missing, spans=() if domain.kind == "number" else None))
        labels.append(MISSING)
    return Bins(tuple(predicates), tuple(labels), edges)


def _ranges(domain: Domain, most: int) -> tuple[list[Predicate], list[str], tuple[float, ...] | None]:
    numbers = present_numbers(domain)
    if len(numbers) == 0:
        return [], [], None
    top, axis = float(numbers[-1]), axis_of(domain)
    if is_whole(domain):
        # Bins of whole numbers have whole widths; the last one may reach beyond the largest value.
        width = max(int(np.ceil((top + 1.0) / most)), 1)
        starts = np.arange(0.0, top + 1.0, width)
        spans = [Span(start, start + width - 1.0) for start in starts.tolist()]
        ends = np.append(starts, starts[-1] + width)
    else:
        ends = np.linspace(0.0, top, (most if top > 0.0 else 1) + 1)
        pairs = list(pairwise(ends.tolist()))
        spans = [Span(low, high, high_open=at < len(pairs) - 1) for at, (low, high) in enumerate(pairs)]
    predicates = [span_predicate(domain, [span]) for span in spans]
    if domain.order:
        first = int(axis.lowest)
        ranges = [domain.order[first + int(span.low) : first + int(span.high) + 1] for span in spans]
        return predicates, [each[0] if len(each) == 1 else f"{each[0]} – {each[-1]}" for each in ranges], None
    if axis.temporal:
        texts = value_texts(domain).to_pylist()
        held = [np.flatnonzero(predicate.mask) for predicate in predicates]
        labels = [f"{texts[codes[0]]} …" if len(codes) else "…" for codes in held]
        return predicates, labels, None
    base = float(axis.lowest)
    ends = ends + base
    whole = is_whole(domain)
    write = float_text if whole else "{:.6g}".format
    labels = [
        write(low) if whole and high - low == 1.0 else f"{write(low)} – {write(high - float(whole))}"
        for low, high in pairwise(ends.tolist())
    ]
    return predicates, labels, tuple(ends.tolist())


def _groups(
    domain: Domain, most: int, before: Cells | None
) -> tuple[list[Predicate], list[str], tuple[float, ...] | None]:
    """Return single values if there are few; else the deepest level with few labels; else the frequent values."""
    texts = value_texts(domain).to_pylist()
    present = domain.size - (domain.missing >= 0)
    if present <= most:
        masks = [codes_predicate(domain, [code]) for code in range(present)]
        return masks, [str(text) for text in texts[:present]], None
    tree = domain.tree
    assert tree is not None
    for depth in range(int(tree.depth.max()) - 1, 0, -1):
        nodes = tree.ancestor_at(depth)[:present]
        if domain.labelled and len(found := np.unique(nodes)) <= most:
            masks = [codes_predicate(domain, np.flatnonzero(nodes == node)) for node in found]
            return masks, [tree.labels[node] for node in found], None
    rows = np.zeros(present) if before is None else before.rows[:present]
    order = np.argsort(-rows, kind="stable")
    frequent, rare = np.sort(order[: most - 1]), np.sort(order[most - 1 :])
    masks = [*(codes_predicate(domain, [code]) for code in frequent), codes_predicate(domain, rare)]
    return masks, [*(str(texts[code]) for code in frequent), OTHER], None
