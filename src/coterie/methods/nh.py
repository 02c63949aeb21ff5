"""NH: Wong, Mamoulis, Cheung, "Non-homogeneous generalization in privacy preserving data publishing", 2010.

The rows of a part of the table form a ring, similar rows side by side. Published row i has the box of the rows
i, i + 1, …, i + k − 1 of the ring, so the boxes of a part differ and none is wider than the part's own box. Each
original row lies inside k published rows and each published row contains k originals. Which of its k published rows an
original becomes is random: without that, an attacker who knows the method would know.

Guarantee. Take an attacker who knows the quasi-identifiers of all rows, the method, the seed and the published
table. The rows and boxes of a ring, joined where a box was made for a row, are a graph in which each has k edges. It
consists of k edge-disjoint one-to-one assignments, and the assignment used is drawn uniformly from such k.
So each original row is behind each of its k published rows with probability exactly 1/k, and so is each of the k
originals behind a published row. The attacker does learn which k these are, hence the range of the other
columns in these k rows, as from any group of k rows.

Limits. The draws of the rows of a ring depend on each other. Someone who already knows which published row
belongs to a person (say, to himself, by a rare value in another column) learns more about the neighbours in that ring
than from a group of identical rows: with `assignment="rotation"`, or with k = 2, the whole ring; otherwise the
probabilities of near rows shift. Two releases of one table, drawn independently, can be compared and guarantee less
than either. The key of the assignment, or the order of the rows of the original file, reveals everything. The published
rows are not in groups of k equal rows, so a check of the file for such groups fails, and models about groups
(l-diversity, t-closeness, …) do not apply and are refused.

Deviations
    * The greedy partition is like the top-down method of Xu et al. 2006, which is how He et al. 2012 describe
      the paper's. A part is cut around two rows far apart (`tries` times, the cheapest cut is kept; once with
      `preset="paper"`). Rows go to the side where they increase the summed penalty less, the most decided first
      (`compare`, as in `top-down`); a side with too few rows takes the nearest ones. This rule is a conjecture: we
      have not seen the paper's own. The figures of He et al. come out with `compare="enlarge"` (see docs/papers.md).
      `partition` uses the groups of any other method instead, which the paper allows as well.
    * The order within a ring is a walk from each row to the nearest unvisited one, beginning with the row that comes
      first in the table. Equal rows stay together. Ties go to the row that comes first in the table.
    * The k assignments are found by random walks (see `kernels/methods/rings.py`); `assignment="rotation"` takes the k
      rotations of the ring instead, which is faster but reveals more to those who know a row.
    * The assignment does not follow from the seed, which is not secret, but from the operating system's randomness or
      from `key`. The seed alone determines the rings and boxes, and with them every measure.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from coterie.arrays import Int32, Int64
from coterie.errors import ConfigError, Problem
from coterie.grouping.index import build_index
from coterie.methods._method import Method, PaperOptions, Run, all_methods, method
from coterie.methods._sides import COMPARE, Compare, rule_number
from coterie.table.grouping import Grouping
from coterie.table.recoding import Rings
from coterie.table.table import Table

# Above this many distinct rows, scanning all of them at each step of a walk takes longer than building an index.
SCAN_LIMIT = 1024


class NhOptions(PaperOptions):
    """Options of `nh`."""

    secrets: ClassVar[frozenset[str]] = frozenset({"key"})
    published: ClassVar[Mapping[str, Any]] = {"tries": 1}

    partition: str = Field(
        "greedy",
        description="How the table is cut into rings: greedily around rows far apart, or the groups of the method "
        "named here.",
    )
    part_size: int | None = Field(
        None, ge=1, description="Minimum rows of a greedy part, never fewer than k; by default k."
    )
    tries: int = Field(
        4, ge=1, description="Number of tries for each greedy cut, from different rows; the best is kept."
    )
    compare: Compare = COMPARE
    assignment: Literal["matching", "rotation"] = Field(
        "matching",
        description="How rows are assigned: by k random one-to-one assignments, or by "
        "the k rotations of the ring, which "
        "anyone who knows one row of it can undo.",
    )
    key: str | None = Field(
        None,
        min_length=16,
        description="A secret text that reproduces the assignment; random by default. It is never written to a file.",
    )


@method("nh", paper="Wong, Mamoulis, Cheung 2010", recoding="per-row", options=NhOptions)
def nh(table: Table, k: int, options: NhOptions, run: Run) -> Grouping:
    """Publish each row with the box of k neighbours in a ring, in a random one of the k boxes that contain it."""
    from coterie.kernels.methods.rings import ring_boxes

    parts = _parts(table, k, options, run)
    run.checkpoint()
    order, start = _ring_order(table, parts)
    lo, hi = ring_boxes(table.codes, order, start, k)
    run.checkpoint()
    slot_of_row = np.full(table.rows, -1, dtype=np.int32)
    slot_of_row[order] = _slots(start, k, options, run)
    slots = {"slot_of_row": slot_of_row, "slot_lo": lo, "slot_hi": hi}
    return Rings(parts.labels, parts.lo, parts.hi, order=order, start=start, span=k, **slots)


def _parts(table: Table, k: int, options: NhOptions, run: Run) -> Grouping:
    """Return the groups that become rings."""
    from coterie.kernels.methods.nh import greedy_parts

    if options.partition != "greedy":
        return _other_method(options.partition).run(table, k, None, run)
    size = max(k, options.part_size or k)
    draws = run.rng().random((options.tries + 1) * (table.rows // size + 1))
    rule = rule_number(options.compare)
    return Grouping.of(table.codes, greedy_parts(table.costs, table.codes, size, options.tries, rule, draws))


def _other_method(name: str) -> Method:
    """Return the method whose groups become rings; raise a ConfigError if it does not exist."""
    others = {each.name: each for each in all_methods().values() if each.recoding != "per-row"}
    if name not in others:
        text = f"there is no partition {name!r}; there are greedy, {', '.join(others)}"
        raise ConfigError([Problem("options.partition", text)])
    return others[name]


def _ring_order(table: Table, parts: Grouping) -> tuple[Int32, Int64]:
    """Return place → row, ring after ring, and where the rings begin: each a walk from row to nearest row."""
    from coterie.kernels.methods.nh import tours

    distinct = table.distinct
    # Rows by part, and equal rows of a part together: a point. Suppressed rows come first and are left out.
    rows = np.lexsort((distinct.of_row, parts.labels))[np.count_nonzero(parts.suppressed) :].astype(np.int32)
    part, equal = parts.labels[rows], distinct.of_row[rows]
    begins = np.flatnonzero(np.append(True, (np.diff(part) != 0) | (np.diff(equal) != 0))[: len(rows)])
    points = np.ascontiguousarray(distinct.codes[equal[begins]])
    point_start = np.searchsorted(part[begins], np.arange(parts.groups + 1)).astype(np.int64)
    order = tours(table.costs, points, point_start, SCAN_LIMIT)
    for ring in np.flatnonzero(np.diff(point_start) > SCAN_LIMIT):
        first, end = point_start[ring], point_start[ring + 1]
        order[first:end] = first + _long_tour(table, points[first:end])
    counts = np.diff(np.append(begins, len(rows)))[order]
    step = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = np.concatenate([[0], np.cumsum(parts.sizes)]).astype(np.int64)
    return rows[np.repeat(begins[order], counts) + step], start


def _long_tour(table: Table, points: Int32) -> Int32:
    from coterie.kernels.methods.nh import long_tour

    index = build_index(Table(points, table.domains), table.costs)
    tour: Int32 = long_tour(index.nodes, table.costs, points)
    return tour


def _slots(start: Int64, k: int, options: NhOptions, run: Run) -> Int32:
    """Return place → slot of its row."""
    from coterie.kernels.methods.rings import matched_slots

    rng = _secret_rng(options.key, run)
    rings, sizes = len(start) - 1, np.diff(start)
    picks = rng.integers(0, k, size=rings)
    if options.assignment == "rotation":
        back = np.repeat(picks, sizes)
    else:
        back = matched_slots(start, k, picks, rng.integers(0, 2**64, size=rings, dtype=np.uint64))
    first = np.repeat(start[:-1], sizes)
    slots: Int32 = (first + (np.arange(start[-1]) - first - back) % np.repeat(sizes, sizes)).astype(np.int32)
    return slots


def _secret_rng(key: str | None, run: Run) -> np.random.Generator:
    """Return randomness that cannot be repeated without the key; blocks of a table draw separately."""
    block = "" if isinstance(run.seed, int) else ":".join(map(str, ("", *run.seed[1:])))
    seed = secrets.token_bytes(32) if key is None else hashlib.sha256((key + block).encode()).digest()
    return np.random.default_rng(int.from_bytes(seed, "big"))
