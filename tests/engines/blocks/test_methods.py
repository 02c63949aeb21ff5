"""Methods in blocks that are not of the usual kind: one level for a whole column, and rows published one by one."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from block_cases import config_of, run, table_of

import coterie
from coterie.engines.blocks import plan as blocks_plan
from coterie.engines.blocks import write as blocks_write
from coterie.engines.blocks.store import BlockStore
from coterie.engines.cuts import CutTree
from coterie.engines.request import kind_of
from coterie.errors import ConfigError, DataError, VerificationError
from coterie.table.recoding import OneByOne
from coterie.verification.rows import NAME, count_pairs

KEY = {"key": "a secret of the tests"}


def with_gaps(table, holes):
    return table.set_column(1, "age", pc.if_else(pa.array(np.arange(table.num_rows) < holes), None, table.column(1)))


@pytest.mark.parametrize("options", [{}, {"suppress_at_most": 0.05}, {"loss": "discernability"}])
def test_whole_columns_are_recoded_alike_in_every_block(options, tmp_path):
    table, config = table_of(600), config_of(method="incognito", options=options, block_rows=200)
    release = run(tmp_path, table, config)
    assert release.blocks > 1
    published = release.arrow
    assert coterie.verify(published, quasi=config.quasi, k=config.k).passed
    assert release.measures["outside"] == 0
    assert release.measures["suppressed"] <= 0.05 * 600
    whole = coterie.anonymize(table, config=config.replace(engine="memory"))
    one = run(tmp_path, table, config.replace(block_rows=None), out="one.parquet")
    assert one.arrow.equals(whole.arrow)
    assert dict(one.measures) == pytest.approx({name: whole.measures[name] for name in one.measures})


@pytest.mark.parametrize("partition", ["greedy", "mondrian"])
@pytest.mark.parametrize("holes", [0, 4, 8])
def test_rows_one_by_one_keep_their_promise_in_every_block(partition, holes, tmp_path):
    table = with_gaps(table_of(500), holes)
    settings = {"method": "nh", "missing": "suppress", "options": {"partition": partition, **KEY}}
    config = config_of(**settings, block_rows=150)
    release = run(tmp_path, table, config)
    assert release.blocks > 1
    (check,) = release.verification.checks
    assert (check.name, check.wanted, check.found, check.passed) == (NAME, 5, 5, True)
    assert release.verification.wanted is None
    assert release.arrow.num_rows == 500 - (holes if holes < 5 else 0)
    assert release.measures["outside"] == 0
    assert not coterie.verify(release.arrow, quasi=config.quasi, k=5).passed
    assert "key" not in (tmp_path / "out.parquet.coterie.toml").read_text().replace(
        "but for what the secret option key", ""
    )
    again = run(tmp_path, table, config.replace(threads=3), force=True)
    assert again.place.output_sha256 == release.place.output_sha256


@pytest.mark.parametrize("publish", [{}, {"age": "bounds"}, {"region": "set"}])
def test_rows_one_by_one_in_one_block_are_the_same_as_in_memory(publish, tmp_path):
    table = with_gaps(table_of(300), 7)
    config = config_of(method="nh", options=KEY, publish=publish, missing="suppress")
    release = run(tmp_path, table, config)
    whole = coterie.anonymize(table, config=config.replace(engine="memory"))
    assert release.arrow.equals(whole.arrow)
    assert release.verification.checks == whole.verification.checks
    for name in ("rows", "groups", "k", "largest", "suppressed", "wanted"):
        assert getattr(release.verification, name) == getattr(whole.verification, name), name
    assert dict(release.measures) == pytest.approx({name: whole.measures[name] for name in release.measures})


def test_blocks_draw_apart_and_afresh_without_a_key(tmp_path, monkeypatch):
    """Twice the same rows, in two blocks: were the draws the same, one block would tell of the other."""
    monkeypatch.setattr(blocks_plan, "plant", lambda *_, **__: CutTree.by_row(200))  # wherever it would cut
    half = table_of(200).sort_by("age")
    twice = pa.concat_tables([half, half])
    table = twice.append_column("half", pa.array(["one"] * 200 + ["two"] * 200))
    options = {"partition": "mondrian", **KEY}
    settings = {"quasi": ["age", "half"], "hierarchies": {}, "method": "nh", "options": options}
    config = config_of(columns=table.column_names, **settings, block_rows=200)
    release = run(tmp_path, table, config)
    ages = release.arrow.column("age").to_pylist()
    assert release.blocks == 2
    assert sorted(ages[:200]) == sorted(ages[200:])
    assert ages[:200] != ages[200:]
    drawn = [run(tmp_path, table, config.replace(options={}), force=True).place.output_sha256 for _ in range(2)]
    assert len({*drawn, release.place.output_sha256}) == 3


def test_what_was_written_otherwise_is_found_by_its_rings(tmp_path, monkeypatch):
    """One cell of one row changes on its way to the file: no class of equal rows could show that."""
    true = blocks_write.BlockStripes.stripes

    def forged(self, progress=None):
        for table in true(self, progress):
            ages = table.column("age").to_pylist()
            ages[40] = "200" if not ages[40].startswith("[") else "[18-18]"
            yield table.set_column(table.column_names.index("age"), "age", pa.array(ages))

    monkeypatch.setattr(blocks_write.BlockStripes, "stripes", forged)
    with pytest.raises(VerificationError, match=r"original rows lie inside fewer than 5"):
        run(tmp_path, table_of(400), config_of(method="nh", block_rows=130, hierarchies={}))
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]


def test_rows_that_change_places_are_found(tmp_path, monkeypatch):
    true = blocks_write.BlockStripes.stripes

    def turned(self, progress=None):
        for table in true(self, progress):
            yield table.take(pa.array(np.roll(np.arange(table.num_rows), 1)))

    monkeypatch.setattr(blocks_write.BlockStripes, "stripes", turned)
    with pytest.raises(VerificationError, match="by rows is wanted"):
        run(tmp_path, table_of(400), config_of(method="nh", block_rows=130))


def test_rows_that_are_missing_or_too_many_are_found(tmp_path, monkeypatch):
    true = blocks_write.BlockStripes.stripes
    for change in (lambda table: table.slice(1), lambda table: pa.concat_tables([table, table.slice(0, 1)])):

        def changed(self, progress=None, change=change):
            yield from map(change, true(self, progress))

        monkeypatch.setattr(blocks_write.BlockStripes, "stripes", changed)
        with pytest.raises(DataError, match="another number of rows"):
            run(tmp_path, table_of(200), config_of(method="nh", block_rows=60))


def test_stripes_do_not_matter_to_rings(tmp_path, monkeypatch):
    from coterie.engines.blocks import run as blocks_run
    from coterie.files.formats import columnar

    table, config = with_gaps(table_of(400), 3), config_of(method="nh", options=KEY, missing="suppress", block_rows=90)
    whole = run(tmp_path, table, config)
    monkeypatch.setattr(blocks_run, "STRIPE_ROWS", 37)
    monkeypatch.setattr(columnar, "BATCH_ROWS", 23)
    pieces = run(tmp_path, table, config, out="pieces.parquet", row_group=61)
    assert pieces.arrow.equals(whole.arrow)


def test_rings_of_which_rows_are_missing_count_nothing(tmp_path):
    rows = OneByOne(np.zeros((6, 1), np.int32), np.array([0, 6]), np.zeros(6, np.int64), np.arange(6))
    store = BlockStore(tmp_path, stripe_rows=10)
    store.put_arrays(3, "one-by-one", **rows._asdict())
    again = OneByOne(**store.arrays(3, "one-by-one"))
    assert count_pairs(again, np.zeros((6, 2), np.int32), 3) == (3, 0, 0)
    assert count_pairs(again, np.zeros((5, 2), np.int32), 3).stray
    assert again.codes.dtype == np.int32


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "incognito", "refine": True}, "local search works on local recoding"),
        ({"method": "nh", "publish": {"age": "mean"}}, "without groups there is no mean"),
        ({"method": "nh", "privacy": ["l-diversity:2"]}, "guarantees beyond k-anonymity need groups"),
    ],
)
def test_what_these_methods_do_not_do_is_refused_in_blocks_too(changes, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        run(tmp_path, table_of(100), config_of(**changes))


def test_only_some_methods_publish_rows_one_by_one():
    assert kind_of(config_of(method="nh")).by_rows
    assert not kind_of(config_of(method="incognito")).by_rows
