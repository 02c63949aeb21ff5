"""Random tables, trees and groupings: what is published contains what was there, and measures agree with the papers."""

import datetime as dt
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_measures, naive_publish, naive_verify

from coterie.measures.costs import interval_costs
from coterie.measures.measures import measure_grouping
from coterie.measures.published import measure_release
from coterie.publishing.publish import publish, read_boxes
from coterie.settings.config import Config
from coterie.table.costs import Measure
from coterie.table.costs import interval_costs as costs_for_methods
from coterie.table.encode import encode
from coterie.table.grouping import Grouping
from coterie.verification.verify import verify_table

LETTERS = "abcdefgh"
ODD = ["*", "[1-2]", "{a}", "\\", "a, b", "x\\, y", "}", "", " ", "plain"]


def leaf_paths(node, path=("*",)):
    """Leaf → labels from the root down to it, of a nested mapping."""
    if isinstance(node, list):
        return {leaf: (*path, leaf) for leaf in node}
    return {leaf: found for label, part in node.items() for leaf, found in leaf_paths(part, (*path, label)).items()}


@st.composite
def nested_trees(draw):
    """A nested mapping over the letters a … h with branches of different heights."""
    names = iter(f"N{number}" for number in range(100))

    def split(leaves, depth):
        if len(leaves) <= 1 or depth == 3 or draw(st.booleans()):
            return list(leaves)
        cut = draw(st.integers(1, len(leaves) - 1))
        return {next(names): split(leaves[:cut], depth + 1), next(names): split(leaves[cut:], depth + 1)}

    cut = draw(st.integers(1, len(LETTERS) - 1))
    return {next(names): split(LETTERS[:cut], 1), next(names): split(LETTERS[cut:], 1)}


@st.composite
def releases(draw):
    """A table, its configuration and a grouping: numbers, decimals, dates, categories and trees, with missing cells."""
    rows = draw(st.integers(1, 24))
    tree = draw(nested_trees())
    missing = draw(st.booleans())

    def column(values):
        values = st.one_of(st.none(), values) if missing else values
        return draw(st.lists(values, min_size=rows, max_size=rows))

    days = st.integers(0, 400).map(lambda day: dt.date(2019, 11, 1) + dt.timedelta(days=day))
    columns = {
        "id": pa.array([f"person {row}" for row in range(rows)]),
        "number": pa.array(column(st.integers(-20, 99)), type=pa.int64()),
        "decimal": pa.array(column(st.integers(0, 40).map(lambda n: n / 4)), type=pa.float64()),
        "date": pa.array(column(days), type=pa.date32()),
        "odd": pa.array(column(st.sampled_from(ODD)), type=pa.string()).dictionary_encode(),
        "letter": pa.array(column(st.sampled_from(LETTERS)), type=pa.string()),
        "other": pa.array(
            draw(st.lists(st.integers(-(10**37), 10**37), min_size=rows, max_size=rows)), type=pa.decimal128(38)
        ),
    }
    quasi = draw(st.lists(st.sampled_from(["number", "decimal", "date", "odd", "letter"]), min_size=1, unique=True))
    k = draw(st.integers(1, 4))
    group = st.integers(-1 if draw(st.booleans()) else 0, max(rows // k, 1))
    labels = draw(st.lists(group, min_size=rows, max_size=rows))
    sizes = Counter(labels)
    labels = [label if sizes[label] >= k else -1 for label in labels]
    config = Config(
        quasi=quasi,
        identifiers=["id"],
        keep=[name for name in columns if name not in ("id", *quasi)],
        k=k,
        hierarchies={"letter": tree} if "letter" in quasi else {},
        weights={quasi[0]: draw(st.sampled_from([0.5, 1, 3]))},
        suppressed=draw(st.sampled_from(["auto", "remove"])),
        leaf_counts=draw(st.sampled_from(["present", "hierarchy"])),
    )
    return pa.table(columns), config, labels, leaf_paths(tree)


def make(release, **changes):
    """The release's parts: columns, configuration, encoded table, grouping and what is published."""
    columns, config, labels, _ = release
    config = config.replace(**changes) if changes else config
    table = encode(columns, config).table
    grouping = Grouping.of(table.codes, labels)
    return columns, config, table, grouping, publish(columns, table, grouping, config)


def texts(column):
    return column.cast(pa.string()).to_pylist()


@given(releases())
def test_every_original_lies_inside_its_published_value(release):
    columns, config, _, grouping, published = make(release)
    paths = release[3]
    for name in config.quasi:
        cells = texts(published.table.column(name))
        originals = texts(columns.column(name))
        for cell, row in zip(cells, published.kept, strict=True):
            value = originals[row]
            ancestors = (paths[value][:-1] if value else ("*",)) if name == "letter" else None
            assert naive_publish.contains(cell, value, ancestors=ancestors)
            if grouping.labels[row] < 0:
                assert cell == "*"


@given(releases())
def test_rows_keep_their_order_and_other_columns_their_values(release):
    before = release[0].to_pylist()
    columns, _, table, grouping, published = make(release)
    codes, labels = table.codes.copy(), grouping.labels.copy()
    publish(columns, table, grouping, release[1])
    assert columns.to_pylist() == before
    assert (table.codes == codes).all()
    assert (grouping.labels == labels).all()
    assert "id" not in published.table.column_names
    rest = [name for name in columns.column_names if name not in ("id", *release[1].quasi)]
    kept = columns.take(pa.array(published.kept))
    assert published.table.select(rest).to_pylist() == kept.select(rest).to_pylist()
    assert published.table.schema.field("other") == columns.schema.field("other")
    assert [name for name in columns.column_names if name != "id"] == published.table.column_names
    assert (np.diff(published.kept) > 0).all()


STYLES = {
    "number": ["interval", "bounds", "mean", "median"],
    "decimal": ["interval", "bounds", "mean", "median"],
    "date": ["interval", "bounds"],
    "odd": ["set", "ancestor"],
    "letter": ["set", "ancestor"],
}


@given(releases(), st.data())
def test_groups_of_k_rows_stay_k_anonymous_in_every_style(release, data):
    styles = {name: data.draw(st.sampled_from(STYLES[name])) for name in release[1].quasi}
    _, config, _, grouping, published = make(release, publish=styles)
    found = verify_table(published.table, quasi=config.quasi, k=config.k, roots=published.roots)
    assert found.passed
    names = [name for name in published.table.column_names if name != "other" and name in published_names(config)]
    cells = [published.table.column(name).to_pylist() for name in names]
    assert naive_verify.verify(cells, config.k)["class_of_row"] == found.class_of_row.tolist()
    if not grouping.suppressed.any():
        assert (published.class_of_group[grouping.labels] == found.class_of_row).all()


def published_names(config):
    return {f"{name}{end}" for name in config.quasi for end in ("", "_min", "_max")}


@given(releases(), st.data())
def test_published_cells_are_read_back(release, data):
    styles = {name: data.draw(st.sampled_from([s for s in STYLES[name] if s[0] != "m"])) for name in release[1].quasi}
    columns, config, table, grouping, published = make(release, publish=styles)
    rows = published.kept[grouping.labels[published.kept] >= 0]
    at = np.searchsorted(published.kept, rows)
    for position, domain in enumerate(table.domains):
        style = styles[domain.name]
        ends = [f"{domain.name}_min", f"{domain.name}_max"] if style == "bounds" else [domain.name]
        lower, *upper = [published.table.column(name) for name in ends]
        read = read_boxes(lower, domain, upper=upper[0] if upper else None, style=style)
        assert not read.unread.any()
        codes = table.codes[rows, position]
        assert ((read.lo[at] <= codes) & (codes <= read.hi[at])).all()
        if style == "interval":
            lo, hi = (end[grouping.labels[rows], position] for end in (grouping.lo, grouping.hi))
            joined = (hi == domain.missing) & (lo < hi)
            assert (read.lo[at] == np.where(joined, 0, lo)).all()
            assert (read.hi[at] == hi).all()
    # In bounds a null is the root; that all of a group's values were missing is not to be seen.
    unclear = any(style == "bounds" and columns.column(name).null_count for name, style in styles.items())
    if not grouping.suppressed.any() and not unclear:
        measured = measure_release(columns, published.table, table=table, config=config)
        more = {"class_of_group": published.class_of_group, "listed": published.listed}
        direct = measure_grouping(table, grouping, config, **more)
        assert dict(measured) == pytest.approx(dict(direct))
        assert measured["outside"] == 0


@given(releases())
def test_measures_are_what_the_formulas_say(release):
    columns, config, labels, paths = release
    table = encode(columns, config).table
    grouping = Grouping.of(table.codes, labels)
    attributes = []
    for name in config.quasi:
        values = columns.column(name).to_pylist()
        attribute = {"values": values, "weight": config.weights.get(name, 1.0)}
        if name == "date":
            attribute["values"] = [value and value.toordinal() for value in values]
        elif name == "letter":
            attribute["paths"] = paths
        elif name == "odd":
            attribute["paths"] = {value: ("*", value) for value in values if value is not None}
        attributes.append(attribute)
    groups = [np.flatnonzero(grouping.labels == group).tolist() for group in range(grouping.groups)]
    expected = naive_measures.measure(
        attributes, groups, rows=len(labels), k=config.k, leaf_counts=config.leaf_counts, beta=2.0
    )
    found = measure_grouping(table, grouping, config, beta=2.0)
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["outside"] == 0
    assert found["fully_generalised"] >= found["suppressed"]


@settings(max_examples=25)
@given(releases(), st.sampled_from(["present", "hierarchy"]))
def test_measures_and_methods_see_the_same_costs(release, leaf_counts):
    table = encode(release[0], release[1]).table
    for domain in table.domains:
        lo, hi = np.triu_indices(domain.size)
        mine = interval_costs(domain, lo=lo.astype(np.int32), hi=hi.astype(np.int32), leaf_counts=leaf_counts, beta=1.5)
        theirs = [
            costs_for_methods(domain, lo, hi, measure)
            for measure in (
                Measure("ncp", leaf_counts),
                Measure("height"),
                Measure("whd"),
                Measure("whd", beta=1.5),
            )
        ]
        shares = (mine.ncp, mine.height_loss, mine.distortion, mine.height_distortion)
        for a, b in zip(shares, theirs, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
