"""The check by DuckDB against the check in memory, on tables that keep their promises and on tables that do not."""

import pyarrow as pa
import pytest
from block_cases import table_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import coterie
import coterie.files.tables
from coterie.files.batches import open_table
from coterie.settings.config import Config
from coterie.verification import duckdb_counts
from coterie.verification.duckdb_counts import verify_file, verify_on_disk
from coterie.verification.sql import DuckLimits, HiddenColumn
from coterie.verification.verify import verify_table

SAME = ("rows", "groups", "k", "largest", "average", "wanted", "rows_below", "classes_below", "missing_cells",
        "suppressed", "quasi")  # fmt: skip
MODELS = ("l-diversity:2", "l-diversity:3:d:entropy", "l-diversity:2:d:frequency", "t-closeness:0.3", "alpha-k:0.5",
          "beta-likeness:1", "delta-disclosure:1.5")  # fmt: skip


def both(table, config, folder, roots=None):
    parquet.write_table(table, folder / "published.parquet")
    checker = DuckLimits(folder / "spare", 2**28, 1)
    found = verify_file(
        open_table(folder / "published.parquet", config),
        config,
        roots=roots or {},
        hidden=0,
        checker=checker,
        k=config.k,
    )
    people = table.column(config.entity) if config.entity in table.column_names else None
    return found.verification, verify_table(
        table, quasi=config.quasi, k=config.k, roots=roots, config=config, people=people
    )


def same(one, two):
    for name in SAME:
        assert getattr(one, name) == getattr(two, name), name
    for check, other in zip(one.checks, two.checks, strict=True):
        assert (check.name, check.wanted, check.passed) == (other.name, other.wanted, other.passed)
        assert check.found == pytest.approx(other.found)
        if not check.passed:
            # How many rows are in how many groups without it: the same, whichever group is named as the worst.
            assert check.text.split(";")[0] == other.text.split(";")[0]


@settings(max_examples=30)
@given(data=st.data())
def test_classes_and_models_are_counted_alike(data, tmp_path_factory):
    n = data.draw(st.integers(0, 60))
    ages = data.draw(st.lists(st.sampled_from(["[1-3]", "*", None, "4"]), min_size=n, max_size=n))
    lows = data.draw(st.lists(st.sampled_from([1.0, float("nan"), None, -0.0, 0.0]), min_size=n, max_size=n))
    diseases = data.draw(st.lists(st.sampled_from(["flu", "cold", "gout", None]), min_size=n, max_size=n))
    table = pa.table(
        {
            "age": pa.array(ages, pa.string()),
            "x_min": pa.array(lows, pa.float64()),
            "x_max": pa.array(lows, pa.float64()),
            "d": pa.array(diseases, pa.string()),
        }
    )
    models = data.draw(st.lists(st.sampled_from(MODELS), unique=True, max_size=3)) if n else []
    config = Config(quasi=["age", "x"], sensitive=["d"], k=data.draw(st.integers(1, 6)), privacy=models)
    same(*both(table, config, tmp_path_factory.mktemp("verify")))


def test_a_class_is_not_torn_between_batches(tmp_path, monkeypatch):
    from coterie.verification import sql

    monkeypatch.setattr(sql, "BATCH_ROWS", 2048)  # DuckDB's own batches are no smaller
    rows = 30_000
    table = pa.table(
        {"q": [str(row % 900) for row in range(rows)], "d": pa.array([row % 29 for row in range(rows)], pa.int32())}
    )
    config = Config(quasi=["q"], sensitive=["d"], k=30, privacy=["l-diversity:29", "t-closeness:0.2::ordered"])
    one, two = both(table, config, tmp_path)
    same(one, two)
    assert one.passed


def test_hierarchies_of_sensitive_columns_are_heeded(tmp_path):
    table = pa.table({"q": list("aabbccdd"), "d": ["flu", "cold", "flu", "gout", "gout", "arthritis", "cold", "flu"]})
    tree = {"Joints": ["gout", "arthritis"], "Breath": ["flu", "cold"]}
    for limit in ("0.2", "0.5", "0.9"):
        config = Config(
            quasi=["q"], sensitive=["d"], k=2, hierarchies={"d": tree}, privacy=[f"t-closeness:{limit}::hierarchical"]
        )
        same(*both(table, config, tmp_path))


@pytest.mark.parametrize("k", [None, 3, 50])
def test_a_published_file_is_checked_on_disk_as_in_memory(k, tmp_path):
    table = table_of(400).select(["region", "sex", "disease"])
    settings = {"quasi": ["region", "sex"], "sensitive": ["disease"], "privacy": ["l-diversity:2"]}
    for name in ("published.parquet", "published.csv"):
        coterie.files.tables.write(table, tmp_path / name)
        found = [
            coterie.verify(tmp_path / name, k=k, engine=engine, memory="1GB", **settings)
            for engine in ("memory", "blocks")
        ]
        same(*found)
        assert [(each.column, each.name) for each in found[0].measured] == [
            (each.column, each.name) for each in found[1].measured
        ]
        assert [each.value for each in found[0].measured] == pytest.approx([each.value for each in found[1].measured])


def test_large_files_are_checked_on_disk_unless_memory_is_asked_for(tmp_path, monkeypatch):
    from coterie.engines import choose
    from coterie.engines.choose import checked_on_disk

    coterie.files.tables.write(table_of(300), tmp_path / "published.parquet")
    config = Config(quasi=["age"], memory="512MB")
    assert not checked_on_disk(tmp_path / "published.parquet", config)
    monkeypatch.setattr(choose, "SMALL", 0)
    monkeypatch.setattr(choose, "CELL_BYTES", 2**24)
    assert checked_on_disk(tmp_path / "published.parquet", config)
    assert not checked_on_disk(tmp_path / "published.parquet", config.replace(engine="memory"))
    assert not checked_on_disk(table_of(300), config)
    assert not checked_on_disk("-", config)
    assert checked_on_disk(tmp_path / "published.parquet", config.replace(entity="name"))


def test_roots_with_labels_of_their_own_are_suppressed_cells(tmp_path):
    table = pa.table({"q": ["Anywhere"] * 3 + ["x"] * 3, "r": ["*"] * 6})
    config = Config(quasi=["q", "r"], k=3)
    one, two = both(table, config, tmp_path, roots={"q": "Anywhere"})
    same(one, two)
    assert one.suppressed == 3


@pytest.mark.parametrize("known", ["published", "hidden", "nowhere"])
def test_ten_rows_of_one_person_are_no_ten_people(tmp_path, known):
    """Whether the release names its people, or only the run knows them: a class of one person must not pass."""
    people = pa.array(["one"] * 4 + ["two", "three", "four", "five"])
    table = pa.table({"age": ["[1-3]"] * 4 + ["[4-6]"] * 4, **({"who": people} if known == "published" else {})})
    config = Config(quasi=["age"], k=3, entity="who")
    parquet.write_table(table, tmp_path / "published.parquet")
    beside = HiddenColumn("who", people.type, iter(pa.table({"who": people}).to_batches()))
    found = verify_file(
        open_table(tmp_path / "published.parquet", config), config, roots={}, hidden=0, k=config.k,
        checker=DuckLimits(tmp_path / "spare", 2**28, 1), people=beside if known == "hidden" else None,
    ).verification  # fmt: skip
    assert found.k == 4
    assert found.passed == (known == "nowhere")


@pytest.mark.parametrize(("memory", "given"), [("3GB", 2**30), ("120MB", 2**27)])
def test_the_check_has_a_third_of_the_memory_and_enough_to_work_with(tmp_path, monkeypatch, memory, given):
    parquet.write_table(pa.table({"age": ["[1-3]"] * 4}), tmp_path / "published.parquet")
    limits, honest = [], duckdb_counts.connected
    monkeypatch.setattr(duckdb_counts, "connected", lambda checker: limits.append(checker.memory) or honest(checker))
    config = Config(quasi=["age"], k=3, memory=memory)
    found = verify_on_disk(tmp_path / "published.parquet", config, k=3, roots={})
    assert found.passed
    assert len(found.class_of_row) == len(found.sizes) == 0  # rows stay on disk
    assert limits == [given]
