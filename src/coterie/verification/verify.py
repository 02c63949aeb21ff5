"""Verify a release from its published table alone.

Whatever a method did, this module does not know it: it takes the published cells, puts rows with equal
quasi-identifiers into classes, and counts. A missing cell is a value like any other, so rows with missing cells are
in a class and count; a verifier that leaves them out reports a larger k than there is.

Privacy models beyond k-anonymity are added as rules (`models`): a rule is given the classes and returns checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Int64
from coterie.errors import ConfigError, Problem, VerificationError
from coterie.values.codes import Codes, column_codes, row_classes

if TYPE_CHECKING:
    from coterie.verification.models import Measured

ROOT = "*"


class Check(NamedTuple):
    """One promise and whether it is kept."""

    name: str
    wanted: float
    found: float
    passed: bool
    text: str
    """one sentence for a person, without any cell value"""
    worst: int = -1
    """the class that is worst, if the check knows it"""
    size: int = 0
    """rows of the worst class"""


@dataclass(frozen=True, eq=False)
class Classes:
    """What a rule is given: the published table and its equivalence classes."""

    table: pa.Table
    quasi: tuple[str, ...]
    of_row: Int64
    """row → class, numbered in the order of their first rows"""
    sizes: Int64
    """class → number of rows"""


Rule: TypeAlias = Callable[[Classes], "Check | list[Check]"]


@dataclass(frozen=True)
class Verification:
    """What the published table promises, and whether that is what was wanted."""

    rows: int
    groups: int
    k: int
    """rows in the smallest class; 0 for a table without rows"""
    largest: int
    average: float
    wanted: int | None
    """the k that was asked for"""
    rows_below: int
    """rows in classes smaller than the wanted k"""
    classes_below: int
    missing_cells: int
    """quasi-identifier cells that are missing; missing counts as a value of its own"""
    suppressed: int
    """rows whose quasi-identifiers are all `*`"""
    quasi: tuple[str, ...]
    checks: tuple[Check, ...]
    class_of_row: Int64 = field(repr=False, compare=False)
    """row → class, numbered in the order of their first rows"""
    sizes: Int64 = field(repr=False, compare=False)
    """class → number of rows"""
    measured: tuple[Measured, ...] = ()
    """what the models would find in the sensitive columns, promised or not"""

    @property
    def passed(self) -> bool:
        """Whether every check passed (also when nothing was asked for)."""
        return all(check.passed for check in self.checks)

    @property
    def smallest(self) -> int:
        """Rows in the smallest class: another name for `k`."""
        return self.k

    def raise_for_failure(self) -> None:
        """Raise a VerificationError that names the promises which are not kept."""
        failed = [check.text for check in self.checks if not check.passed]
        if failed:
            raise VerificationError("The published table does not keep its promise: " + " ".join(failed))

    def __str__(self) -> str:
        lines = [
            f"{self.rows:,} rows in {self.groups:,} groups by {', '.join(self.quasi)}",
            f"group sizes: smallest {self.k:,}, average {self.average:,.1f}, largest {self.largest:,}",
            f"missing cells: {self.missing_cells:,} · suppressed rows: {self.suppressed:,}",
        ]
        lines += [f"{'passed' if check.passed else 'FAILED'}: {check.text}" for check in self.checks]
        return "\n".join(lines)


def verify_table(
    published: pa.Table,
    *,
    quasi: Sequence[str],
    k: int | None = None,
    roots: Mapping[str, str] | None = None,
    rules: Sequence[Rule] = (),
    measure: Callable[[Classes], tuple[Measured, ...]] | None = None,
) -> Verification:
    """Count the equivalence classes of a published table and check what it promises.

    Args:
        published: The table as published. Only its cells count.
        quasi: The quasi-identifiers. A name that is absent but stands as `<name>_min` and `<name>_max` means those two.
        k: The smallest class that is wanted, if any.
        roots: Column → what a suppressed cell looks like where that is not `*` (the root label of a hierarchy).
        rules: Further promises to check.
        measure: Measures the sensitive columns.
    """
    if isinstance(quasi, str):
        quasi = [quasi]
    names = published_names(published.column_names, quasi, k)
    columns = [column_codes(published.column(name), name=name) for name in names]
    class_of_row, groups = row_classes(columns)
    sizes = np.bincount(class_of_row, minlength=groups).astype(np.int64)
    below = sizes < (k or 0)
    suppressed = _suppressed_classes(names, columns, class_of_row, groups, roots or {})
    classes = Classes(published, tuple(quasi), class_of_row, sizes)
    checks = [] if k is None else [_k_anonymity(k, sizes, below)]
    return Verification(
        rows=published.num_rows,
        groups=groups,
        k=int(sizes.min(initial=published.num_rows)),
        largest=int(sizes.max(initial=0)),
        average=published.num_rows / groups if groups else 0.0,
        wanted=k,
        rows_below=int(sizes[below].sum()),
        classes_below=int(np.count_nonzero(below)),
        missing_cells=sum(column.missing_cells for column in columns),
        suppressed=int(sizes[suppressed].sum()),
        quasi=tuple(quasi),
        checks=(*checks, *(check for rule in rules for check in _listed(rule(classes)))),
        class_of_row=class_of_row,
        sizes=sizes,
        measured=() if measure is None else measure(classes),
    )


def _listed(made: Check | list[Check]) -> list[Check]:
    return [made] if isinstance(made, Check) else made


def _k_anonymity(k: int, sizes: Int64, below: Bool) -> Check:
    smallest = int(sizes.min(initial=k)) if len(sizes) else 0
    counted = int(sizes[below].sum()), int(np.count_nonzero(below))
    check = k_check(k, rows=int(sizes.sum()), smallest=smallest, below=counted)
    return check._replace(worst=int(np.argmin(sizes)) if len(sizes) else -1)


def k_check(k: int, *, rows: int, smallest: int, below: tuple[int, int]) -> Check:
    """The check of k-anonymity, from counts.

    Args:
        k: What is wanted.
        rows: Rows of the table.
        smallest: Rows of the smallest class.
        below: Rows in classes of fewer than k, and how many such classes there are.
    """
    if below[1]:
        text = (
            f"{k}-anonymity is wanted, but {below[0]:,} rows are in {below[1]:,} groups of fewer "
            f"than {k} rows; the smallest has {smallest:,}."
        )
    elif rows:
        text = f"Every row shares its quasi-identifiers with at least {k - 1:,} others."
    else:
        text = "The table has no rows, so nobody is exposed."
    found = min(smallest, k)
    return Check("k-anonymity", k, found, not below[1], text, -1, found)


def published_names(columns: Sequence[str], quasi: Sequence[str], k: int | None) -> list[str]:
    """The columns that stand for the quasi-identifiers; a ConfigError with everything that is wrong otherwise."""
    problems = [] if quasi else [Problem("quasi", "at least one quasi-identifier must be named")]
    if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
        problems.append(Problem("k", "must be a whole number of at least 1"))
    present = list(columns)
    names: list[str] = []
    for name in dict.fromkeys(quasi):
        pair = [f"{name}_min", f"{name}_max"]
        chosen = [name] if name in present else pair
        absent = [each for each in chosen if each not in present]
        twice = [each for each in chosen if present.count(each) > 1]
        if absent:
            problems.append(Problem("quasi", f"the table has no column {name!r} (nor {pair[0]!r} and {pair[1]!r})"))
        elif twice:
            problems.append(Problem("quasi", f"the table has several columns named {twice[0]!r}; rename them"))
        names += chosen
    if problems:
        raise ConfigError(problems)
    return names


def _suppressed_classes(
    names: Sequence[str],
    columns: Sequence[Codes],
    class_of_row: Int64,
    groups: int,
    roots: Mapping[str, str],
) -> Bool:
    """Class → whether nothing but `*` is published of its rows.

    Columns that hold numbers (bounds, means) have no place for `*`: there, a missing cell goes with the `*` of others.
    """
    first = np.zeros(groups, dtype=np.int64)
    first[class_of_row[::-1]] = np.arange(len(class_of_row) - 1, -1, -1)
    everywhere = np.ones(groups, dtype=np.bool_)
    somewhere = np.zeros(groups, dtype=np.bool_)
    for name, column in zip(names, columns, strict=True):
        codes = column.codes[first]
        if _is_text(column.values.type):
            root = pc.index(column.values.cast(pa.large_string()), roots.get(name, ROOT)).as_py()
            starred = codes == root if root >= 0 else np.zeros(groups, dtype=np.bool_)
            somewhere |= starred
        else:
            starred = codes == column.missing
        everywhere &= starred
    return everywhere & somewhere


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
