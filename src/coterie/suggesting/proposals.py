"""Propose hierarchies for the categories that will lose most, with the loss that each saves, measured on a sample.

Categories without a hierarchy lose everything as soon as two values are merged. Codes get prefixes. Other categories
get a tree learned from the data: values that occur together with similar values of the other quasi-identifiers are
merged first. Numbers get nothing: they are published as tight ranges anyway, and bands only lose more.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.errors import CoterieError, HierarchyError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.hierarchies.spec import scalar_text
from coterie.settings.threshold import DEFAULT_K

if TYPE_CHECKING:
    from coterie.arrays import Float64, Int64
    from coterie.suggesting.suggest import Guess

SAMPLE = 2_000
"""rows that are grouped to measure the loss"""
ENOUGH_ROWS = 100
"""with fewer rows the loss is not representative"""
MOST_COLUMNS = 4
FEWEST_VALUES = 5
"""with fewer values there is little to merge"""
MOST_VALUES = 200
"""with more values a person could not review a learned tree"""
WORTHWHILE = 0.97
"""a proposal has to lower the loss at least to this share"""
_BINS = 8
_CODE = r"^[A-Za-z]{0,3}-?[0-9][0-9A-Za-z.\-]*$"


class Proposal(NamedTuple):
    """A hierarchy for one column, and the information loss (GCP) of a sample without and with it."""

    column: str
    what: str
    hierarchy: Hierarchy
    before: float
    after: float
    rows: int
    k: int

    @property
    def rule(self) -> object:
        """The hierarchy as a setting if it contains no data values, otherwise None."""
        return None if self.hierarchy.tree is not None else self.hierarchy.spec


def smallest_group(people: int) -> int:
    """Return a k that suits a table of this many people: the default, less for small tables."""
    return max(2, min(DEFAULT_K, people // 5))


def people_in(guesses: Sequence[Guess], rows: int) -> int:
    """Return the number of people in a table: its rows, unless a column numbers people."""
    return next((guess.distinct for guess in guesses if guess.entity), rows)


def propose(table: pa.Table, guesses: Sequence[Guess]) -> list[Proposal]:
    """Return the hierarchies that would save most, at most one per column."""
    k = smallest_group(people_in(guesses, table.num_rows))
    quasi = [guess for guess in guesses if guess.role == "quasi"]
    flat = [guess for guess in quasi if _is_flat(guess)]
    sample = table.take(np.arange(0, table.num_rows, -(-table.num_rows // SAMPLE))) if table.num_rows else table
    if not flat or sample.num_rows < ENOUGH_ROWS or len(quasi) < 2:
        return []
    chosen: dict[str, Hierarchy] = {}
    found: list[Proposal] = []
    try:
        before, lost = _loss(sample, quasi, chosen, k)
    except CoterieError:  # a run reports what is wrong; until then there is nothing to propose
        return []
    for guess in sorted(flat, key=lambda guess: -lost[guess.name])[:MOST_COLUMNS]:
        tries = []
        for what, hierarchy in _candidates(sample, table.column(guess.name), guess.name, [each.name for each in quasi]):
            with suppress(CoterieError):  # values that the rule does not fit
                after, _ = _loss(sample, quasi, {**chosen, guess.name: hierarchy}, k)
                tries.append(Proposal(guess.name, what, hierarchy, before, after, sample.num_rows, k))
        best = min(tries, key=lambda each: each.after, default=None)
        if best is not None and best.after <= WORTHWHILE * before:
            # The next proposal is measured together with the earlier ones.
            chosen[guess.name], before = best.hierarchy, best.after
            found.append(best)
    return found


def _is_flat(guess: Guess) -> bool:
    category = not guess.number or guess.type == "category"
    return guess.hierarchy is None and category and guess.distinct >= FEWEST_VALUES


def _loss(
    sample: pa.Table, quasi: Sequence[Guess], hierarchies: dict[str, Hierarchy], k: int
) -> tuple[float, dict[str, float]]:
    """Group a sample quickly, and return its loss and that of each column."""
    from coterie.engines.memory.run import make_release
    from coterie.engines.memory.source import prepare
    from coterie.engines.steps import start_run
    from coterie.settings.config import Config

    guessed: dict[str, Any] = {guess.name: guess.hierarchy for guess in quasi if guess.hierarchy is not None}
    config = Config(
        quasi=[guess.name for guess in quasi],
        types={guess.name: guess.type for guess in quasi if guess.type is not None},
        hierarchies=guessed | hierarchies,
        method="mondrian",
        k=k,
        threads=1,
    )
    prepared = prepare(sample.select(list(config.quasi)), config)
    measures = make_release(prepared, config, start_run(config, None, None)).measures
    return measures["gcp"], {name: each.ncp for name, each in measures.attributes.items()}


def _candidates(
    sample: pa.Table, column: pa.ChunkedArray, name: str, quasi: Sequence[str]
) -> list[tuple[str, Hierarchy]]:
    values = pc.drop_null(pc.unique(column))
    found = []
    texts = values.cast(pa.string())
    lengths = pc.utf8_length(texts)
    if pc.all(pc.match_substring_regex(texts, _CODE)).as_py() and pc.min(lengths).as_py() > 1:
        found.append(("prefixes", Hierarchy.prefixes()))
    if len(values) <= MOST_VALUES:
        with suppress(HierarchyError):  # values that cannot be labels: blank ones, or the label of the root
            found.append(("a tree learned from the data", _learned(sample, values, name, quasi)))
    return found


def _learned(sample: pa.Table, values: pa.Array, name: str, quasi: Sequence[str]) -> Hierarchy:
    """Return a tree over all values of a column. Values that the sample does not have are joined last."""
    labels = [scalar_text(value) or "" for value in values.to_pylist()]
    place = (
        pc.index_in(sample.column(name).combine_chunks(), value_set=values).fill_null(-1).to_numpy(zero_copy_only=False)
    )
    rows = place >= 0
    parts = []
    for other in quasi:
        if other != name:
            bins = _bins(sample.column(other))
            counts = np.bincount(place[rows] * _BINS + bins[rows], minlength=len(labels) * _BINS)
            parts.append(counts.reshape(len(labels), _BINS).astype(np.float64))
    sizes = np.bincount(place[rows], minlength=len(labels)).astype(np.float64)
    # Hellinger's distance: square roots of shares, so that rare values of the other column count as well.
    shape = np.hstack([np.sqrt(part / np.maximum(sizes, 1)[:, None]) for part in parts])
    return Hierarchy.from_mapping(_joined(labels, sizes, shape))


def _bins(column: pa.ChunkedArray) -> Int64:
    """Return each row's bin: numbers by quantiles, the most frequent categories each by itself, the rest together."""
    try:
        numbers = column.cast(pa.float64()).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        codes = column.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False) + 1
        often = np.argsort(-np.bincount(codes), kind="stable")
        return np.asarray(np.minimum(np.argsort(often, kind="stable"), _BINS - 1)[codes])
    ends = np.nanquantile(numbers, np.arange(1, _BINS - 1) / (_BINS - 1)) if np.isfinite(numbers).any() else np.zeros(1)
    # One bin is for missing cells.
    return np.where(np.isnan(numbers), _BINS - 1, np.searchsorted(ends, numbers)).astype(np.int64)


def _joined(labels: Sequence[str], sizes: Float64, shape: Float64) -> list[object]:
    """Join the two nearest groups of values until two are left (Ward): a nested mapping, named by the largest value."""
    trees: list[object] = list(labels)
    members = [[at] for at in range(len(labels))]
    weight = np.maximum(sizes, 0.5)
    centre, mass = shape.copy(), weight.copy()
    while len(trees) > 2:
        distance = ((centre[:, None, :] - centre[None, :, :]) ** 2).sum(axis=2)
        distance *= mass[:, None] * mass[None, :] / (mass[:, None] + mass[None, :])
        np.fill_diagonal(distance, np.inf)
        one, two = sorted(divmod(int(distance.argmin()), len(trees)))
        joined = members[one] + members[two]
        largest = max(joined, key=lambda at: (sizes[at], -at))
        label = f"{labels[largest]} and {len(joined) - 1} more"
        trees[one] = {label: [trees[one], trees[two]]}
        centre[one] = (centre[one] * mass[one] + centre[two] * mass[two]) / (mass[one] + mass[two])
        mass[one], members[one] = mass[one] + mass[two], joined
        del trees[two], members[two]
        centre, mass = np.delete(centre, two, axis=0), np.delete(mass, two)
    return trees
