"""Two releases of the same people, considered together.

Each release hides a person among its class. Someone who has both, and knows the person's class in each,
is left with the people in both classes: each release rules out candidates of the other. Two
releases of k each may thus leave a single candidate.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import ConfigError, CoterieWarning, DataError, Problem, VerificationError
from coterie.values.codes import column_codes

if TYPE_CHECKING:
    from coterie.releases.release import Release


@dataclass(frozen=True)
class Joint:
    """What two releases leave of each other's guarantee."""

    people: int
    """people in both releases"""
    k: int
    """the fewest candidates of a person when both are known; 0 if they share no people"""
    wanted: int
    below: int
    """people with fewer candidates than required"""
    pinned: int
    """people with a single candidate: themselves"""
    average: float
    candidates: Int64 = field(repr=False, compare=False)
    """person → remaining candidates, in the order of the first release"""

    @property
    def passed(self) -> bool:
        """Whether together they still satisfy the required k."""
        return self.below == 0

    @property
    def text(self) -> str:
        """One sentence about the result."""
        if self.passed:
            return f"Both releases together still hide each of {self.people:,} people among at least {self.k:,}."
        return (
            f"Together the two releases break {self.wanted}-anonymity: {self.below:,} of {self.people:,} people have "
            f"fewer than {self.wanted} candidates, {self.pinned:,} of them only one."
        )

    def raise_for_failure(self) -> None:
        """Raise a VerificationError if together they violate the guarantee."""
        if not self.passed:
            raise VerificationError(self.text)


def check_joint(first: Release, second: Release, *, on: str | None = None, k: int | None = None) -> Joint:
    """Check what two releases of the same people disclose together; warn if that leaves fewer than k candidates.

    Args:
        first: A release.
        second: Another one, made from the same people at another time or with other columns.
        on: The column of both originals that identifies people. Without it, both have the same rows in the same order.
        k: The required number of candidates; by default the smaller k of the two.

    Raises:
        ConfigError: An original lacks the column.
        DataError: Without a column, the originals differ in their number of rows.
    """
    if first.by_rows or second.by_rows:
        text = "rows that are published one by one are hidden in no group; compare releases of other methods"
        raise ConfigError([Problem("method", text)])
    wanted = min(first.config.k, second.config.k) if k is None else k
    one, two = _classes_of_people(first, second, on)
    both = np.flatnonzero((one >= 0) & (two >= 0))
    pairs = one[both] * (int(two.max(initial=0)) + 1) + two[both]
    _, pair_of, sizes = np.unique(pairs, return_inverse=True, return_counts=True)
    candidates = sizes[pair_of].astype(np.int64)
    found = Joint(
        people=len(both),
        k=int(candidates.min()) if len(both) else 0,
        wanted=wanted,
        below=int(np.count_nonzero(candidates < wanted)),
        pinned=int(np.count_nonzero(candidates == 1)),
        average=float(candidates.mean()) if len(both) else 0.0,
        candidates=candidates,
    )
    if not found.passed:
        warnings.warn(found.text, CoterieWarning, stacklevel=2)
    return found


def _classes_of_people(first: Release, second: Release, on: str | None) -> tuple[Int64, Int64]:
    """Return person → class in each release; −1 if it has no row of that person, or has removed it."""
    releases = first, second
    tables = [release.source.table for release in releases]
    if on is None:
        counts = [table.num_rows for table in tables]
        if counts[0] != counts[1]:
            raise DataError(
                f"The releases come from {counts[0]:,} and {counts[1]:,} rows, so row numbers do not identify people.",
                hint="Name the column that identifies people: on=….",
            )
        return _classes_of_rows(first), _classes_of_rows(second)
    absent = [place for place, table in zip(("first", "second"), tables, strict=True) if on not in table.column_names]
    if absent:
        raise ConfigError([Problem("on", f"the {place} original has no column {on!r}") for place in absent])
    columns = [table.column(on).cast(pa.string()) for table in tables]
    codes = column_codes(pa.chunked_array([chunk for column in columns for chunk in column.chunks]), name=on)
    parts = codes.codes[: tables[0].num_rows], codes.codes[tables[0].num_rows :]
    found = []
    for release, people in zip(releases, parts, strict=True):
        _refuse_repeated(people, codes.missing, on)
        classes = np.full(codes.size, -1, dtype=np.int64)
        classes[people] = _classes_of_rows(release)
        if codes.missing >= 0:
            classes[codes.missing] = -1
        found.append(classes)
    return found[0], found[1]


def _refuse_repeated(people: Int64, missing: int, on: str) -> None:
    known = people[people != missing]
    repeated = len(known) - len(np.unique(known))
    if repeated:
        raise DataError(
            f"Column {on!r} has people more than once: {repeated:,} rows are further rows of somebody.",
            column=on,
            rows=repeated,
            hint="Compare releases with one row per person.",
        )


def _classes_of_rows(release: Release) -> Int64:
    """Return row of the original → class of equal published rows, −1 if it was removed."""
    classes = np.full(release.source.table.num_rows, -1, dtype=np.int64)
    classes[release.published.kept] = release.verification.class_of_row
    return classes
