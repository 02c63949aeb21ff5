"""Explain why a row was generalized as far as it was: its box, each attribute's cost, and the alternatives.

An explanation contains only row positions and figures, no data, unless values are requested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from coterie.arrays import Float64, Int32, Int64
from coterie.errors import ConfigError, Problem
from coterie.explaining.box import (
    AtK,
    Box,
    attribute_pairs,
    box_cost,
    costs_of_k,
    nearest_rows,
    pair_costs,
    rows_within,
    without_column,
)
from coterie.grouping.index import Index, build_index
from coterie.publishing.labels import style_of
from coterie.publishing.publish import published_nodes
from coterie.table.costs import Measure, interval_costs
from coterie.values.notation import SET_LIMIT, columns_of

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.table.domain import Domain
    from coterie.table.table import Table

State = Literal["group", "ring", "suppressed", "left out"]

KS = (2, 5, 10, 20, 50, 100)
"""the k to report besides the row's own"""


@dataclass(frozen=True)
class AttributeCost:
    """The cost of one attribute of a row's box."""

    name: str
    weight: float
    cost: float
    """NCP of its interval, 0 (the value itself) to 1 (any value); for `nh`, the mean over the row's boxes"""
    paid: float
    """weight × cost: what the row would save without this attribute, with the same group"""
    share: float
    """of the row's total cost"""
    values: int
    """values of the table in its interval; for `nh`, in the widest of the row's boxes"""
    of: int
    """the number of distinct values in the table"""
    alike: int
    """rows of the group, including this one, with the row's own value"""
    furthest: int | None
    """position of the row of its group that alone makes the interval cost most; None if all are equal"""
    value: str | None = None
    """the row's own value, if requested"""
    published: str | None = None
    """its published value, if requested"""


@dataclass(frozen=True)
class Neighbour:
    """A row near the explained one."""

    row: int
    """its position in the original"""
    cost: float
    """the cost per row of a box of just these two rows"""
    same_group: bool
    values: Mapping[str, str | None] | None = None
    """its quasi-identifiers, if requested"""


@dataclass(frozen=True)
class Without:
    """The least cost of a row if one attribute were not published."""

    name: str
    at_least: float


@dataclass(frozen=True)
class RowExplanation:
    """Why a row was generalized as far as it was. Costs are weighted NCP, summed over the attributes."""

    row: int
    """position in the original"""
    state: State
    note: str
    """what does and does not apply to this row"""
    method: str
    k: int
    group: int | None
    size: int
    """rows of its group or ring"""
    cost: float
    """the row's cost"""
    most: float
    """the row's cost if it were fully suppressed: the sum of the weights"""
    attributes: tuple[AttributeCost, ...] = ()
    """most expensive first"""
    nearest: tuple[Neighbour, ...] = ()
    at_k: tuple[AtK, ...] = ()
    """the cost of its own k and of others"""
    rows_found: int = 0
    """rows found in a box around it of the same cost: the k that it could have had"""
    rows_at_most: int = 0
    """the maximum number of rows in any box around it of the same cost"""
    without: tuple[Without, ...] = ()

    @property
    def at_least(self) -> float | None:
        """The least cost of any box of k rows with this row: its own lower bound."""
        return next((each.at_least for each in self.at_k if each.k == self.k), None)

    @property
    def found(self) -> float | None:
        """The cost of the cheapest box of k rows found around this row alone."""
        return next((each.found for each in self.at_k if each.k == self.k), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values for JSON."""
        return asdict(self) | {"at_least": self.at_least, "found": self.found}


class _Held(NamedTuple):
    """The boxes that contain a row, and the rows that share them."""

    lo: Int32
    hi: Int32
    members: Int64


NOTES: dict[State, str] = {
    "group": "All rows of a group have the same published cells: each pays the cost of their common box.",
    "ring": "Rows are published one by one: this one in one of the k boxes that contain it; which one is secret. "
    "Costs are means over these boxes.",
    "suppressed": "The row is in no group: it is suppressed, and every cell counts as lost. "
    "The alternatives are below.",
    "left out": "The row was left out before any grouping (a missing value or a mask): "
    "every cell counts as lost, and its alternatives are unknown.",
}


def explain_row(release: Release, row: int, *, nearest: int = 5, show_values: bool = False) -> RowExplanation:
    """Explain one row of a release; arguments as for `Release.explain`."""
    row = _position(row, release.source.table.num_rows)
    table, config = release.table, release.config
    inner = int(np.searchsorted(release.rows, row))
    known = inner < len(release.rows) and release.rows[inner] == row
    state, held = _held(release, inner) if known else ("left out", _nothing(table))
    blank = RowExplanation(
        row=row,
        state=state,
        note=_note(state, promises=bool(config.privacy or config.entity)),
        method=config.method,
        k=config.k,
        group=int(release.grouping.labels[inner]) if len(held.members) else None,
        size=len(held.members),
        cost=sum(domain.weight for domain in table.domains),
        most=sum(domain.weight for domain in table.domains),
    )
    if not known:
        return blank
    attributes = _attributes(release, inner, held, show_values=show_values)
    box, own = None, None
    cost = sought = sum(each.paid for each in attributes)
    if state == "group":
        # The same sum as in the search, bit for bit; labels above the box of a group may cost more.
        sought = float(box_cost(table, held.lo, held.hi)[0])
        cost = sought if release.grouping.chosen_nodes() is None else cost
        box, own = (held.lo[0], held.hi[0]), Box(sought, len(held.members))
    rows_found, rows_at_most = rows_within(table, inner, sought, box=box)
    ks = sorted({config.k, *(k for k in KS if k <= table.rows)})
    index = _index(release)
    return replace(
        blank,
        cost=cost,
        attributes=tuple(sorted(attributes, key=lambda each: -each.paid)),
        nearest=_neighbours(release, index, inner, max(int(nearest), 0), held=held, show_values=show_values),
        at_k=tuple(costs_of_k(table, index, inner, ks, own=own)),
        rows_found=rows_found,
        rows_at_most=rows_at_most,
        without=_without(table, inner, config.k),
    )


def _note(state: State, *, promises: bool) -> str:
    more = " Bounds are for k rows; guarantees beyond k may need more." if promises and state != "left out" else ""
    return NOTES[state] + more


def _position(row: int, rows: int) -> int:
    if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < rows:
        raise ConfigError([Problem("row", f"must be a position from 0 to {rows - 1:,}")])
    return int(row)


def _index(release: Release) -> Index:
    """Return the index over the rows of the release, cached."""
    if "_explain_index" not in release.__dict__:
        release.__dict__["_explain_index"] = build_index(release.table)
    index: Index = release.__dict__["_explain_index"]
    return index


def _held(release: Release, row: int) -> tuple[State, _Held]:
    grouping, table = release.grouping, release.table
    label = int(grouping.labels[row])
    if label < 0:
        return "suppressed", _nothing(table)
    members = np.flatnonzero(grouping.labels == label)
    return grouping.unit, _Held(*grouping.boxes_around(row), members)


def _nothing(table: Table) -> _Held:
    """Return an empty result: the row has no group, so anything is possible."""
    last = np.asarray([domain.size - 1 for domain in table.domains], dtype=np.int32)
    return _Held(np.zeros_like(last)[None, :], last[None, :], np.zeros(0, dtype=np.int64))


def _left_open(release: Release, held: _Held, at: int) -> int:
    """Return how many values of the table are consistent with the row's published set or interval."""
    domain, members = release.table.domains[at], release.table.codes[held.members, at]
    span = int((held.hi[:, at] - held.lo[:, at]).max()) + 1
    as_set = style_of(domain, release.config.publish) == "set" and release.kind.tight
    if not as_set or span == 1 or len(members) == 0:
        return span
    distinct = np.unique(members)
    starred = len(distinct) > SET_LIMIT or (domain.missing >= 0 and domain.missing in distinct)
    return domain.size if starred else len(distinct)


def _attributes(release: Release, row: int, held: _Held, *, show_values: bool) -> list[AttributeCost]:
    table = release.table
    measure = Measure("ncp", table.leaf_counts)
    suppressed = len(held.members) == 0
    # Only groups have nodes of their own: rows published one by one have the lowest.
    nodes = published_nodes(table.domains, release.grouping, release.config.publish)
    label = int(release.grouping.labels[row])

    def cost_of(at: int, domain: Domain) -> float:
        node = None if nodes is None else nodes[[label], at]
        return float(interval_costs(domain, held.lo[:, at], held.hi[:, at], measure, node=node).mean())

    costs = [1.0 if suppressed else cost_of(at, domain) for at, domain in enumerate(table.domains)]
    total = sum(domain.weight * cost for domain, cost in zip(table.domains, costs, strict=True))
    values = _values(table, np.asarray([row]))[0] if show_values else {}
    published = _published(release, row) if show_values else {}
    found = []
    for at, (domain, cost) in enumerate(zip(table.domains, costs, strict=True)):
        codes = table.codes[held.members, at]
        apart = attribute_pairs(table, row, at)[held.members]
        far = int(np.argmax(apart)) if len(apart) and apart.max() > 0 else None
        found.append(
            AttributeCost(
                name=domain.name,
                weight=domain.weight,
                cost=cost,
                paid=domain.weight * cost,
                share=domain.weight * cost / total if total > 0 else 0.0,
                values=_left_open(release, held, at),
                of=domain.size,
                alike=int(np.count_nonzero(codes == table.codes[row, at])),
                furthest=None if far is None else int(release.rows[held.members[far]]),
                value=values.get(domain.name),
                published=published.get(domain.name),
            )
        )
    return found


def _neighbours(
    release: Release, index: Index, row: int, count: int, *, held: _Held, show_values: bool
) -> tuple[Neighbour, ...]:
    table = release.table
    rows = nearest_rows(index, table, row, count)
    costs: Float64 = pair_costs(table, row)[rows]
    same = np.isin(rows, held.members)
    values: list[dict[str, str | None]] | list[None] = _values(table, rows) if show_values else [None] * len(rows)
    return tuple(
        Neighbour(int(release.rows[each]), float(cost), bool(together), shown)
        for each, cost, together, shown in zip(rows, costs, same, values, strict=True)
    )


def _without(table: Table, row: int, k: int) -> tuple[Without, ...]:
    """Rank the attributes by the row's least cost without them, lowest first."""
    if table.attributes < 2:
        return ()
    found = [Without(domain.name, without_column(table, row, at, k)) for at, domain in enumerate(table.domains)]
    return tuple(sorted(found, key=lambda each: each.at_least))


def _values(table: Table, rows: npt.NDArray[Any]) -> list[dict[str, str | None]]:
    """Return the quasi-identifiers of some rows, as text."""
    from coterie.values.notation import value_texts

    columns = {
        domain.name: value_texts(domain).take(pa.array(table.codes[rows, at]))
        for at, domain in enumerate(table.domains)
    }
    return pa.table(columns).to_pylist() if columns else []


def _published(release: Release, row: int) -> dict[str, str | None]:
    """Return the published cells of a row as text; empty if it was removed or is confidential."""
    if release.by_rows:
        return {}
    at = np.flatnonzero(release.published.kept == release.rows[row])
    if not len(at):
        return {}
    cells = release.arrow.slice(int(at[0]), 1)
    texts: dict[str, str | None] = {}
    for name in release.config.quasi:
        known = [cells.column(each)[0].as_py() for each in columns_of(name, cells.column_names)]
        texts[name] = " to ".join("*" if cell is None else str(cell) for cell in known)
    return texts
