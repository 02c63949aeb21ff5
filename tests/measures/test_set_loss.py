"""What published sets leave open: the same in memory, in blocks, from the file, and for a file from elsewhere."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_measures

import coterie
from coterie.cli.app import main

SETTINGS = {"quasi": ["c", "d"], "method": "mondrian", "suppressed": "auto"}
cells = st.sampled_from(["red", "green", "blue", "{a, b}", "*", None])
tables = st.lists(st.tuples(cells, st.sampled_from(["x", "y", "z"])), min_size=2, max_size=24)


def columns(rows):
    return pa.table({name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate("cd")})


def by_hand(rows, groups):
    """The mean over cells, from the rows of each group."""
    total = 0.0
    for at in range(2):
        column = [row[at] for row in rows]
        for group in set(groups):
            held = [cell for cell, other in zip(column, groups, strict=True) if other == group]
            total += len(held) * naive_measures.set_share(column, held)
    return total / (2 * len(rows))


@settings(max_examples=30)
@given(tables, st.integers(1, 5))
def test_sets_count_alike_wherever_they_are_measured(tmp_path_factory, rows, k):
    k, table, folder = min(k, len(rows)), columns(rows), tmp_path_factory.mktemp("release")
    release = coterie.anonymize(table, k=k, **SETTINGS)
    expected = pytest.approx(by_hand(rows, release.groups.tolist()))
    release.write(folder / "out.parquet")
    pyarrow.parquet.write_table(table, folder / "in.parquet")
    assert release.measures["set_loss"] == expected
    assert coterie.measure(table, release.frame, k=k, **SETTINGS)["set_loss"] == expected
    found = coterie.measure(folder / "in.parquet", folder / "out.parquet", k=k, **SETTINGS)
    assert found["set_loss"] == expected


def test_a_file_from_elsewhere_may_list_its_sets_in_any_order():
    original = pa.table({"c": ["red", "green", "blue", "red", "green", "grey"]})
    published = pa.table({"c": ["{red, green}", "{green, red, red}", "*", "{red, green}", "{red, green}", "*"]})
    found = coterie.measure(original, published, quasi=["c"], k=2)
    assert found["gcp"] == 1  # any two values cost as much as all
    assert found["set_loss"] == pytest.approx((4 * 1 + 2 * 3) / (6 * 3))
    assert found.attributes["c"].set_loss == found["set_loss"]


def test_a_set_that_is_too_long_is_any_value_and_loses_everything():
    values = [f"v{at:02}" for at in range(24)]
    release = coterie.anonymize(pa.table({"c": values}), quasi=["c"], k=24)
    assert set(release.frame["c"].to_pylist()) == {"*"}
    assert release.measures["set_loss"] == 1


def test_blocks_add_up_to_what_the_file_says(tmp_path):
    rows = [(["red", "green", "blue", "grey"][at % 4], "xyz"[at % 3]) for at in range(120)]
    pyarrow.csv.write_csv(columns(rows), tmp_path / "in.csv")
    ways = {"engine": "blocks", "block_rows": 60, "k": 15, **SETTINGS}
    release = coterie.anonymize(tmp_path / "in.csv", output=tmp_path / "out.csv", **ways)
    found = coterie.measure(tmp_path / "in.csv", tmp_path / "out.csv", k=15, **SETTINGS)
    assert release.measures["set_loss"] == pytest.approx(found["set_loss"])
    assert 0 < found["set_loss"] < 1


@pytest.mark.parametrize("sets", [True, False])
def test_the_command_line_says_what_sets_leave_open(sets, tmp_path, capsys):
    """NCP says that nothing is left of two of four values."""
    rows = [f"{'abcd'[at // 2 if sets else at // 4]},{at}" for at in range(8)]
    (tmp_path / "in.csv").write_text("\n".join(["c,n", *rows]) + "\n")
    source, output, roles = str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), ["--quasi", "c", "-k", "4"]
    assert main(["anonymize", source, *roles, "--keep", "n", "--method", "mondrian", "-o", output]) == 0
    capsys.readouterr()
    assert main(["measure", source, output, *roles]) == 0
    said = capsys.readouterr().out.splitlines()
    head = next(at for at, each in enumerate(said) if each.startswith("column"))
    assert ("set_loss" in said[head]) == sets
    assert said[head + 2].split() == ["c", "1", *("1.0000 100.0 % 0.3333" if sets else "0.0000 0.0 %").split()]
