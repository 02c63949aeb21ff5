"""The applied recoding as a table: each group's published value of each attribute, and its cost.

It contains original values (the ends of each interval), so only holders of the original may have it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Float64
from coterie.files import tables
from coterie.files.destinations import check_apart
from coterie.files.output import format_of
from coterie.publishing.publish import published_as, recode
from coterie.settings.fields.hierarchies import Publish as Style
from coterie.settings.fields.missing import LeafCounts
from coterie.table.costs import Measure, interval_costs
from coterie.values.notation import interval_texts, value_texts

if TYPE_CHECKING:
    from coterie.publishing.labels import Labels
    from coterie.releases.release import Release
    from coterie.table.domain import Domain
    from coterie.table.grouping import Grouping

COLUMNS = {
    "group": "the group, as in `release.groups`; −1 for suppressed rows; for rows published one by one, the box",
    "rows": "how many rows are published with it",
    "attribute": "the quasi-identifier",
    "published": "its published value, as text; empty if the rows were removed",
    "lowest": "the lowest possible original value, as text; for a category, the first in the hierarchy",
    "highest": "the highest, or the last",
    "values": "number of the table's values from the lowest to the highest",
    "missing": "whether missing values are among them",
    "cost": "cost per row: NCP, 0 (unchanged) to 1 (any value)",
    "weight": "the weight of the attribute",
    "share": "its share of the whole loss: rows × weight × cost ÷ the sum of these",
}


def check_mapping(mapping: str | os.PathLike[str] | None, *, force: bool) -> None:
    """Check before the work that a mapping, if requested, can be written."""
    if mapping is not None:
        format_of(mapping)
        tables.check_target(mapping, force=force)


def write_mapping(release: Release, path: str | os.PathLike[str], *, force: bool) -> None:
    """Write the mapping of a release, but never over its inputs."""
    check_apart(release.place.origin, release.config, mapping=path)
    tables.write(mapping_table(release), path, like=release.source, formulas=release.config.formulas, force=force)


def mapping_table(release: Release) -> pa.Table:
    """Return one row per group and attribute, groups in ascending order; suppressed rows come last, as group −1."""
    shown = release.grouping.published_boxes()
    recoded = recode(release.table, release.grouping, release.config)
    suppressed = release.source.table.num_rows - int(shown.sizes.sum())
    removed = len(release.published.kept) < release.source.table.num_rows
    table = groups_table(release.table.domains, shown, recoded, leaf_counts=release.table.leaf_counts)
    if suppressed:
        publish = None if removed else release.config.publish
        table = pa.concat_tables([table, suppressed_table(release.table.domains, suppressed, publish)])
    return with_share(table, float(_losses(table).sum()))


def groups_table(
    domains: Sequence[Domain], shown: Grouping, recoded: Mapping[str, Labels], *, leaf_counts: LeafCounts
) -> pa.Table:
    """Return one row per group, as published, and attribute; without its share of the loss of all groups."""
    measure = Measure("ncp", leaf_counts)
    parts = [_attribute(domain, shown, at, recoded[domain.name], measure=measure) for at, domain in enumerate(domains)]
    attributes, groups = len(parts), parts[0].num_rows if parts else 0
    # Attribute after attribute → group after group, in the order of the quasi-identifiers.
    order = np.arange(attributes * groups).reshape(attributes, groups).T.ravel()
    return pa.concat_tables(parts).take(pa.array(order))


def suppressed_table(domains: Sequence[Domain], rows: int, publish: Mapping[str, Style] | None) -> pa.Table:
    """Return one row for each attribute of the rows in no group, which lose everything.

    Args:
        domains: The quasi-identifiers.
        rows: The number of suppressed rows.
        publish: The publishing styles; None if these rows were removed.
    """
    return pa.concat_tables([_suppressed(domain, rows, publish) for domain in domains])


def with_share(table: pa.Table, total: float) -> pa.Table:
    """Return the mapping with each line's share of the total loss."""
    loss = _losses(table)
    return table.append_column("share", pa.array(loss / total if total > 0 else loss)).combine_chunks()


def _losses(table: pa.Table) -> Float64:
    found: Float64 = _numbers(table, "rows") * _numbers(table, "weight") * _numbers(table, "cost")
    return found


def _numbers(table: pa.Table, name: str) -> Float64:
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def _attribute(domain: Domain, shown: Grouping, at: int, labels: Labels, *, measure: Measure) -> pa.Table:
    lo, hi = np.ascontiguousarray(shown.lo[:, at]), np.ascontiguousarray(shown.hi[:, at])
    # Missing values are the last code. A group with them may have any value up to the one before.
    missing = (hi == domain.missing) if domain.missing >= 0 else np.zeros(len(hi), dtype=np.bool_)
    top = np.where(missing & (lo < hi), hi - 1, hi).astype(np.int32)
    texts = value_texts(domain)
    return _lines(
        domain,
        group=np.arange(len(lo)),
        rows=shown.sizes,
        published=published_texts(labels).take(pa.array(labels.of_group)),
        lowest=texts.take(pa.array(lo)),
        highest=texts.take(pa.array(top)),
        values=hi - lo + 1 if labels.open_values is None else labels.open_values,
        missing=missing,
        cost=interval_costs(domain, lo, hi, measure, node=labels.nodes),
    )


def _suppressed(domain: Domain, rows: int, publish: Mapping[str, Style] | None) -> pa.Table:
    shown = [] if publish is None else [value for _, value in published_as(domain, publish).values()]
    texts, last = value_texts(domain), domain.size - (2 if domain.missing >= 0 else 1)
    ends = texts.take(pa.array([0, last])) if last >= 0 else pa.nulls(2, texts.type)
    return _lines(
        domain,
        group=[-1],
        rows=[rows],
        published=pa.array(shown if len(shown) == 1 else [None], pa.string()),
        lowest=ends[:1],
        highest=ends[1:],
        values=[domain.size],
        missing=[domain.missing >= 0],
        cost=[1.0],
    )


def _lines(domain: Domain, **columns: Any) -> pa.Table:  # noqa: ANN401 - arrays and lists
    """Return lines of one attribute in the order and the types of a mapping."""
    many = len(columns["rows"])
    columns |= {"attribute": pa.array([domain.name] * many, pa.string()), "weight": np.full(many, domain.weight)}
    types = {"group": pa.int32(), "rows": pa.int64(), "values": pa.int32()}
    return pa.table({name: pa.array(columns[name], types.get(name)) for name in COLUMNS if name in columns})


def published_texts(labels: Labels) -> pa.Array:
    """Return label → its published text: bounds, which are two columns, as the interval between them."""
    texts = [values.cast(pa.string()) for values in labels.values]
    if len(texts) == 1:
        return texts[0]
    lo, hi = texts
    return pc.if_else(pc.equal(lo, hi), lo, interval_texts(lo, hi))
