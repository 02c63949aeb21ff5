"""People with several rows, counted in blocks: every published class holds at least k of them."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from block_cases import config_of, run, table_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import coterie
from coterie.engines import cuts, leaves
from coterie.engines.blocks import write as blocks_write
from coterie.engines.leaves import LeafCounts
from coterie.errors import InfeasibleError, VerificationError
from coterie.files import tables
from coterie.table.codebook import CountedValues, make_codebook


def with_people(table, people, seed=1):
    """Rows of few people, some of whom nobody knows."""
    rng = np.random.default_rng(seed)
    who = pa.array(rng.integers(0, people, table.num_rows), mask=rng.random(table.num_rows) < 0.03)
    return table.append_column("who", who)


def people_of(published, table, config, kept=None):
    """Class → people, by a loop over rows."""
    kept = range(table.num_rows) if kept is None else kept
    classes: dict = {}
    rows = published.select(list(config.quasi)).to_pylist()
    for row, at in zip(rows, kept, strict=True):
        classes.setdefault(tuple(row.values()), set()).add(table.column("who")[int(at)].as_py())
    return classes


@pytest.mark.parametrize("method", ["mondrian", "compact", "incognito"])
@pytest.mark.parametrize("people", [12, 60])
def test_every_class_holds_k_people(method, people, tmp_path):
    table = with_people(table_of(600), people)
    config = config_of(method=method, entity="who", block_rows=150)
    release = run(tmp_path, table, config)
    assert release.blocks > 1
    assert "who" not in release.arrow.column_names
    counted = [len(each) for each in people_of(release.arrow, table, config).values()]
    check = release.verification.checks[-1]
    assert (check.name, check.found, check.passed) == ("k-anonymity of people", min(counted), True)
    assert min(counted) >= 5
    assert release.measures["outside"] == 0


@pytest.mark.parametrize("method", ["mondrian", "compact"])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_people_in_one_block_are_counted_as_in_memory(method, form, tmp_path):
    table = with_people(table_of(300), 40)
    table = table.set_column(1, "age", pc.if_else(pa.array(np.arange(300) % 40 == 7), None, table.column("age")))
    config = config_of(method=method, entity="who", missing="suppress", privacy=["l-diversity:2"])
    release = run(tmp_path, table, config, out=f"out.{form}")
    whole = coterie.anonymize(table, config=config.replace(engine="memory"))
    whole.write(tmp_path / f"whole.{form}")
    assert tables.read(tmp_path / f"whole.{form}").table.equals(release.arrow)
    for found, wanted in zip(release.verification.checks, whole.verification.checks, strict=True):
        assert found[:4] == wanted[:4]


def test_blocks_with_too_few_people_are_joined(tmp_path):
    """All rows of a person lie together: a block of one of them could never hold k people."""
    table = pa.table({"x": list(range(400)), "who": [f"P{row // 40}" for row in range(400)]})
    settings_ = {"quasi": ["x"], "hierarchies": {}, "identifiers": (), "sensitive": (), "k": 3, "block_rows": 40}
    settings_["columns"] = table.column_names
    assert run(tmp_path, table, config_of(**settings_)).blocks >= 10
    config = config_of(**settings_, entity="who")
    release = run(tmp_path, table, config, force=True)
    assert 1 < release.blocks <= 5
    assert min(len(each) for each in people_of(release.arrow, table, config).values()) >= 3
    with pytest.raises(InfeasibleError, match="'who' names 10"):
        run(tmp_path, table, config.replace(k=11), force=True)


def test_suppressed_rows_are_shown_only_if_they_are_of_k_people(tmp_path):
    table = with_people(table_of(300), 50).drop_columns(["name"])
    for same, shown in ((True, False), (False, True)):
        holes = np.arange(300) < 8
        gaps = table.set_column(0, "age", pc.if_else(pa.array(holes), None, table.column("age")))
        who = np.where(holes & same, 7, np.arange(300) % 50)
        gaps = gaps.set_column(gaps.column_names.index("who"), "who", pa.array(who))
        config = config_of(missing="suppress", entity="who", identifiers=(), block_rows=100, columns=table.column_names)
        release = run(tmp_path, gaps, config, force=True)
        assert release.arrow.num_rows == (300 if shown else 292)
        kept = np.arange(300) if shown else np.flatnonzero(~holes)
        counted = people_of(release.arrow, gaps, config, kept)
        assert release.verification.checks[-1].found == min(len(each) for each in counted.values())


def test_people_are_counted_in_what_was_written(tmp_path, monkeypatch):
    """Rows of one person change places with others on their way: classes keep their sizes, but not their people."""
    true = blocks_write.BlockStripes.stripes
    table = pa.table({"x": [row // 20 for row in range(200)], "who": [row % 20 for row in range(200)]})

    def turned(self, progress=None):
        for stripe in true(self, progress):
            yield stripe.take(pa.array(np.argsort(np.arange(200) % 20, kind="stable")))

    settings_ = {"quasi": ["x"], "hierarchies": {}, "identifiers": (), "sensitive": (), "k": 12, "block_rows": 60}
    settings_["columns"] = table.column_names
    monkeypatch.setattr(blocks_write.BlockStripes, "stripes", turned)
    with pytest.raises(VerificationError, match="Groups of 12 people are wanted, but"):
        run(tmp_path, table, config_of(**settings_, entity="who"))
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]


@settings(max_examples=15)
@given(data=st.data())
def test_whatever_the_table_every_class_has_k_people(data, tmp_path_factory):
    n = data.draw(st.integers(1, 100), label="rows")
    ages = data.draw(st.lists(st.sampled_from([0, 0, 1, 5, 7, 30, None]), min_size=n, max_size=n), label="ages")
    who = data.draw(st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=n, max_size=n), label="who")
    k = data.draw(st.integers(1, len(set(who))), label="k")
    if data.draw(st.booleans(), label="sorted"):
        who = sorted(who, key=str)
    table = pa.table({"age": pa.array(ages, pa.int64()), "who": pa.array(who, pa.string()), "row": list(range(n))})
    config = config_of(
        quasi=["age"], hierarchies={}, sensitive=(), identifiers=(), entity="who", k=k, columns=table.column_names,
        block_rows=data.draw(st.integers(1, 40), label="block rows"),
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "SAMPLE", data.draw(st.sampled_from([2, 1000]), label="sample"))
        release = run(tmp_path_factory.mktemp("people"), table, config)
    counted = people_of(release.arrow, table, config)
    assert min(len(each) for each in counted.values()) >= k
    assert release.verification.checks[-1].found == min(len(each) for each in counted.values())


@given(data=st.data())
def test_k_people_of_a_leaf_are_enough_to_know(data):
    """Whether any leaves together have k people follows from k people of each, whatever the batches."""
    rows = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), min_size=1, max_size=60))
    k = data.draw(st.integers(1, 5))
    config = config_of(quasi=["x"], sensitive=(), identifiers=(), hierarchies={}, entity="who", k=k)
    values = CountedValues(pa.array([1]), np.array([len(rows)]), 0)
    people = CountedValues(pa.array(range(8)), np.full(8, 1), 0)
    book = make_codebook(config, {"x": values, "who": people}, rows=len(rows), all_rows=len(rows))
    counts = LeafCounts(4, book)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "PENDING", data.draw(st.sampled_from([0, 3, 1000])))
        for start in range(0, len(rows), 7):
            part = np.array(rows[start : start + 7], dtype=np.int32)
            counts.add(part[:, 0], part[:, 1:])
    chosen = data.draw(st.sets(st.integers(0, 3), min_size=1))
    leaf, person = np.divmod(counts.pairs(0)[0], 8)
    found = len(set(person[np.isin(leaf, list(chosen))].tolist()))
    exact = len({who for where, who in rows if where in chosen})
    assert (found >= k) == (exact >= k)
    assert max(np.bincount(leaf)) <= k


def test_a_published_file_that_names_people_is_checked_on_disk(tmp_path):
    table = with_people(table_of(400), 30).select(["region", "sex", "who"])
    parquet.write_table(table, tmp_path / "published.parquet")
    for k in (3, 25):
        found = [
            coterie.verify(
                tmp_path / "published.parquet", quasi=["region", "sex"], entity="who", k=k, engine=engine, memory="1GB"
            )
            for engine in ("memory", "blocks")
        ]
        assert [check[:4] for check in found[0].checks] == [check[:4] for check in found[1].checks]
        assert [check.text for check in found[0].checks] == [check.text for check in found[1].checks]
