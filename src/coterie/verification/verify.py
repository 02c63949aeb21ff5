"""Verify a release from its published table alone.

This package does not know how a release was made: it takes the published cells, puts rows with equal
quasi-identifiers into classes, counts (`arrow`, and its counterparts for other engines), and lets the `judge` decide. A
missing cell is a value like any other, so rows with missing cells are in a class and count; a verifier that ignores
them reports too large a k.

Guarantees beyond k-anonymity are checked in `models`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import VerificationError
from coterie.values.notation import published_names
from coterie.verification.arrow import ArrowCounter
from coterie.verification.counts import Counter, PeopleCounts, SizeCounts
from coterie.verification.judge import judge_counts
from coterie.wording import Tabular, visible

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.verification.cells import TableCells
    from coterie.verification.models import Measured


class Check(NamedTuple):
    """One guarantee and whether it holds."""

    name: str
    wanted: float
    found: float
    passed: bool
    text: str
    """one sentence without cell values"""
    worst: int = -1
    """the worst class, if known"""
    size: int = 0
    """rows of the worst class"""


@dataclass(frozen=True)
class Verification(Tabular):
    """What the published table guarantees, and whether it meets the request."""

    rows: int
    groups: int
    k: int
    """rows in the smallest class; 0 for a table without rows"""
    largest: int
    average: float
    wanted: int | None
    """the requested k"""
    rows_below: int
    """rows in classes smaller than the requested k"""
    classes_below: int
    missing_cells: int
    """missing quasi-identifier cells; missing counts as a separate value"""
    suppressed: int
    """rows whose quasi-identifiers are all `*`"""
    quasi: tuple[str, ...]
    checks: tuple[Check, ...]
    class_of_row: Int64 = field(repr=False, compare=False)
    """row → class, numbered by first row"""
    sizes: Int64 = field(repr=False, compare=False)
    """class → number of rows"""
    measured: tuple[Measured, ...] = ()
    """the models' values for the sensitive attributes, guaranteed or not"""

    @property
    def passed(self) -> bool:
        """Whether every check passed (true if nothing was requested)."""
        return all(check.passed for check in self.checks)

    @property
    def smallest(self) -> int:
        """The number of rows in the smallest class: another name for `k`."""
        return self.k

    def records(self) -> list[dict[str, Any]]:
        """Return one row per check: the requirement, the finding, and a sentence about it."""
        return [
            {"check": each.name, "passed": each.passed, "wanted": each.wanted, "found": each.found, "text": each.text}
            for each in self.checks
        ]

    def raise_for_failure(self) -> None:
        """Raise a VerificationError that lists the guarantees that do not hold."""
        failed = [check.text for check in self.checks if not check.passed]
        if failed:
            raise VerificationError("The published table does not satisfy its guarantee: " + " ".join(failed))

    def __str__(self) -> str:
        lines = [
            f"{self.rows:,} rows in {self.groups:,} groups by {', '.join(self.quasi)}",
            f"group sizes: smallest {self.k:,}, average {self.average:,.1f}, largest {self.largest:,}",
            f"missing cells: {self.missing_cells:,} · suppressed rows: {self.suppressed:,}",
        ]
        lines += [f"{'passed' if check.passed else 'FAILED'}: {check.text}" for check in self.checks]
        return visible("\n".join(lines))


def verify_table(
    published: pa.Table,
    *,
    quasi: Sequence[str],
    k: int | None = None,
    roots: Mapping[str, str] | None = None,
    config: Config | None = None,
    measured: bool = False,
    people: pa.ChunkedArray | None = None,
    read: TableCells | None = None,
) -> Verification:
    """Count the equivalence classes of a published table and check its guarantees.

    Args:
        published: The table as published. Only its cells count.
        quasi: The quasi-identifiers. A name that is absent but occurs as `<name>_min` and `<name>_max` means those two.
        k: The required class size, if any.
        roots: Column → the text of a suppressed cell if that is not `*` (the root label of a hierarchy).
        config: The guarantees beyond k, if any.
        measured: Also measure its sensitive attributes, whatever is guaranteed.
        people: Row → person, if k counts people.
        read: The table's cells, if others read them as well.
    """
    if isinstance(quasi, str):
        quasi = [quasi]
    names = published_names(published.column_names, quasi, k)
    counter = ArrowCounter(published, names, roots or {}, who=people, known_cells=read)
    made, *_ = verify_counts(counter, config, quasi=quasi, names=published.column_names, k=k, measured=measured)
    return replace(made, class_of_row=counter.of_row, sizes=counter.rows)


def verify_counts(
    counter: Counter,
    config: Config | None,
    *,
    quasi: Sequence[str],
    names: Sequence[str],
    k: int | None,
    measured: bool = False,
) -> tuple[Verification, SizeCounts, PeopleCounts | None]:
    """Verify a published table with these columns from an engine's counts, and return them as well.

    Other arguments as for `verify_table`.
    """
    counts, people = counter.sizes(), counter.people()
    found: tuple[Measured, ...] = ()
    checks = [] if k is None else [k_check(k, counts)]
    if config is not None:
        from coterie.verification.models import checks_beyond_k, measure_columns

        checks += checks_beyond_k(counter, config, people, names)
        found = measure_columns(counter, config, config.sensitive, names=names) if measured else ()
    every, below = counts.kept(0), counts.below(k or 0)
    rows = int((counts.rows * counts.classes).sum())
    made = Verification(
        rows=rows,
        groups=every.groups,
        k=every.smallest,
        largest=every.largest,
        average=rows / every.groups if every.groups else 0.0,
        wanted=k,
        rows_below=below[0],
        classes_below=below[1],
        missing_cells=int(counts.missing.sum()),
        suppressed=counts.blank_rows if counts.marked else 0,
        quasi=tuple(quasi),
        checks=tuple(checks),
        class_of_row=np.zeros(0, dtype=np.int64),
        sizes=np.zeros(0, dtype=np.int64),
        measured=found,
    )
    return made, counts, people


def k_check(k: int, counts: SizeCounts) -> Check:
    """Return the check of k-anonymity."""
    if not len(counts.rows):
        return Check("k-anonymity", k, 0, True, "The table has no rows, so nobody is exposed.")
    found = judge_counts(k, counts.rows, counts.rows, classes=counts.classes)
    text = f"Every row shares its quasi-identifiers with at least {k - 1:,} others."
    if found.failing:
        text = (
            f"{k}-anonymity is wanted, but {found.rows:,} rows are in {found.failing:,} groups of fewer "
            f"than {k} rows; the smallest has {found.size:,}."
        )
    least = min(found.size, k)
    return Check("k-anonymity", k, least, not found.failing, text, found.worst, least)
