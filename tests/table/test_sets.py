"""Sets priced by their values in the search: what a group costs there, and what it does to releases."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.engines.request import SET_METHODS
from coterie.errors import ConfigError
from coterie.kernels.search.costs import box_costs
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.grouping import Grouping
from coterie.table.sets import priced_by_sets

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
