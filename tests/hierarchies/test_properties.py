"""Random trees, written down in many ways, against a twin that follows parent pointers."""

import csv
import datetime as dt
import io
import json
import tomllib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_tree import NaiveTree, interval_of
from tree_strategies import padded_rows, trees

from coterie.hierarchies.hierarchy import Hierarchy


def bind(hierarchy, values, **options):
    values = values if isinstance(values, pa.Array) else pa.array(values, pa.string())
    return hierarchy.bind(values, counts=np.ones(len(values), dtype=np.int64), column="c", **options)


def same_tree(left, right):
    assert left.labels == right.labels
    for name in ("parent", "first", "last", "leaf_node", "depth", "height", "whole_size"):
        a, b = getattr(left, name), getattr(right, name)
        assert a.dtype == b.dtype == np.int32, name
        np.testing.assert_array_equal(a, b, err_msg=name)


def naive_of(tree):
    parents = tuple(None if parent < 0 else parent for parent in tree.parent.tolist())
    return NaiveTree(tree.labels, parents)


@given(data=st.data())
def test_a_bound_tree_agrees_with_parent_pointers(data):
    naive = data.draw(trees())
    leaves, rows = data.draw(padded_rows(naive))
    present = data.draw(st.lists(st.sampled_from(leaves), min_size=1, unique=True))
    missing = data.draw(st.booleans())
    tree, codes = bind(Hierarchy.from_rows(rows), [naive.labels[leaf] for leaf in present], missing=missing)

    assert sorted(codes.tolist()) == list(range(len(present)))
    assert tree.leaves == len(present) + missing
    code_of = dict(zip(present, codes.tolist(), strict=True))
    group = data.draw(st.lists(st.sampled_from(present), min_size=1))
    among = [code_of[leaf] for leaf in group]
    found = int(tree.common_ancestor(min(among), max(among))[0])
    expected = naive.common_ancestor(group)
    assert tree.labels[found] == naive.labels[expected]
    # What lies under the ancestor is exactly what is present of what lies there in the whole tree.
    under = {code_of[leaf] for leaf in naive.leaves_of(expected) if leaf in code_of}
    assert under | ({len(present)} if missing and expected == 0 else set()) == set(
        range(tree.first[found], tree.last[found] + 1)
    )
    assert tree.depth[found] == naive.depth(expected)
    assert tree.height[found] == naive.height(expected)
    assert tree.whole_size[found] == len(naive.leaves_of(expected)) + (missing and expected == 0)


@given(data=st.data())
def test_codes_are_depth_first(data):
    naive = data.draw(trees())
    present = data.draw(st.lists(st.sampled_from(naive.leaves), min_size=1, unique=True))
    missing = data.draw(st.booleans())
    rows = [naive.row(leaf) for leaf in naive.leaves]
    tree, _ = bind(Hierarchy.from_rows(rows), [naive.labels[leaf] for leaf in present], missing=missing)
    flat = naive_of(tree)
    assert flat.parents[0] is None
    assert all(parent < node for node, parent in enumerate(flat.parents) if node)
    assert tree.leaf_node.tolist() == flat.leaves
    for node in range(tree.nodes):
        codes = [code for code, leaf in enumerate(flat.leaves) if node in flat.ancestors(leaf)]
        assert codes == list(range(tree.first[node], tree.last[node] + 1))
        assert tree.depth[node] == flat.depth(node)


@given(data=st.data())
def test_tree_queries_agree_with_parent_pointers(data):
    naive = data.draw(trees(max_nodes=40))
    rows = [naive.row(leaf) for leaf in naive.leaves]
    tree, _ = bind(Hierarchy.from_rows(rows), [naive.labels[leaf] for leaf in naive.leaves])
    flat = naive_of(tree)
    leaves = flat.leaves
    gaps = [flat.common_ancestor(leaves[gap : gap + 2]) for gap in range(len(leaves) - 1)]
    assert tree.gap_node.tolist() == gaps
    lo, hi = np.triu_indices(len(leaves))
    expected = [flat.common_ancestor(leaves[a : b + 1]) for a, b in zip(lo, hi, strict=True)]
    assert tree.common_ancestor(lo, hi).tolist() == expected
    for depth in range(int(tree.depth.max()) + 2):
        expected = [next(n for n in flat.ancestors(leaf) if flat.depth(n) <= depth) for leaf in leaves]
        assert tree.ancestor_at(depth).tolist() == expected


@given(data=st.data())
def test_csv_out_and_in_again(data, tmp_path):
    naive = data.draw(trees())
    hierarchy = Hierarchy.from_rows([naive.row(leaf) for leaf in data.draw(st.permutations(naive.leaves))])
    path = tmp_path / "tree.csv"
    path.write_bytes(hierarchy.csv_text().encode())
    again = Hierarchy.from_csv(path)
    assert again == hierarchy
    present = [naive.labels[leaf] for leaf in data.draw(st.lists(st.sampled_from(naive.leaves), unique=True))]
    same_tree(bind(hierarchy, present).tree, bind(again, present).tree)
    np.testing.assert_array_equal(bind(hierarchy, present).codes, bind(again, present).codes)


@given(data=st.data())
def test_csv_as_people_write_it(data, tmp_path):
    naive = data.draw(trees())
    _, rows = data.draw(padded_rows(naive))
    delimiter = data.draw(st.sampled_from(";,"))
    out = io.StringIO()
    ends = data.draw(st.sampled_from(["\r\n", "\n\r\n"]))
    csv.writer(out, delimiter=delimiter, lineterminator=ends, quoting=csv.QUOTE_ALL).writerows(rows)
    path = tmp_path / "tree.csv"
    path.write_text(out.getvalue(), encoding=data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])), newline="")
    assert Hierarchy.from_csv(path, delimiter=delimiter, header=False) == Hierarchy.from_rows(rows)


@given(data=st.data())
def test_spec_out_and_in_again(data):
    naive = data.draw(trees())
    _, rows = data.draw(padded_rows(naive))
    hierarchy = Hierarchy.from_rows(rows)
    spec = hierarchy.spec
    assert Hierarchy.from_spec(spec) == hierarchy
    assert Hierarchy.from_spec(json.loads(json.dumps(spec))) == hierarchy
    assert Hierarchy.from_spec(tomllib.loads(tomli_w.dumps({"h": spec}))["h"]) == hierarchy
    assert hash(Hierarchy.from_spec(spec)) == hash(hierarchy)


exact = st.one_of(st.integers(-300, 300).map(Fraction), st.decimals(-30, 30, places=2, allow_nan=False).map(Fraction))


@given(
    values=st.lists(exact, min_size=1, max_size=20, unique=True),
    unit=st.sampled_from(["1", "5", "0.5", "2.5", "0.1"]),
    factors=st.lists(st.integers(2, 4), max_size=2),
    start=st.sampled_from(["0", "1", "-7", "0.25"]),
)
def test_intervals_hold_their_values(values, unit, factors, start):
    widths = [Fraction(unit)]
    for factor in factors:
        widths.append(widths[-1] * factor)
    names = [format(Decimal(value.numerator) / Decimal(value.denominator), "f") for value in values]
    rule = Hierarchy.intervals(*(str(float(width)) for width in widths), start=start)
    tree, codes = bind(rule, names)
    assert np.argsort(codes).tolist() == sorted(range(len(values)), key=values.__getitem__)
    whole = all(number.denominator == 1 for number in (*values, *widths, Fraction(start)))
    levels = [width for width in widths if not (whole and width == 1)]
    for value, code in zip(values, codes, strict=True):
        node = tree.parent[tree.leaf_node[code]]
        for width in levels:
            low, high = interval_of(value, width, Fraction(start))
            assert low <= value < high
            assert tree.labels[node] == written(low, high, whole)
            node = tree.parent[node]
        assert node == 0


def written(low, high, whole):
    if whole:
        return f"[{low}-{high - 1}]" if low >= 0 else f"[{low}, {high - 1}]"
    return f"[{float(low):g}, {float(high):g})"


@given(st.lists(st.text("AB01.", max_size=6), min_size=1, max_size=20, unique=True), st.booleans())
def test_prefixes_hold_the_codes_that_start_with_them(codes, chosen):
    rule = Hierarchy.prefixes(4, 2) if chosen else Hierarchy.prefixes()
    tree, leaf_codes = bind(rule, codes)
    longest = max(map(len, codes))
    assert np.argsort(leaf_codes).tolist() == sorted(range(len(codes)), key=codes.__getitem__)
    leaves = set(tree.leaf_node.tolist())
    by_code = dict(zip(leaf_codes.tolist(), codes, strict=True))
    for node in range(1, tree.nodes):
        beneath = {by_code[code] for code in range(tree.first[node], tree.last[node] + 1)}
        if node in leaves:
            assert beneath == {tree.labels[node]}
        else:
            assert len(tree.labels[node]) == longest
            prefix = tree.labels[node].rstrip("*")
            assert beneath == {code for code in codes if code.startswith(prefix)}
            assert not chosen or len(prefix) in (4, 2)


@given(
    st.lists(st.datetimes(min_value=dt.datetime(1800, 1, 1)), min_size=1, max_size=15, unique=True),
    st.sampled_from(["date32", "us", "text"]),
)
def test_dates_by_the_calendar(moments, form):
    if form == "date32":
        values = pa.array(sorted({moment.date() for moment in moments}))
    else:
        values = pa.array(moments, pa.timestamp("us"))
        values = pa.array([moment.isoformat() for moment in moments]) if form == "text" else values
    tree, codes = bind(Hierarchy.dates("month", "quarter", "year", "decade"), values)
    days = values.to_pylist() if form == "date32" else moments
    for day, code in zip(days, codes, strict=True):
        labels = [tree.labels[node] for node in naive_of(tree).ancestors(int(tree.leaf_node[code]))]
        quarter = 1 + (day.month - 1) // 3
        year = f"{day.year:04d}"
        assert labels[1:] == [f"{year}-{day.month:02d}", f"{year}-Q{quarter}", year, f"{year[:3]}0s", "*"]
    if form != "text":
        assert np.argsort(codes).tolist() == sorted(range(len(days)), key=days.__getitem__)


@given(data=st.data())
def test_rules_out_and_in_again(data, tmp_path):
    numbers = data.draw(st.lists(st.integers(-50, 50), min_size=1, unique=True))
    moments = data.draw(st.lists(st.dates(), min_size=1, max_size=10, unique=True))
    texts = data.draw(st.lists(st.text("ab01", max_size=4), min_size=1, unique=True))
    cases = [
        (Hierarchy.intervals(5, 10), pa.array(numbers)),
        (Hierarchy.intervals("0.5", 2, start="0.25"), pa.array([number / 4 for number in numbers])),
        (Hierarchy.dates(), pa.array(moments)),
        (Hierarchy.dates("day", "year"), pa.array(moments).cast(pa.timestamp("ms"))),
        (Hierarchy.prefixes(), pa.array(texts)),
        (Hierarchy.prefixes(3, 1, mask="#"), pa.array(texts)),
        (Hierarchy.flat(), pa.array(texts)),
        (Hierarchy.flat(), pa.array(numbers)),
    ]
    for rule, values in cases:
        path = tmp_path / "rule.csv"
        path.write_bytes(rule.csv_text(values).encode())
        again = bind(Hierarchy.from_csv(path), values)
        same_tree(again.tree, bind(rule, values).tree)
        np.testing.assert_array_equal(again.codes, bind(rule, values).codes)
        assert Hierarchy.from_spec(json.loads(json.dumps(rule.spec))) == rule
