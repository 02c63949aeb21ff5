"""Explicit hierarchies: CSV files as people and ARX write them, nested mappings, specifications, binding."""

import datetime as dt
import json
import pickle
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from coterie.errors import ConfigError, HierarchyError
from coterie.hierarchies.hierarchy import Hierarchy

SHARED = Path("/work/shared/data/hierarchies")
EDUCATION = "Bachelors;High;*\nMasters;High;*\n11th;Low;*\n"
NESTED = {"High": ["Bachelors", "Masters"], "Low": ["11th"]}


def bind(hierarchy, values, **options):
    values = values if isinstance(values, pa.Array) else pa.array(values)
    counts = options.pop("counts", np.ones(len(values), dtype=np.int64))
    return hierarchy.bind(values, counts=counts, column="c", **options)


def read(tmp_path, text, **options):
    path = tmp_path / "h.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Hierarchy.from_csv(path, **options)


def paths(hierarchy):
    """Value … root, for each leaf."""
    tree = hierarchy.tree
    return [";".join(tree.path(node)) for node in tree.leaf_of.values()]


# --- CSV


@pytest.mark.parametrize(
    "text",
    [
        EDUCATION,
        EDUCATION.replace(";", ","),
        EDUCATION.replace(";", "\t"),
        "﻿" + EDUCATION,
        EDUCATION.encode("utf-16"),
        EDUCATION.replace("\n", "\r\n"),
        EDUCATION.replace("\n", "\n\n;;\n  \n"),
        EDUCATION.removesuffix("\n"),
        "value;group;any\n" + EDUCATION,
        "education,level 1,level 2\n" + EDUCATION.replace(";", ","),
        '"Bachelors";"High";"*"\n"Masters";High;*\n11th;"Low";*\n',
        "Bachelors;High;*\nMasters;High\n11th;Low;*\n",
        "Bachelors;High;*;;\nMasters;;High;*\n11th;Low;Low;*;*\n",
        "Bachelors;Bachelors;High;*\nMasters;High;*;*\n11th;11th;11th;Low;*\n",
        EDUCATION + "Masters;High;*\n",
    ],
)
def test_the_same_tree_however_it_is_written(tmp_path, text):
    hierarchy = read(tmp_path, text)
    assert paths(hierarchy) == ["Bachelors;High;*", "Masters;High;*", "11th;Low;*"]
    assert hierarchy == Hierarchy.from_mapping(NESTED)
    assert hierarchy.source == tmp_path / "h.csv"


def test_given_header_and_delimiter(tmp_path):
    text = "a|x;y|*\nb|x;y|*\nc|z|*\n"
    assert paths(read(tmp_path, text)) == ["a;x;y;*", "b;x;y;*", "c;z;*"]
    assert paths(read(tmp_path, text, header=True)) == ["b;x;y;*", "c;z;*"]
    assert paths(read(tmp_path, "name;group;all\n" + EDUCATION, header=False))[0] == "name;group;all;*"
    assert read(tmp_path, "é;A;*\nb;A;*\n".encode("cp1252"), encoding="cp1252").tree.labels[2] == "é"


@pytest.mark.parametrize(
    "text",
    [
        "a;X\nb;Y\nc;Y\nd;Z\n",  # groups without a root: the first row is no header
        "a;X;*\nb;X;*\nc;Y;*\n",
        "a;b\nc;b\n",
        "a;*\nb;*\nc;*\n",
        "x;Low;*\n1;High;all\n",
        "x;Low;*\ny;High;all\nz;High;all\n",
    ],
)
def test_the_first_row_is_not_taken_for_a_header(tmp_path, text):
    assert text.split(";")[0] in read(tmp_path, text).tree.leaf_of


@pytest.mark.parametrize(
    ("text", "root", "expected"),
    [
        ("a;X;Any\nb;Y;Any\n", None, ["a;X;Any", "b;Y;Any"]),
        ("a;X;Person\nb;Person\n", None, ["a;X;Person", "b;Person"]),
        ("a;X\nb;Y\n", None, ["a;X;*", "b;Y;*"]),
        ("a;X;ANY\nb;Y\n", None, ["a;X;ANY", "b;Y;ANY"]),
        ("a;X;Person\nb;Y\n", None, ["a;X;Person;*", "b;Y;*"]),
        ("a;X;Person\nb;Y\n", "Person", ["a;X;Person", "b;Y;Person"]),
        ("a\nb\n", None, ["a;*", "b;*"]),
        ("All\nSome\n", None, ["All;*", "Some;*"]),
        ("a;*\n*;*\n", None, ["a;*", "*;*"]),
        ("a;X;*;Y\nb;Z\n", None, ["a;X;*;Y;**", "b;Z;**"]),
    ],
)
def test_the_root(tmp_path, text, root, expected):
    hierarchy = read(tmp_path, text, root=root)
    assert paths(hierarchy) == expected
    assert Hierarchy.from_spec(hierarchy.spec) == hierarchy


def test_a_value_named_as_its_group():
    alone = Hierarchy.from_rows([["Other", "Other", "*"], ["a", "*"]])
    assert paths(alone) == ["Other;*", "a;*"]
    beside = Hierarchy.from_rows([["Misc", "Other", "*"], ["Other", "Other", "*"], ["a", "*"]])
    assert paths(beside) == ["Misc;Other;*", "Other;Other;*", "a;*"]
    tree, codes = bind(beside, ["Other", "a"])
    assert tree.labels == ("*", "Other", "Other", "a")
    assert codes.tolist() == [0, 1]
    assert tree.whole_size.tolist() == [3, 2, 1, 1]
    # Straight to the root in its own row, a group in another: the same.
    assert Hierarchy.from_rows([["Misc", "Other", "*"], ["Other", "*"], ["a", "*"]]) == beside


def test_an_empty_value_has_its_place(tmp_path):
    hierarchy = read(tmp_path, ';Unknown;*\n"  ";Unknown;*\na;Known;*\n')
    assert paths(hierarchy) == [";Unknown;*", "  ;Unknown;*", "a;Known;*"]
    hierarchy.to_csv(tmp_path / "out.csv")
    assert Hierarchy.from_csv(tmp_path / "out.csv") == hierarchy
    assert Hierarchy.from_spec(hierarchy.spec) == hierarchy


def test_children_stand_in_the_order_of_their_first_rows():
    hierarchy = Hierarchy.from_rows([["b", "Y", "*"], ["a", "X", "*"], ["c", "*"], ["d", "Y", "*"]])
    assert list(hierarchy.tree.leaf_of) == ["b", "d", "a", "c"]


def test_rows_of_other_python_values():
    hierarchy = Hierarchy.from_rows([[17, "young", None], [18.0, "young", float("nan")], [Decimal("40.50"), "old"]])
    assert paths(hierarchy) == ["17;young;*", "18;young;*", "40.5;old;*"]


def test_written_rows_have_one_length_and_are_read_by_arx(tmp_path):
    hierarchy = Hierarchy.from_mapping({"High": {"University": ["Bachelors"]}, "Low": ["11th"], "None": []})
    hierarchy.to_csv(tmp_path / "h.csv")
    assert (tmp_path / "h.csv").read_text() == "Bachelors;University;High;*\n11th;11th;Low;*\nNone;None;None;*\n"
    with pytest.raises(ConfigError, match="exists already"):
        hierarchy.to_csv(tmp_path / "h.csv")
    hierarchy.to_csv(tmp_path / "h.csv", ["11th", "None", None, "11th"], force=True)
    assert (tmp_path / "h.csv").read_text() == "11th;Low;*\nNone;None;*\n"
    assert [file.name for file in tmp_path.iterdir()] == ["h.csv"]


def test_a_file_is_written_in_the_spelling_of_the_data(tmp_path):
    hierarchy = Hierarchy.from_mapping({"young": [17, 18]})
    hierarchy.to_csv(tmp_path / "h.csv", pa.array(["17.0", "18"]))
    assert (tmp_path / "h.csv").read_text() == "17.0;young;*\n18;young;*\n"


# --- mappings and specifications


def test_lists_and_mappings_at_any_depth():
    mapping = {
        "Numbers": [1, 2.5, {"Large": [1000, {"Larger": 10**9}]}],
        "Dates": {"2024": [dt.date(2024, 3, 5)], "Truth": [True]},
        "Alone": [],
        "Lone": None,
        "One": "child",
        3: ["three"],
    }
    assert paths(Hierarchy.from_mapping(mapping, root="Any")) == [
        "1;Numbers;Any",
        "2.5;Numbers;Any",
        "1000;Large;Numbers;Any",
        "1000000000;Larger;Large;Numbers;Any",
        "2024-03-05;2024;Dates;Any",
        "true;Truth;Dates;Any",
        "Alone;Any",
        "Lone;Any",
        "child;One;Any",
        "three;3;Any",
    ]
    assert paths(Hierarchy.from_mapping(["a", {"G": ["b"]}])) == ["a;*", "b;G;*"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("flat", Hierarchy.flat()),
        ({"flat": True}, Hierarchy.flat()),
        ({"intervals": [5, 10, 20], "start": 0}, Hierarchy.intervals(5, 10, 20)),
        ({"intervals": 5, "start": 2}, Hierarchy.intervals(5, start=2)),
        ({"prefixes": [5, 3]}, Hierarchy.prefixes(5, 3)),
        ({"prefixes": [], "mask": "#"}, Hierarchy.prefixes(mask="#")),
        ({"dates": ["month", "year"]}, Hierarchy.dates("month", "year")),
        ({"dates": []}, Hierarchy.dates("day", "month", "quarter", "year", "decade")),
        (NESTED, Hierarchy.from_mapping(NESTED)),
        ({"tree": NESTED}, Hierarchy.from_mapping(NESTED)),
        ({"tree": NESTED, "root": "Any"}, Hierarchy.from_mapping(NESTED, root="Any")),
        ({"tree": {"dates": ["Medjool"]}}, Hierarchy.from_mapping({"dates": ["Medjool"]})),
        (["a", "b"], Hierarchy.from_mapping({"a": [], "b": []})),
        (Hierarchy.flat(), Hierarchy.flat()),
    ],
)
def test_specifications(spec, expected):
    hierarchy = Hierarchy.from_spec(spec)
    assert hierarchy == expected
    assert Hierarchy.from_spec(json.loads(json.dumps(hierarchy.spec))) == expected


def test_a_tree_is_spelled_out_as_people_write_it():
    assert Hierarchy.from_mapping(NESTED).spec == {"tree": NESTED}
    deep = {"X": {"High": ["a"], "Low": ["b", "c"]}, "Y": {"Z": ["d"]}}
    assert Hierarchy.from_mapping(deep, root="Any").spec == {"tree": deep, "root": "Any"}
    mixed = ["a", {"G": ["b", {"H": ["c"]}]}, "d"]
    assert Hierarchy.from_mapping(mixed).spec == {"tree": mixed}
    assert Hierarchy.from_mapping({"a": [], "b": None}).spec == {"tree": ["a", "b"]}


def test_paths_start_at_the_base(tmp_path):
    (tmp_path / "education.csv").write_text(EDUCATION)
    (tmp_path / "education.json").write_text(json.dumps(NESTED))
    (tmp_path / "education.toml").write_text('[tree]\nHigh = ["Bachelors", "Masters"]\nLow = ["11th"]\n')
    (tmp_path / "zip.toml").write_text("prefixes = [5, 3]")
    (tmp_path / "other.toml").write_text('csv = "education.csv"\nheader = false\n')
    expected = Hierarchy.from_mapping(NESTED)
    for name in ("education.csv", "education.json", "education.toml", "other.toml"):
        assert Hierarchy.from_spec(name, base=tmp_path) == expected
        assert Hierarchy.from_spec(tmp_path / name) == expected
    assert Hierarchy.from_spec({"csv": "education.csv", "delimiter": ";"}, base=tmp_path) == expected
    assert Hierarchy.from_spec("zip.toml", base=tmp_path) == Hierarchy.prefixes(5, 3)


def test_kinds_equality_and_pickles():
    rules = [Hierarchy.flat(), Hierarchy.intervals(5), Hierarchy.prefixes(), Hierarchy.dates()]
    tree = Hierarchy.from_mapping(NESTED)
    assert [rule.kind for rule in rules] == ["flat", "intervals", "prefixes", "dates"]
    assert tree.kind == "tree"
    assert len({*rules, tree, Hierarchy.intervals(5.0), Hierarchy.intervals("5")}) == 5
    assert all(rule.tree is None for rule in rules)
    for hierarchy in (*rules, tree):
        assert pickle.loads(pickle.dumps(hierarchy)) == hierarchy
        assert len(repr(hierarchy)) < 100


# --- binding


def test_a_bound_tree_holds_present_values_and_remembers_the_whole():
    tree, codes = bind(Hierarchy.from_mapping(NESTED), ["11th", "Masters"], missing=True)
    assert tree.labels == ("*", "High", "Masters", "Low", "11th", "")
    assert codes.tolist() == [1, 0]
    assert codes.dtype == np.int32
    assert tree.parent.tolist() == [-1, 0, 1, 0, 3, 0]
    assert tree.first.tolist() == [0, 0, 0, 1, 1, 2]
    assert tree.last.tolist() == [2, 0, 0, 1, 1, 2]
    assert tree.leaf_node.tolist() == [2, 4, 5]
    assert tree.depth.tolist() == [0, 1, 2, 1, 2, 1]
    assert tree.height.tolist() == [2, 1, 0, 1, 0, 0]
    assert tree.whole_size.tolist() == [4, 2, 1, 1, 1, 1]


def test_no_values_at_all():
    for hierarchy in (Hierarchy.from_mapping(NESTED), Hierarchy.flat(), Hierarchy.intervals(5), Hierarchy.dates()):
        for values in (pa.array([], pa.string()), pa.array([], pa.null())):
            tree, codes = bind(hierarchy, values)
            assert (tree.leaves, tree.nodes, len(codes)) == (0, 1, 0)
            tree, _ = bind(hierarchy, values, missing=True)
            assert tree.labels == ("*", "")
            assert tree.height[0] >= 1
            assert tree.common_ancestor(0, 0).tolist() == [1]


@pytest.mark.parametrize(
    ("leaves", "values"),
    [
        (["17", "18"], pa.array([18, 17], pa.int8())),
        (["17", "18"], pa.array([18.0, 17.0])),
        (["17.0", "018"], pa.array([18, 17])),
        (["17.5", "18"], pa.array([Decimal("18.00"), Decimal("17.50")])),
        (["17", "18"], pa.array(["18.0", "17"])),
        (["0.1", "0.2"], pa.array([0.2, 0.1], pa.float32())),
        (["17", "18"], pa.array(["18", "17"]).dictionary_encode()),
        (["17", "18"], pa.array(["18", "17"], pa.large_string())),
        (["17", "18"], pa.chunked_array([["18"], ["17"]])),
        (["False", "True"], pa.array([True, False])),
        (["false", "TRUE"], pa.array([True, False])),
        (["2024-03-05", "2024-03-06"], pa.array([dt.date(2024, 3, 6), dt.date(2024, 3, 5)])),
        (["2024-03-05", "2024-03-06"],
         pa.array([dt.datetime(2024, 3, 6), dt.datetime(2024, 3, 5)], pa.timestamp("ns"))),
        (["2024-03-05T10:00:00", "2024-03-06 10:00:00.5"],
         pa.array([dt.datetime(2024, 3, 6, 10, 0, 0, 500000), dt.datetime(2024, 3, 5, 10)])),
        (["12345678901234567890", "18446744073709551615"], pa.array([2**64 - 1, 12345678901234567890], pa.uint64())),
    ],
)  # fmt: skip
def test_values_are_known_by_their_text(leaves, values):
    hierarchy = Hierarchy.from_mapping({"A": [leaves[0]], "B": [leaves[1]]})
    tree, codes = bind(hierarchy, values)
    assert codes.tolist() == [1, 0]
    assert tree.labels == ("*", "A", leaves[0], "B", leaves[1])


def test_an_exact_spelling_goes_first():
    hierarchy = Hierarchy.from_rows([["17.0", "A", "*"], ["17", "B", "*"]])
    assert bind(hierarchy, pa.array([17])).codes.tolist() == [0]
    assert bind(hierarchy, pa.array([17])).tree.labels == ("*", "B", "17")
    assert bind(hierarchy, ["17", "17.0"]).codes.tolist() == [1, 0]


def test_leading_zeros_count_in_text():
    with pytest.raises(HierarchyError, match="1 value "):
        bind(Hierarchy.from_mapping(["2138"]), ["02138"])


def test_a_hierarchy_as_deep_as_you_like():
    chain = [f"n{level}" for level in range(5000)]
    hierarchy = Hierarchy.from_rows([[*chain, "*"]])
    nested = []
    for label in chain:
        nested = {label: nested}
    assert Hierarchy.from_mapping(nested) == hierarchy
    assert Hierarchy.from_spec(hierarchy.spec) == hierarchy
    tree, _ = bind(hierarchy, ["n0"])
    assert tree.height[0] == tree.depth[-1] == 5000
    assert tree.ancestor_at(3).tolist() == [3]


def test_sixty_thousand_values():
    values = [f"v{number:05d}" for number in range(60_000)]
    hierarchy = Hierarchy.from_rows([[value, value[:4], value[:2], "*"] for value in values])
    tree, codes = bind(hierarchy, values[::-1])
    assert codes.tolist() == list(range(60_000))[::-1]
    assert tree.labels[tree.common_ancestor(0, 99)[0]] == "v000"
    assert tree.common_ancestor(0, 59_999).tolist() == [0]


# --- files of others


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder with ARX's and qiyuangong's hierarchies is not here")
def test_hierarchy_files_of_others(tmp_path):
    heights = {}
    for path in sorted(SHARED.glob("*/*")):
        hierarchy = Hierarchy.from_csv(path)
        rows = [line.split(";") for line in path.read_text().splitlines() if line]
        assert set(hierarchy.tree.leaf_of) == {row[0] for row in rows}
        for row in rows:
            assert hierarchy.tree.path(hierarchy.tree.leaf_of[row[0]]) == row
        hierarchy.to_csv(tmp_path / "again.csv", force=True)
        assert Hierarchy.from_csv(tmp_path / "again.csv") == hierarchy
        heights[path.stem.removeprefix("adult_").removeprefix("hierarchy_")] = int(hierarchy.tree.heights[0])
    assert heights["age"] == 4
    assert heights["education"] == 3
    assert heights["workclass"] == 2
    assert heights["sex"] == 1
