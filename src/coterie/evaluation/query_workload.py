"""Random query workloads, as drawn by Xu et al. (2006) and with more options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from coterie.errors import ConfigError, Problem
from coterie.evaluation.before_after import BeforeAfter
from coterie.evaluation.cells import Predicate, Span, codes_predicate, is_whole, present_numbers, span_predicate
from coterie.evaluation.queries import Query, QueryErrors, answer_queries, answers_on

if TYPE_CHECKING:
    from coterie.methods._method import Progress
    from coterie.table.domain import Domain

# All subsets of ten columns are a thousand.
_MOST_COLUMNS = 10
# Rounds of drawing as many queries as wanted before settling for those found so far.
_ROUNDS = 50


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The parameters of random queries."""

    count: int = 1000
    """the number of queries"""
    sum: str | None = None
    """the column to sum, which then has no predicate; None counts rows"""
    columns: tuple[str, ...] | None = None
    """columns that may have predicates; None: all quasi-identifiers"""
    size: int | None = None
    """predicates per query; None: a random number from one to all. More than there are columns: all"""
    weighted: bool = True
    """whether columns are drawn in proportion to their weights"""
    selectivity: float | None = None
    """share of all possible rows that a query covers; None: ranges with two random ends, random values and labels"""
    points: float = 0.5
    """how often a predicate on a category selects a single value rather than a label of its hierarchy"""
    root: bool = False
    """whether the label may be the root, which selects everything"""
    nonempty: bool = False
    """whether queries without any matching row in the original are redrawn"""
    seed: int = 0

    def __post_init__(self) -> None:
        share = 1.0 if self.selectivity is None else self.selectivity
        needs = (
            ("queries", self.count >= 1, "must be at least 1"),
            ("size", self.size is None or self.size >= 1, "must be at least 1"),
            ("selectivity", 0.0 < share <= 1.0, "must be above 0 and at most 1"),
            ("points", 0.0 <= self.points <= 1.0, "must lie between 0 and 1"),
            ("seed", self.seed >= 0, "must be at least 0"),
        )
        if problems := [Problem(name, text) for name, met, text in needs if not met]:
            raise ConfigError(problems)

    @classmethod
    def of_paper(cls, *, count: int = 1000, sum: str | None = None, seed: int = 0) -> Workload:
        """Return the workloads of Xu et al. (2006), §5.2: predicates on all but the summed column, even the root."""
        return cls(count=count, sum=sum, size=2**31, weighted=False, root=True, seed=seed)


def query_errors(
    tables: BeforeAfter, workload: Workload | None = None, *, progress: Progress | None = None
) -> QueryErrors:
    """Draw a workload and answer it on the original and on the release."""
    return answer_queries(tables, draw_queries(tables, workload or Workload()), progress=progress)


def subset_errors(
    tables: BeforeAfter,
    workload: Workload | None = None,
    *,
    subsets: Literal["prefixes", "all"] | Iterable[Sequence[str]] = "prefixes",
) -> dict[tuple[str, ...], QueryErrors]:
    """Return subset of columns → errors of a workload with predicates on just these (Xu et al. 2006, Fig. 19).

    Args:
        tables: The original and its release.
        workload: The parameters of each subset's queries; subsets are drawn from its `columns`.
        subsets: `prefixes` of the columns by descending weight: A1, A1A2, A1A2A3, …;
            `all` subsets; or a list of subsets.
    """
    workload = workload or Workload()
    columns = _columns(tables, workload)
    if subsets == "prefixes":
        heaviest = sorted(columns, key=lambda name: -tables.column(name).domain.weight)
        chosen: list[tuple[str, ...]] = [tuple(heaviest[:size]) for size in range(1, len(heaviest) + 1)]
    elif subsets == "all":
        if len(columns) > _MOST_COLUMNS:
            text = (
                f"there are {2 ** len(columns) - 1:,} subsets of {len(columns)} columns; name at most {_MOST_COLUMNS}"
            )
            raise ConfigError([Problem("subsets", text)])
        chosen = [each for size in range(1, len(columns) + 1) for each in combinations(columns, size)]
    else:
        chosen = [tuple(each) for each in subsets]
    return {each: query_errors(tables, replace(workload, columns=each, size=len(each))) for each in chosen}


def draw_queries(tables: BeforeAfter, workload: Workload) -> list[Query]:
    """Draw random queries; fewer than requested if `nonempty` ones are too hard to find.

    Raises:
        ConfigError: A column is not in both tables, or no column remains for predicates.
    """
    domains = [tables.column(name).domain for name in _columns(tables, workload)]
    rng = np.random.default_rng(workload.seed)
    if not workload.nonempty:
        return [_draw(domains, workload, rng) for _ in range(workload.count)]
    found: list[Query] = []
    for _ in range(_ROUNDS):
        drawn = [_draw(domains, workload, rng) for _ in range(workload.count)]
        actual = answers_on(tables, drawn, side="before")
        found += [query for query, answer in zip(drawn, actual, strict=True) if answer != 0.0]
        if len(found) >= workload.count:
            break
    return found[: workload.count]


def _columns(tables: BeforeAfter, workload: Workload) -> tuple[str, ...]:
    names = workload.columns if workload.columns is not None else tables.config.quasi
    names = tuple(name for name in dict.fromkeys(names) if name != workload.sum)
    if not names:
        raise ConfigError([Problem("columns", "no column is left for predicates; name some besides the summed one")])
    return names


def _draw(domains: Sequence[Domain], workload: Workload, rng: np.random.Generator) -> Query:
    size = len(domains)
    if workload.size is not None:
        size = min(workload.size, size)
    elif size > 1:
        size = int(rng.integers(1, size + 1))
    weights = np.asarray([domain.weight if workload.weighted else 1.0 for domain in domains])
    # The largest of u^(1/w) are a draw without replacement in proportion to w; weight 0 comes last.
    with np.errstate(divide="ignore"):
        keys = np.log1p(-rng.random(len(domains))) / weights
    chosen = np.sort(np.argsort(-keys, kind="stable")[:size])
    share = None if workload.selectivity is None else workload.selectivity ** (1.0 / size)

    def predicate(domain: Domain) -> Predicate:
        if domain.kind == "number":
            return _range(domain, share, rng)
        return _values(domain, share, rng) if share is not None else _value_or_label(domain, workload, rng)

    return Query(tuple(predicate(domains[at]) for at in chosen), workload.sum)


def _range(domain: Domain, share: float | None, rng: np.random.Generator) -> Predicate:
    """Draw a range of numbers: between two random ends, or of a given share of the column's range."""
    numbers = present_numbers(domain)
    top = float(numbers[-1]) if len(numbers) else 0.0
    if is_whole(domain):
        last = int(top)
        if share is None:
            low, high = np.sort(rng.integers(0, last + 1, size=2)).tolist()
        else:
            width = min(max(round(share * (last + 1)), 1), last + 1)
            low = int(rng.integers(0, last + 2 - width))
            high = low + width - 1
        return span_predicate(domain, [Span(float(low), float(high))])
    if share is None:
        start, end = (np.sort(rng.random(2)) * top).tolist()
    else:
        start = float(rng.random()) * (1.0 - share) * top
        end = start + share * top
    return span_predicate(domain, [Span(start, end)])


def _present(domain: Domain) -> int:
    """Return the number of values, not counting missing; at least 1, so that there is something to draw."""
    return max(domain.size - (domain.missing >= 0), 1)


def _value_or_label(domain: Domain, workload: Workload, rng: np.random.Generator) -> Predicate:
    tree = domain.tree
    assert tree is not None
    inner = np.setdiff1d(np.arange(tree.nodes), tree.leaf_node)
    inner = inner if workload.root else inner[inner > 0]
    if len(inner) == 0 or rng.random() < workload.points:
        return codes_predicate(domain, [int(rng.integers(_present(domain)))])
    node = int(rng.choice(inner))
    return codes_predicate(domain, slice(tree.first[node], tree.last[node] + 1))


def _values(domain: Domain, share: float, rng: np.random.Generator) -> Predicate:
    """Draw categories that cover a share of the values: the label that comes closest, or a random set of values."""
    present = _present(domain)
    if not domain.labelled:
        count = min(max(round(share * present), 1), present)
        return codes_predicate(domain, rng.choice(present, size=count, replace=False))
    tree = domain.tree
    assert tree is not None
    nodes = np.flatnonzero(tree.first < present)
    off = np.abs((tree.last[nodes] - tree.first[nodes] + 1) / tree.leaves - share)
    node = int(rng.choice(nodes[off <= off.min() + 1e-12]))
    return codes_predicate(domain, slice(tree.first[node], tree.last[node] + 1))
