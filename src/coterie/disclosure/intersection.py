"""Several releases of the same people, attacked by somebody who has all of them (Ganta, Kasiviswanathan, Smith 2008).

A person's candidates in a release are the rows that fit what is known of the person. The person's rows in two releases
have the same values in the columns that both publish unchanged; so a candidate whose values no candidate of another
release has is ruled out. One row may remain, or rows that share one sensitive value, although each release alone
satisfies its guarantees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int64
from coterie.disclosure.link import Link, Pairs, link_tables
from coterie.errors import ConfigError, Problem
from coterie.values.codes import Codes, column_codes, first_rows, row_classes
from coterie.values.notation import columns_of

if TYPE_CHECKING:
    from coterie.settings.config import Config

# The number of (person, value) pairs in memory at once.
HELD = 2**22


class Intersection(NamedTuple):
    """What several releases reveal together. People are those who have candidates in more than one of them."""

    releases: int
    compared: tuple[str, ...]
    """columns that all of them publish unchanged"""
    people: int
    k: int
    below_alone: int
    """people with fewer than k candidates in some release by itself"""
    below: int
    """people with fewer than k candidates once the others have ruled some out"""
    pinned: int
    """people with one candidate left"""
    fewest: int
    """candidates that are left of the person who has fewest"""
    known: Mapping[str, int]
    """sensitive column → people of whom one value is left"""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON can hold them."""
        return self._asdict() | {"compared": list(self.compared), "known": dict(self.known)}

    @property
    def text(self) -> str:
        """The figures in a sentence."""
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        known = "".join(f"; of {many:,} one value of {column} is left" for column, many in self.known.items())
        return (
            f"{self.releases} releases together: of {people} with candidates in several, {self.below:,} have fewer "
            f"than {self.k:,} left ({self.below_alone:,} by one release alone), {self.pinned:,} only one{known}"
        )


class _Values(NamedTuple):
    """Class of known people → which values its candidates have, and how many rows each."""

    starts: Int64
    values: Int64
    rows: Int64

    def of(self, classes: Int64) -> tuple[Int64, Int64, Int64]:
        """Place in `classes`, value and rows, for all values of some classes."""
        lengths = self.starts[classes + 1] - self.starts[classes]
        place = np.repeat(np.arange(len(classes)), lengths)
        at = np.arange(len(place)) - np.repeat(np.cumsum(lengths) - lengths - self.starts[classes], lengths)
        return place, self.values[at], self.rows[at]


def intersect(
    releases: Sequence[pa.Table], known: pa.Table, *, on: Sequence[str], config: Config, sensitive: Sequence[str] = ()
) -> Intersection:
    """Rule out candidates of known people by what several releases say.

    Args:
        releases: At least two releases.
        known: The people, with what is known of them.
        on: Quasi-identifiers that are known; a release need not have all of them.
        config: Hierarchies, types and forms of publishing; and k.
        sensitive: The columns that the attacker wants to learn.
    """
    columns = [
        [name for name in on if set(columns_of(name, each.column_names)) <= set(each.column_names)] for each in releases
    ]
    if not all(columns):
        text = "a release has none of the columns that are known; name others, by on"
        raise ConfigError([Problem("also", text)])
    shared = _shared(releases, config.quasi)
    value_of_row, first, count = _values(releases, shared)
    links = [link_tables(each, known, on=names, config=config) for each, names in zip(releases, columns, strict=True)]
    parts = np.split(value_of_row, np.cumsum([each.num_rows for each in releases])[:-1])
    held = [_candidates(link, values, count) for link, values in zip(links, parts, strict=True)]
    people, often = np.unique(np.column_stack([link.second.class_of_row for link in links]), axis=0, return_counts=True)
    learnt = {name: _codes(releases, name).codes[first] for name in sensitive if name in shared}
    left = [_left(people[start:end], held, learnt) for start, end in _pieces(people, held)]
    matched, alone, together = (np.concatenate([each[at] for each in left]) for at in range(3))
    weight, few = np.where(matched, often, 0), np.where(matched, together, 0)
    return Intersection(
        releases=len(releases),
        compared=tuple(shared),
        people=int(weight.sum()),
        k=config.k,
        below_alone=int(weight[alone < config.k].sum()),
        below=int(weight[few < config.k].sum()),
        pinned=int(weight[few == 1].sum()),
        fewest=int(few[matched].min()) if matched.any() else 0,
        known={name: int(weight[np.concatenate([each[3][name] for each in left])].sum()) for name in learnt},
    )


def _shared(releases: Sequence[pa.Table], quasi: Sequence[str]) -> list[str]:
    """Return the columns that all releases publish unchanged."""
    recoded = {column for each in releases for name in quasi for column in columns_of(name, each.column_names)}
    common = set.intersection(*(set(each.column_names) for each in releases))
    return [name for name in releases[0].column_names if name in common and name not in recoded]


def _codes(releases: Sequence[pa.Table], name: str) -> Codes:
    texts = [chunk for each in releases for chunk in each.column(name).cast(pa.string()).chunks]
    return column_codes(pa.chunked_array(texts, pa.string()), name=name)


def _values(releases: Sequence[pa.Table], shared: Sequence[str]) -> tuple[Int64, Int64, int]:
    """Return row of all releases → its shared values as a number, the first row of each, and their count."""
    if not shared:
        rows = sum(each.num_rows for each in releases)
        return np.zeros(rows, dtype=np.int64), np.zeros(1, dtype=np.int64), 1
    codes = [_codes(releases, name) for name in shared]
    of_row, count = row_classes(codes)
    return of_row, first_rows(of_row, count), count


def _candidates(link: Link, value_of_row: Int64, count: int) -> _Values:
    """Class of known people → the values of its candidates."""
    published = _Values(*link.first.histogram(value_of_row, count))
    keys, weights = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for part in link.pairs():
        for of_class, met in _some(part, published):
            place, value, often = published.of(met)
            found, at = np.unique(of_class[place] * count + value, return_inverse=True)
            keys.append(found)
            weights.append(np.bincount(at, weights=often, minlength=len(found)).astype(np.int64))
    # Classes come in order, so that keys ascend.
    every = np.concatenate(keys)
    starts = np.searchsorted(every // count, np.arange(link.second.classes + 1))
    return _Values(starts, every % count, np.concatenate(weights))


def _some(part: Pairs, published: _Values) -> list[tuple[Int64, Int64]]:
    """Pairs of an asking class and one that it meets, cut between asking classes: few values are held at once."""
    met = part.met.astype(np.int64)
    of_class = np.repeat(np.arange(part.start, part.start + len(part.found)), part.found)
    sums = np.concatenate([[0], np.cumsum(published.starts[met + 1] - published.starts[met])])
    ends = np.concatenate([[0], np.cumsum(part.found)])
    cuts = pairwise(_cuts(sums[ends]))
    return [(of_class[ends[a] : ends[b]], met[ends[a] : ends[b]]) for a, b in cuts]


def _cuts(sums: Int64) -> list[int]:
    """Return where to cut these sums so that no piece is much larger than what fits in memory."""
    cuts = [0]
    while cuts[-1] < len(sums) - 1:
        fitting = int(np.searchsorted(sums, sums[cuts[-1]] + HELD, side="right")) - 1
        cuts.append(max(cuts[-1] + 1, fitting))
    return cuts


def _pieces(people: Int64, held: Sequence[_Values]) -> list[tuple[int, int]]:
    lengths = sum(each.starts[people[:, at] + 1] - each.starts[people[:, at]] for at, each in enumerate(held))
    cuts = _cuts(np.concatenate([[0], np.cumsum(lengths)]))
    return list(pairwise(cuts)) or [(0, 0)]


def _left(
    people: Int64, held: Sequence[_Values], learnt: Mapping[str, Int64]
) -> tuple[Bool, Int64, Int64, dict[str, Bool]]:
    """Of some people: whether releases can be compared, the fewest candidates alone and together, what is learnt."""
    count = len(people)
    expanded = [each.of(people[:, at]) for at, each in enumerate(held)]
    width = max((int(values.max(initial=0)) for _, values, _ in expanded), default=0) + 1
    keys = [place * width + values for place, values, _ in expanded]
    every, times = np.unique(np.concatenate(keys), return_counts=True)
    asked = np.array([np.bincount(place, minlength=count) > 0 for place, _, _ in expanded])
    common = every[times == asked.sum(axis=0)[every // width]]
    most = np.iinfo(np.int64).max
    alone = np.full(count, most)
    together = np.full(count, most)
    for (place, _, rows), key, met in zip(expanded, keys, asked, strict=True):
        inside = np.isin(key, common, assume_unique=True)
        own = np.bincount(place, weights=rows, minlength=count).astype(np.int64)
        left = np.bincount(place[inside], weights=rows[inside], minlength=count).astype(np.int64)
        np.minimum(alone, own, out=alone, where=met)
        np.minimum(together, left, out=together, where=met)
    # Without a common candidate, the person is not in all of these releases, which cannot be compared then.
    matched = (asked.sum(axis=0) > 1) & (together > 0)
    known = {}
    for name, codes in learnt.items():
        pairs = np.unique((common // width) * (int(codes.max(initial=0)) + 1) + codes[common % width])
        values = np.bincount(pairs // (int(codes.max(initial=0)) + 1), minlength=count)
        known[name] = values == 1
    return matched, alone, together, known
