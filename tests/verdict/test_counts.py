"""Counts of the verdict against their plain twins, in memory and on disk."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_verdict as naive

from coterie.settings.config import Config
from coterie.verdict.counts import Exposure, PublishedRows
from coterie.verdict.inference import infer_column
from coterie.verdict.shares import shapley_shares
from coterie.verification.arrow import ArrowCounter
from coterie.verification.duckdb_counts import counting
from coterie.verification.verify import verify_table

CELLS = {
    "q": st.sampled_from(["[1-5]", "[6-9]", "*"]),
    "a": st.none() | st.integers(0, 2),
    "b": st.none() | st.floats(0, 1, width=16) | st.just(float("nan")),
    "s": st.none() | st.sampled_from("xyz"),
}
ROWS = st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=12)
SCHEMA = pa.schema([("q", pa.string()), ("a", pa.int64()), ("b", pa.float64()), ("s", pa.string())])


def tidy(rows):
    """NaN is missing, as everywhere."""
    return [{name: None if cell != cell else cell for name, cell in row.items()} for row in rows]


def held(rows, who=None):
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    found = verify_table(table, quasi=["q"])
    who = None if who is None else pa.chunked_array([who])
    return PublishedRows.of_table(ArrowCounter(table, ["q"], who=who, known=(found.class_of_row, found.groups)))


@given(rows=ROWS, k=st.integers(1, 4))
def test_exposed_rows_are_those_of_the_twin(rows, k):
    table, plain = held(rows), tidy(rows)
    for columns in ([], ["a"], ["b"], ["a", "b"], ["a", "b", "s"]):
        found = Exposure.of(table.sizes(columns), k)
        assert found.below == naive.exposed(plain, ["q", *columns], k)
        assert found.unique == naive.exposed(plain, ["q", *columns], 2)


@given(rows=ROWS, k=st.integers(1, 4), data=st.data())
def test_people_are_counted_where_they_are_known(rows, k, data):
    who = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    found = Exposure.of(held(rows, who).sizes(["a"]), k)
    assert found.below == naive.exposed(tidy(rows), ["q", "a"], k, who=who)
    assert found.unique == naive.exposed(tidy(rows), ["q", "a"], 2, who=who)


@given(rows=ROWS)
def test_inferred_rows_and_gains_are_those_of_the_twin(rows):
    found = infer_column(held(rows), "s")
    alone, gain = naive.inferred(tidy(rows), ["q"], "s")
    assert found.rows == alone
    assert found.gain == pytest.approx(gain)


@given(rows=ROWS, k=st.integers(2, 4))
def test_shares_are_those_of_all_orders(rows, k):
    table = held(rows)
    base = Exposure.of(table.sizes(()), k).below
    shares = shapley_shares(["a", "b", "s"], lambda some: Exposure.of(table.sizes(sorted(some)), k).below)
    assert shares == pytest.approx(naive.shapley(tidy(rows), ["q"], ["a", "b", "s"], k))
    assert sum(shares.values()) + base == pytest.approx(Exposure.of(table.sizes(["a", "b", "s"]), k).below)


def test_many_columns_share_what_all_expose_and_equal_ones_get_equal_shares():
    names = [f"c{at}" for at in range(7)]

    def exposed(some):
        return 100 if some & {"c0", "c1"} else 0

    shares = shapley_shares(names, exposed)
    assert sum(shares.values()) == pytest.approx(100)
    assert shares["c0"] == shares["c1"] == pytest.approx(50)  # leaving one out would say 0 for both


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_on_disk_the_same_is_counted(tmp_path, ending):
    rng = np.random.default_rng(1)
    rows = [
        {
            "q": f"[{low}-{low + 4}]",
            "a": None if rng.random() < 0.1 else int(rng.integers(4)),
            "b": float(rng.integers(6)) / 2,
            "s": None if rng.random() < 0.1 else "xyz"[rng.integers(3)],
        }
        for low in rng.integers(0, 9, 300)
    ]
    table, path = held(rows), tmp_path / f"t.{ending}"
    if ending == "csv":
        from pyarrow import csv

        csv.write_csv(table.held.table, path)
    else:
        from pyarrow import parquet

        parquet.write_table(table.held.table, path)
    with counting(path, Config(quasi=["q"])) as (file, counter):
        disk = PublishedRows(counter, table.rows, lambda names: [table.held.table.select(list(names))])
        assert file.schema.names == ["q", "a", "b", "s"]
        for columns in ((), ("a",), ("a", "b", "s")):
            assert Exposure.of(disk.sizes(columns), 5) == Exposure.of(table.sizes(columns), 5)
        assert infer_column(disk, "s") == pytest.approx(infer_column(table, "s"))
