"""The applied recoding as a table: it says of every group what the release shows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.naive_publish import contains

import coterie
from coterie.cli.app import main
from coterie.publishing.mapping import COLUMNS, mapping_table

TREE = {"North": {"Oslo": ["o1", "o2"], "Bergen": ["b1"]}, "South": ["s1", "s2", "s3"]}
ABOVE = {"o1": ["Oslo", "North"], "o2": ["Oslo", "North"], "b1": ["Bergen", "North"]}
METHODS = ("mondrian", "compact", "kmembers", "nh")


def above(value):
    return [*ABOVE.get(value, ["South"]), "*"]


@st.composite
def people(draw):
    rows = draw(st.integers(4, 30))
    ages = st.none() | st.integers(0, 9)
    return pa.table(
        {
            "age": pa.array(draw(st.lists(ages, min_size=rows, max_size=rows)), pa.int64()),
            "place": draw(st.lists(st.sampled_from(["o1", "o2", "b1", "s1", "s2"]), min_size=rows, max_size=rows)),
            "odd": draw(st.lists(st.sampled_from(["a", "b", "{c}", "*"]), min_size=rows, max_size=rows)),
        }
    )


def lines_of(release):
    """(group, attribute) → line."""
    return {(line["group"], line["attribute"]): line for line in mapping_table(release).to_pylist()}


@settings(max_examples=40)
@given(people(), st.sampled_from(METHODS), st.sampled_from([2, 3]), st.sampled_from(["category", "suppress"]))
def test_each_row_is_published_as_its_group_is_mapped(table, method, k, missing):
    weights = {"age": 2.0, "odd": 0.5}
    try:
        release = coterie.anonymize(
            table,
            quasi=["age", "place", "odd"],
            hierarchies={"place": TREE},
            weights=weights,
            k=k,
            method=method,
            missing=missing,
        )
    except coterie.InfeasibleError:
        return
    lines = lines_of(release)
    box = np.full(table.num_rows, -1)
    box[release.rows] = release.grouping.published_boxes().labels  # group, or box where rows are published one by one
    published = dict(zip(release.published.kept.tolist(), release.arrow.to_pylist(), strict=True))
    for row, values in enumerate(table.to_pylist()):
        for name, value in values.items():
            line = lines[int(box[row]), name]
            assert line["published"] == (str(published[row][name]) if row in published else None) or (
                row in published and line["published"] is published[row][name] is None
            )
            text = None if value is None else str(value)
            if row in published:
                assert contains(line["published"], text, ancestors=above(value) if name == "place" else None)
            if value is None and box[row] >= 0:
                assert line["missing"]
            elif name == "age" and value is not None:
                assert int(line["lowest"]) <= value <= int(line["highest"])
    loss = sum(line["rows"] * line["weight"] * line["cost"] for line in lines.values())
    assert loss == pytest.approx(release.measures["ncp"])
    assert sum(line["share"] for line in lines.values()) == pytest.approx(1.0 if loss else 0.0)
    for name in ("age", "place", "odd"):
        assert sum(line["rows"] for (_, each), line in lines.items() if each == name) == table.num_rows


PEOPLE = pa.table({"age": [20, 21, 30, 50, 51, 60], "sex": ["f", "f", "m", "m", "f", "m"]})
SETTINGS = {"quasi": ["age", "sex"], "k": 3, "method": "mondrian"}


def test_a_mapping_line_by_line():
    table = coterie.anonymize(PEOPLE, **SETTINGS).mapping()
    assert table.column_names == list(COLUMNS)
    columns = table.select(["group", "rows", "attribute", "published", "lowest", "highest", "values"]).to_pydict()
    assert list(zip(*columns.values(), strict=True)) == [
        (0, 3, "age", "[20-30]", "20", "30", 3),
        (0, 3, "sex", "{f, m}", "f", "m", 2),
        (1, 3, "age", "[50-60]", "50", "60", 3),
        (1, 3, "sex", "{f, m}", "f", "m", 2),
    ]
    assert table["cost"].to_pylist() == [0.25, 1.0, 0.25, 1.0]
    assert table["share"].to_pylist() == [0.1, 0.4, 0.1, 0.4]


@pytest.mark.parametrize(("style", "first"), [("bounds", "[20-30]"), ("median", "21"), ("interval", "[20-30]")])
def test_every_form_of_publishing_becomes_one_text(style, first):
    lines = lines_of(coterie.anonymize(PEOPLE, **SETTINGS, publish={"age": style}))
    assert lines[0, "age"]["published"] == first


def test_suppressed_rows_are_one_group():
    mask = [False] * 6 + [True] * 2
    table = pa.concat_tables([PEOPLE, PEOPLE.slice(0, 2)])
    release = coterie.anonymize(table, **SETTINGS, suppress_rows=mask)
    last = release.mapping().to_pylist()[-2:]
    assert [(line["group"], line["rows"], line["published"], line["cost"]) for line in last] == [
        (-1, 2, None, 1.0),
        (-1, 2, None, 1.0),
    ]
    assert (last[0]["lowest"], last[0]["highest"], last[0]["values"]) == ("20", "60", 6)


def test_a_mapping_is_a_frame_of_the_callers_kind():
    kinds = {pd.DataFrame: PEOPLE.to_pandas(), pl.DataFrame: pl.from_arrow(PEOPLE), pa.Table: PEOPLE}
    for kind, data in kinds.items():
        found = coterie.anonymize(data, **SETTINGS).mapping()
        assert isinstance(found, kind)
        assert found.shape == (4, 11)


@pytest.mark.parametrize("publish", [{}, {"b": "set"}])
@pytest.mark.parametrize("leaf_counts", ["present", "hierarchy"])
def test_labels_above_one_value_cost_what_the_measures_count(leaf_counts, publish, tmp_path):
    """In the mapping, of a run in memory and in blocks, and in the explanations of the loss and of a row."""
    trees = {"a": {"A": ["a1", "ax", "ay"], "C": ["c1", "c2"]}, "b": {"P": ["p1", "px"], "Q": ["q1"]}}
    table = pa.table({"a": ["a1"] * 4 + ["c1", "c2"] * 2, "b": ["p1", "p1", "q1", "q1"] * 2})
    pyarrow.csv.write_csv(table, tmp_path / "in.csv")
    settings = {"quasi": ["a", "b"], "hierarchies": trees, "k": 2, "method": "incognito", "publish": publish}
    settings |= {"leaf_counts": leaf_counts}
    release = coterie.anonymize(table, **settings)
    assert set(release.arrow["a"].to_pylist()) == {"A", "C"}
    coterie.anonymize(
        tmp_path / "in.csv", **settings, engine="blocks", output=tmp_path / "o.csv", mapping=tmp_path / "m.csv"
    )
    stored = pyarrow.csv.read_csv(tmp_path / "m.csv").to_pylist()
    for lines in (release.mapping().to_pylist(), stored):
        total = sum(line["rows"] * line["weight"] * line["cost"] for line in lines)
        assert total == pytest.approx(release.measures["ncp"])
    rows = [release.explain(row) for row in range(8)]
    assert sum(row.cost for row in rows) == pytest.approx(release.measures["ncp"])
    groups = release.explain().coarsest
    assert sum(each.rows * each.cost for each in groups) == pytest.approx(release.measures["ncp"])


def test_the_command_line_writes_a_mapping(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = "age;sex\n" + "".join(f"{row['age']};{row['sex']}\n" for row in PEOPLE.to_pylist())
    (tmp_path / "people.csv").write_text(text)
    flags = ["anonymize", "people.csv", "--quasi", "age,sex", "-k", "3", "--method", "mondrian", "-o"]
    assert main([*flags, "out.csv", "--mapping", "map.csv"]) == 0
    assert "It contains original values: keep it secret." in capsys.readouterr().out
    assert (tmp_path / "map.csv").read_text().splitlines()[1].startswith("0;3;age;[20-30];20;30;3;")
    assert main([*flags, "two.csv", "--mapping", "map.parquet"]) == 0
    assert pa.parquet.read_table("map.parquet").num_rows == 4
    # Nothing is written where the mapping could not be.
    for name, reason in (("map.csv", "exists already"), ("map.doc", "cannot write"), ("x.csv", "needs its own file")):
        assert main([*flags, "x.csv", "--mapping", name]) == 2
        assert reason in capsys.readouterr().err
        assert not (tmp_path / "x.csv").exists()
    assert main([*flags, "y.csv", "--dry-run", "--mapping", "none.csv"]) == 0
    assert not (tmp_path / "none.csv").exists()


def test_values_count_the_set_that_is_published_not_the_span_of_the_alphabet():
    rows = {"job": ["a", "d", "b", "c", "b", "c"], "age": [1, 1, 50, 50, 90, 90]}
    release = coterie.anonymize(
        pa.table(rows), quasi=["job", "age"], types={"job": "category", "age": "number"}, k=2, method="mondrian"
    )
    lines = [line for line in release.mapping().to_pylist() if line["attribute"] == "job"]
    shown = {line["published"]: line["values"] for line in lines}
    for text, values in shown.items():
        assert values == len(text.strip("{}").split(", "))
    assert 2 in shown.values()
    for row in range(6):
        [job] = [each for each in release.explain(row).attributes if each.name == "job"]
        assert job.values == len(release.frame["job"][row].as_py().strip("{}").split(", "))


def test_a_group_of_missing_values_has_no_ends():
    table = pa.table({"age": [1, 1, None, None, 5, 5], "sex": list("aabbcc")})
    release = coterie.anonymize(table, quasi=["age", "sex"], k=2, method="compact")
    ends = {(line["lowest"], line["highest"], line["missing"]) for line in mapping_table(release).to_pylist()
            if line["attribute"] == "age"}  # fmt: skip
    assert ends == {("1", "1", False), (None, None, True), ("5", "5", False)}
