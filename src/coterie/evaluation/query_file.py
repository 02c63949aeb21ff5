"""Query files: a user's own queries, from TOML or from text with one query per line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie.arrays import Bool
from coterie.errors import ConfigError, CoterieError, DataError, Problem, refuse
from coterie.evaluation.cells import Predicate, Span, inside, span_predicate
from coterie.evaluation.queries import Query, summed_numbers
from coterie.evaluation.query_parse import Condition, ParsedQuery, QuerySyntaxError, Value, parse_query
from coterie.settings.toml import read_toml
from coterie.values.axis import axis_of, floats_of
from coterie.values.notation import value_texts
from coterie.values.scalars import parse_number

if TYPE_CHECKING:
    from coterie.evaluation.before_after import BeforeAfter
    from coterie.table.domain import Domain

_INF = float("inf")


class QueryText(NamedTuple):
    """A query as written in a file."""

    text: str
    name: str


def read_queries(path: str | os.PathLike[str], tables: BeforeAfter) -> list[Query]:
    """Read the queries of a file.

    Args:
        path: A TOML file with a list `query`, whose entries are texts or tables with `where`, `aggregate` and `name`;
            or any other text file with one query per line, where lines that begin with # or -- are comments.
        tables: The original and its release, which have the queries' columns.

    Raises:
        ConfigError: Some queries cannot be parsed or refer to missing columns; all problems are reported at once.
    """
    return bind_queries(written_queries(path), tables)


def written_queries(path: str | os.PathLike[str]) -> list[QueryText]:
    """Read the queries of a file as text."""
    if Path(path).suffix.lower() == ".toml":
        entries = read_toml(path).get("query")
        if not isinstance(entries, list) or not entries:
            raise ConfigError([Problem("query", "is missing: the file needs a list of queries, such as [[query]]")])
        return [_entry(place, entry) for place, entry in enumerate(entries, 1)]
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DataError(f"{os.fspath(path)} is not a text in UTF-8.", hint="Save it as UTF-8.") from None
    numbered = [(number, line.strip().rstrip(";")) for number, line in enumerate(lines, 1)]
    found = [
        QueryText(text, f"line {number}") for number, text in numbered if text and not text.startswith(("#", "--"))
    ]
    if not found:
        raise ConfigError([Problem("query", "the file has no query; write one per line")])
    return found


def _entry(place: int, entry: Any) -> QueryText:  # noqa: ANN401 - whatever TOML holds
    name = f"query {place}"
    if isinstance(entry, str):
        return QueryText(entry, name)
    known = {"where", "aggregate", "name"}
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise ConfigError([Problem(name, "must be text, or a table with where, aggregate and name")])
    if wrong := sorted(set(entry) - known):
        raise ConfigError([Problem(name, f"there is no {wrong[0]!r}; there are where, aggregate and name")])
    where = entry.get("where", "").strip()
    text = entry.get("aggregate", "count").strip() + (f" where {where}" if where else "")
    return QueryText(text, entry.get("name", name))


def bind_queries(written: Sequence[QueryText | str], tables: BeforeAfter) -> list[Query]:
    """Bind parsed queries to these tables; all problems are reported at once."""
    found: list[Query] = []
    problems: list[Problem] = []
    for place, entry in enumerate(written, 1):
        text, name = (entry, f"query {place}") if isinstance(entry, str) else entry
        try:
            found.append(_bound(parse_query(text), tables, name))
        except ConfigError as error:
            problems += [Problem(name, problem.text) for problem in error.problems]
        except (QuerySyntaxError, CoterieError) as error:
            problems.append(Problem(name, str(error)))
    refuse(problems)
    return found


def _bound(query: ParsedQuery, tables: BeforeAfter, name: str) -> Query:
    by_column: dict[str, list[Predicate]] = {}
    for condition in query.conditions:
        domain = tables.column(condition.column).domain
        by_column.setdefault(condition.column, []).append(bind_condition(condition, domain))
    where = tuple(reduce(_both, predicates) for predicates in by_column.values())
    if query.sum is not None:
        summed_numbers(tables, query.sum)
    return Query(where, query.sum, name)


def _both(first: Predicate, second: Predicate) -> Predicate:
    """Combine two conditions on one column."""
    mask = first.mask & second.mask
    if first.spans is None or second.spans is None:
        return Predicate(first.column, mask)
    spans = [common for one in first.spans for two in second.spans if (common := _common(one, two)) is not None]
    return Predicate(first.column, mask, tuple(spans))


def _common(first: Span, second: Span) -> Span | None:
    """Return the intersection of two ranges."""
    low, low_open = max((first.low, first.low_open), (second.low, second.low_open))
    high, high_closed = min((first.high, not first.high_open), (second.high, not second.high_open))
    if low > high or (low == high and (low_open or not high_closed)):
        return None
    return Span(low, high, low_open, not high_closed)


def bind_condition(condition: Condition, domain: Domain) -> Predicate:
    """Return the values of a column that satisfy a condition. As in SQL, missing values only satisfy `is null`."""
    present = np.ones(domain.size, dtype=np.bool_)
    if domain.missing >= 0:
        present[domain.missing] = False
    number = domain.kind == "number"
    if condition.operator == "is null":
        return Predicate(domain.name, ~present, () if number else None)
    if condition.operator == "is not null":
        return Predicate(domain.name, present, (Span(-_INF, _INF),) if number else None)
    if number:
        return span_predicate(domain, _spans(condition, [_number(value, domain) for value in condition.values]))
    return Predicate(domain.name, _category_mask(condition, domain) & present)


def _number(value: Value, domain: Domain) -> float:
    axis = axis_of(domain)
    place = axis.place(value.text)
    if place is None:
        what = "date such as '2024-05-31'" if axis.temporal else "value of its order" if domain.order else "number"
        raise ConfigError([Problem("where", f"column {domain.name!r} needs a {what} at character {value.at}")])
    return place


def _spans(condition: Condition, ends: Sequence[float]) -> list[Span]:
    """Return the ranges of numbers that satisfy a comparison."""
    first = ends[0]
    points = sorted(set(ends))
    if condition.operator in ("=", "in"):
        return [Span(point, point) for point in points]
    if condition.operator in ("!=", "not in"):
        borders = [-_INF, *points, _INF]
        return [Span(low, high, True, True) for low, high in pairwise(borders)]
    if condition.operator == "between":
        return [Span(first, ends[1])] if first <= ends[1] else []
    if condition.operator == "not between":
        if first > ends[1]:
            return [Span(-_INF, _INF)]
        return [Span(-_INF, first, high_open=True), Span(ends[1], _INF, low_open=True)]
    if condition.operator in ("<", "<="):
        return [Span(-_INF, first, high_open=condition.operator == "<")]
    return [Span(first, _INF, low_open=condition.operator == ">")]


def _category_mask(condition: Condition, domain: Domain) -> Bool:
    """Return code → whether it satisfies the condition: by value or label, or numerically if the values are numbers."""
    if condition.operator in ("=", "in", "!=", "not in"):
        held = reduce(np.logical_or, [_named(value, domain) for value in condition.values])
        return held if condition.operator in ("=", "in") else ~held
    numbers = floats_of(domain)
    ends = [parse_number(value.text) for value in condition.values]
    if numbers is None or any(end is None for end in ends):
        text = f"column {domain.name!r} has no order here: {condition.operator} needs numbers or dates; use = or in"
        raise ConfigError([Problem("where", text)])
    return inside(numbers, _spans(condition, [float(end) for end in ends if end is not None]))


def _named(value: Value, domain: Domain) -> Bool:
    """Return code → whether it is the value, or is below the label, that a query names."""
    texts = value_texts(domain).to_pylist()
    mask = np.asarray([text == value.text for text in texts], dtype=np.bool_)
    if mask.any():
        return mask
    number = parse_number(value.text)
    if number is not None and (numbers := floats_of(domain)) is not None:
        mask = np.equal(numbers, float(number))
        if mask.any():
            return mask
    tree = domain.tree
    for node, label in enumerate(tree.labels if tree is not None and domain.labelled else ()):
        if label == value.text and tree is not None:
            mask[tree.first[node] : tree.last[node] + 1] = True
    if not mask.any():
        labelled = "neither a value nor a label of its hierarchy"
        what = labelled if domain.labelled else "not one of its values in the original"
        text = f"column {domain.name!r}: the text at character {value.at} is {what}"
        raise ConfigError([Problem("where", text)])
    return mask
