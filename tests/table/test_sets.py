"""Sets priced by their values in the search: what a group costs there, and what it does to releases."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from coterie.engines.request import SET_METHODS
from coterie.errors import ConfigError
from coterie.kernels.search.costs import box_costs
from coterie.settings.config import Config
from coterie.settings.registry import FIELDS
from coterie.table.encode import encode
from coterie.table.grouping import Grouping
from coterie.table.sets import PRICED_VALUES, priced_by_sets, sets_note

WAYS = {"quasi": ["c", "n"], "cost": "set"}
rows = st.lists(st.tuples(st.sampled_from("pqrst"), st.integers(0, 9)), min_size=2, max_size=9)


def table_of(drawn):
    return pa.table({"c": [cell for cell, _ in drawn], "n": [number for _, number in drawn]})


def by_hand(drawn, group, weight=1.0):
    """What a row of a group costs: the values of its set ÷ all values, and the width of its numbers ÷ their range."""
    values, numbers = {drawn[row][0] for row in group}, [drawn[row][1] for row in group]
    every, span = {cell for cell, _ in drawn}, [number for _, number in drawn]
    listed = len(values) / len(every) if len(values) > 1 else 0.0
    width = (max(numbers) - min(numbers)) / max(max(span) - min(span), 1)
    return weight * listed + width


@given(rows, st.data())
def test_a_group_costs_its_values(drawn, data):
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(drawn), max_size=len(drawn))))
    config = Config(**WAYS, weights={"c": 3.0})
    priced = priced_by_sets(encode(table_of(drawn), config).table, config)
    grouping = Grouping.of(priced.codes, labels)
    found = box_costs(priced.costs, grouping.lo, grouping.hi)
    groups = [np.flatnonzero(grouping.labels == at) for at in range(grouping.groups)]
    assert found == pytest.approx([by_hand(drawn, group, 3.0) for group in groups])


def test_missing_values_joined_with_others_cost_everything():
    config = Config(**WAYS)
    table = pa.table({"c": ["p", "q", "r", None], "n": [1, 1, 1, 1]})
    priced = priced_by_sets(encode(table, config).table, config)
    for labels, least in (([0, 1, 2, 0], 1.0), ([0, 0, 1, 2], 0.5), ([0, 0, 0, 0], 1.0)):
        grouping = Grouping.of(priced.codes, np.array(labels))
        assert box_costs(priced.costs, grouping.lo, grouping.hi)[0] >= least - 1e-12


def partitions(items, k):
    """Every way to part rows into groups of at least k."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for mask in range(2 ** len(rest)):
        group = [first, *(row for at, row in enumerate(rest) if mask >> at & 1)]
        if len(group) >= k:
            left = [row for at, row in enumerate(rest) if not mask >> at & 1]
            yield from ([group, *others] for others in partitions(left, k))


@settings(max_examples=15, deadline=None)
@given(rows.filter(lambda drawn: len(drawn) <= 7), st.integers(2, 3))
def test_the_optimum_is_that_of_all_partitions(drawn, k):
    k = min(k, len(drawn))
    release = coterie.anonymize(table_of(drawn), k=k, method="optimal", **WAYS)

    def loss(groups):
        return sum(len(group) * by_hand(drawn, group) for group in groups)

    found = [np.flatnonzero(release.groups == at) for at in range(release.groups.max() + 1)]
    assert loss(found) == pytest.approx(min(map(loss, partitions(list(range(len(drawn))), k))))


@pytest.mark.parametrize("method", SET_METHODS)
def test_sets_list_fewer_values(method):
    """Two kinds of work for each place: by NCP any two are as good as any others, by sets they are not."""
    rng = np.random.default_rng(0)
    count = 9 if method == "optimal" else 120
    table = pa.table({"c": rng.choice(list("abcdefgh"), count), "n": rng.integers(0, 3, count)})
    ways = {"quasi": ["c", "n"], "k": 3 if method == "optimal" else 8, "method": method}
    before, after = (coterie.anonymize(table, cost=cost, **ways) for cost in ("ncp", "set"))
    assert after.verification.passed
    assert after.measures["outside"] == 0
    assert after.measures["set_loss"] <= before.measures["set_loss"]


def test_columns_with_more_values_than_a_set_may_list_are_priced():
    """30 towns: sets of 2 to 20 of them are published as sets, so the search has to prefer the short ones."""
    rng = np.random.default_rng(1)
    table = pa.table({"c": rng.choice([f"t{town}" for town in range(30)], 300), "n": rng.integers(20, 60, 300)})
    before, after = (coterie.anonymize(table, quasi=["c", "n"], cost=cost, k=4) for cost in ("ncp", "set"))
    assert after.measures["set_loss"] < 0.5 * before.measures["set_loss"]
    assert after.verification.passed
    assert not any("cost" in note for note in after.notes)


def wide(*sizes, rows=600):
    """Columns c0, c1, … with this many values each, and a number."""
    columns = {f"c{at}": [f"{row % size:03}" for row in range(rows)] for at, size in enumerate(sizes)}
    return pa.table({**columns, "n": [row % 7 for row in range(rows)]})


@pytest.mark.parametrize(
    ("sizes", "priced", "named"),
    [((60, 90, 3), {"c0", "c1", "c2"}, []), ((150, 9, 60), {"c1", "c2"}, ["c0 (150 values)"]), ((201,), set(), ["c0"])],
)
def test_columns_with_the_fewest_values_are_priced_and_a_note_names_the_others(sizes, priced, named):
    table = wide(*sizes)
    config = Config(quasi=table.column_names, cost="set", types=dict.fromkeys(table.column_names[:-1], "category"))
    encoded = encode(table, config)
    searched = {
        domain.name.split()[0] for domain in priced_by_sets(encoded.table, config).domains if " " in domain.name
    }
    assert searched == priced
    note = sets_note(encoded.table.domains, config)
    assert bool(note) == bool(named)
    assert all(each in note for each in named)
    assert not any(each in note for each in priced)


def test_the_setting_says_how_many_values_are_priced():
    assert f"up to {PRICED_VALUES} values in total" in FIELDS["cost"].unless


def test_notes_are_on_the_command_line_in_the_provenance_and_in_blocks(tmp_path):
    csv.write_csv(wide(210), tmp_path / "in.csv")
    flags = ["--quasi", "c0,n", "--type", "c0=category", "-k", "3", "--cost", "set"]
    for engine in ("memory", "blocks"):
        out = tmp_path / f"{engine}.csv"
        done = CliRunner().invoke(
            app, ["anonymize", str(tmp_path / "in.csv"), "-o", str(out), "--engine", engine, *flags]
        )
        assert done.exit_code == 0, done.output
        assert "does not apply to c0 (210 values)" in " ".join(done.output.split())
        assert "c0 (210 values)" in out.with_suffix(".coterie.toml").read_text()


@pytest.mark.parametrize("column", [list("pq") * 4, [1, 2, 3, 4] * 2])
def test_a_setting_without_effect_is_noted(column):
    """Two values are all of them, and numbers are no sets."""
    table = pa.table({"c": column, "n": [1, 2] * 4})
    for cost, noted in (("set", True), ("ncp", False)):
        notes = coterie.anonymize(table, quasi=["c", "n"], k=2, cost=cost).notes
        assert any('cost = "set" has no effect' in note for note in notes) == noted


def test_what_cannot_be_priced_so_is_refused(tmp_path):
    table = pa.table({"c": list("pqrs"), "n": [1, 2, 3, 4]})
    for more, said in (
        ({"method": "mondrian"}, "cannot minimize the size of sets"),
        ({"options": {"suppress_above": 0.5}, "method": "compact"}, "share of NCP"),
        ({"privacy": [f"k-map:2:{tmp_path / 'people.csv'}"]}, "k-map"),
    ):
        with pytest.raises(ConfigError, match=said):
            coterie.anonymize(table, k=2, **WAYS, **more)


def test_blocks_are_grouped_as_in_memory(tmp_path):
    rng = np.random.default_rng(1)
    table = pa.table({"c": rng.choice(list("abcdef"), 60), "n": rng.integers(0, 4, 60)})
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    memory = coterie.anonymize(tmp_path / "in.parquet", k=4, **WAYS)
    blocks = coterie.anonymize(tmp_path / "in.parquet", output=tmp_path / "out.parquet", engine="blocks", k=4, **WAYS)
    assert blocks.arrow.to_pylist() == memory.arrow.to_pylist()
    assert blocks.measures["set_loss"] == pytest.approx(memory.measures["set_loss"])
