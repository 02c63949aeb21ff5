"""Guarantees as checks: the judge's findings as sentences, and measurements where nothing is guaranteed.

This is the same for every engine: each has its own counter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from coterie.errors import Problem, refuse
from coterie.verification.cells import MARK, number_in
from coterie.verification.counts import (
    CellPairs,
    ClassCells,
    ClassFigures,
    ClassValues,
    Counter,
    PeopleCounts,
    SizeCounts,
)
from coterie.verification.judge import Finding, judge, judge_counts, rule_of
from coterie.verification.population import matches
from coterie.verification.promises import Promise, promises_of, refuse_unfit
from coterie.verification.rows import RowSums, rows_check
from coterie.verification.sensitive import Sensitive, sensitive_of
from coterie.verification.verify import Check, Verification, verify_counts

if TYPE_CHECKING:
    from coterie.settings.config import Config

_ENDS = re.compile(r"\[([0-9.]+)-([0-9.]+)\]|\[(.+), (.+)\]")
_EXACT = Context(prec=1000)


def _measure(name: str, kind: str = "") -> Promise:
    return Promise(name, "", Fraction(1), None, kind)


# Measured for every sensitive column, whatever the guarantees.
MEASURES: dict[str, Promise] = {
    "distinct l": _measure("l-diversity", "distinct"),
    "frequency l": _measure("l-diversity", "frequency"),
    "entropy l": _measure("l-diversity", "entropy"),
    "alpha": _measure("alpha-k"),
    "t (equal)": _measure("t-closeness", "equal"),
    "t (ordered)": _measure("t-closeness", "ordered"),
    "t (hierarchical)": _measure("t-closeness", "hierarchical"),
    "beta": _measure("beta-likeness", "basic"),
    "delta": _measure("delta-disclosure"),
}


class Measured(NamedTuple):
    """The figure of one sensitive attribute in the worst class."""

    column: str
    name: str
    value: float
    size: int
    """rows of the worst class"""
    worst: int
    """the worst class; −1 for a table without rows, or if classes have no numbers"""


class FileCheck(NamedTuple):
    """The result of verifying a release that is not in memory."""

    verification: Verification
    classes: ClassFigures
    """of all classes except that of suppressed rows, if these are shown"""
    sizes: SizeCounts
    people: PeopleCounts | None

    def with_rows(self, sums: RowSums, k: int, *, hidden: int) -> FileCheck:
        """Return the same with the guarantee of rows published one by one, from the counts of all blocks."""
        found = self.verification
        check = rows_check(sums, k=k, alike=self.sizes.blank_rows if hidden else None)
        return self._replace(verification=replace(found, checks=(check, *found.checks)))


def check_file(
    counter: Counter, config: Config, *, names: Sequence[str], hidden: int, k: int | None, measured: bool = False
) -> FileCheck:
    """Verify a release that is not in memory; `hidden` suppressed rows are shown, as a class or as part of one."""
    made, sizes, people = verify_counts(counter, config, quasi=config.quasi, names=names, k=k, measured=measured)
    # Classes have no numbers here, so the worst one cannot be identified.
    checks = tuple(check._replace(worst=-1) for check in made.checks)
    made = replace(made, checks=checks, measured=tuple(each._replace(worst=-1) for each in made.measured))
    return FileCheck(made, sizes.kept(hidden), sizes, people)


def checks_beyond_k(counter: Counter, config: Config, people: PeopleCounts | None, names: Sequence[str]) -> list[Check]:
    """Check the guarantees of a configuration beyond k."""
    checks = check_promises(counter, promises_of(config), config, names=names)
    checks += [] if people is None else [people_check(people, config.k)]
    return checks + [_rounding_check(counter, name, Decimal(str(step)), names) for name, step in config.round.items()]


def check_promises(
    counter: Counter, promises: Sequence[Promise], config: Config, *, names: Sequence[str]
) -> list[Check]:
    """Check guarantees beyond k, one after another; `names` are the columns of the published table."""
    found: dict[Promise, Finding] = {}
    tables = _tables(counter, config, [each.column for each in promises if each.column is not None], names)
    refuse_unfit(promises, tables)
    for column, table in tables.items():
        asked = [promise for promise in promises if promise.column == column]
        found |= _judged(counter, column, table, asked)
    for promise in promises:
        if promise.counts == "population":
            for finding in counter.by_class(partial(judge_population, promise=promise, config=config)):
                _add(found, [promise], [finding])
        elif promise.counts == "rows" and len((sizes := counter.sizes()).rows):
            found[promise] = judge_counts(promise.limit, sizes.rows, sizes.rows, classes=sizes.classes)
    return [check_of(promise, found.get(promise)) for promise in promises]


def measure_columns(
    counter: Counter, config: Config, sensitive: Sequence[str], *, names: Sequence[str]
) -> tuple[Measured, ...]:
    """Measure every model on sensitive attributes. Nothing is guaranteed here, so nothing must be exact."""
    made: list[Measured] = []
    for column, table in _tables(counter, config, sensitive, names).items():
        fitting = {name: promise for name, promise in MEASURES.items() if not promise.problem(table)}
        found = _judged(counter, column, table, list(fitting.values()), decide=False)
        for name, promise in fitting.items():
            value, size, worst, *_ = found.get(promise, Finding(float(promise.limit), 0, -1, 0, 0))
            made.append(Measured(column, name, value, size, worst))
    return tuple(made)


def _tables(counter: Counter, config: Config, columns: Sequence[str], names: Sequence[str]) -> dict[str, Sensitive]:
    absent = [column for column in dict.fromkeys(columns) if column not in names]
    refuse([Problem("sensitive", f"the table has no column {column!r}") for column in absent])
    return {column: sensitive_of(column, counter.cells(column), config) for column in dict.fromkeys(columns)}


def _add(found: dict[Promise, Finding], asked: Sequence[Promise], findings: Sequence[Finding]) -> None:
    for promise, finding in zip(asked, findings, strict=True):
        before = found.get(promise)
        higher = promise.counts != "values" or rule_of(promise).higher
        found[promise] = finding if before is None else before.joined(finding, higher=higher)


def _judged(
    counter: Counter, column: str, table: Sensitive, asked: Sequence[Promise], *, decide: bool = True
) -> dict[Promise, Finding]:
    """Judge all classes by guarantees about one sensitive attribute."""
    found: dict[Promise, Finding] = {}
    for findings in counter.by_value(column, partial(judge_piece, promises=asked, table=table, decide=decide)):
        _add(found, asked, findings)
    return found


def judge_piece(piece: CellPairs, *, promises: Sequence[Promise], table: Sensitive, decide: bool) -> list[Finding]:
    """Judge some classes by guarantees about one sensitive attribute."""
    if piece.places is not None:
        value = table.of_cell[piece.places]
    else:
        assert piece.cells is not None, "pairs come with cells or with their places"
        value = table.find(piece.cells)
    pairs = ClassValues.count(piece.of, value, values=len(table.totals), rows=piece.rows)
    return [judge(promise, pairs, table, decide=decide) for promise in promises]


def judge_population(classes: ClassCells, *, promise: Promise, config: Config) -> Finding:
    """Judge some classes by the people of a population who match their published cells."""
    return judge_counts(promise.limit, matches(classes.table, promise.population, config), classes.sizes)


def check_of(promise: Promise, found: Finding | None) -> Check:
    """Describe a guarantee and its finding in a sentence without cell values."""
    wanted, name, on = float(promise.limit), promise.name, ""
    if promise.column is not None:
        name, on = f"{promise.name}({promise.column})", f" of {promise.column!r}"
    if found is None:
        return Check(name, wanted, wanted, True, f"The table has no rows, so {promise.title}{on} holds.")
    worst = f"the worst has {_figure(found.figure)} in {found.size:,} rows"
    text = f"Every group has {promise.title}{on}; {worst}."
    if found.failing:
        groups = "1 group" if found.failing == 1 else f"{found.failing:,} groups"
        text = f"{promise.title}{on} is wanted, but {found.rows:,} rows are in {groups} without it; {worst}."
    return Check(name, wanted, found.figure, not found.failing, text, found.worst, found.size)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() else f"{value:.4g}"


def people_check(counts: PeopleCounts, k: int) -> Check:
    """Check whether every class has rows of at least k people."""
    if not len(counts.people):
        return Check("k-anonymity of people", k, k, True, "The table has no rows, so nobody is exposed.")
    found = judge_counts(k, counts.people, counts.rows, classes=counts.classes)
    least = int(found.figure)
    text = f"Every group has rows of at least {k:,} people."
    if found.failing:
        text = (
            f"Groups of {k:,} people are wanted, but {found.rows:,} rows are in {found.failing:,} "
            f"groups of fewer; the smallest has {least:,}."
        )
    return Check("k-anonymity of people", k, least, not found.failing, text, found.worst, found.size)


def _rounding_check(counter: Counter, name: str, step: Decimal, names: Sequence[str]) -> Check:
    """Check a column with a step: all ends are multiples of it, and no interval is narrower."""
    wrong = 0
    for column in (name,) if name in names else (f"{name}_min", f"{name}_max"):
        cells = counter.cells(column)
        texts = cells.values.cast("string").to_pylist()
        wrong += sum(
            int(rows)
            for text, rows in zip(texts, cells.rows.tolist(), strict=True)
            if not (_multiple(text, step) if column != name else _rounded(text, step))
        )
    step = step.normalize()
    text = f"Both ends of every interval of {name!r} are multiples of {step:f}."
    if wrong:
        text = f"The ends of intervals of {name!r} are to be multiples of {step:f}, but {wrong:,} cells have others."
    return Check(f"round:{name}", float(step), wrong, not wrong, text)


def _rounded(text: str, step: Decimal) -> bool:
    if text == MARK:
        return True
    match = _ENDS.fullmatch(text)
    ends = [each for each in match.groups() if each is not None] if match else []
    return len(set(ends)) == 2 and all(_multiple(end, step) for end in ends)


def _multiple(text: str, step: Decimal) -> bool:
    number = number_in(text)
    return number is not None and _EXACT.remainder(number, step) == 0
