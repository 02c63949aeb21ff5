"""Files anonymized in blocks on disk: the same as in memory where it can be, safe and whole in any case."""

import stat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from block_cases import config_of, run, table_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, feather, parquet

import coterie
from coterie.engines import cuts
from coterie.engines.blocks.run import anonymize as anonymize_file
from coterie.engines.blocks.state import work_path
from coterie.engines.engine import Job
from coterie.errors import ConfigError, DataError, InfeasibleError, VerificationError

METHODS = ("mondrian", "compact", "kmembers", "top-down")


def check_release(release, table, config):
    """Rows in their order, identifiers gone, other columns untouched, and k-anonymous to an independent check."""
    published = release.arrow
    assert published.num_rows == table.num_rows
    assert published.column("remark").to_pylist() == table.column("remark").to_pylist()
    assert "name" not in published.column_names
    found = coterie.verify(published, quasi=config.quasi, k=config.k)
    assert found.passed
    assert (found.rows, found.groups, found.k) == (
        release.verification.rows,
        release.verification.groups,
        release.verification.k,
    )
    measured = coterie.measure(table, published, config=config)
    for name in ("gcp", "ncp", "discernability", "groups", "smallest", "modification_rate", "total_il", "outside"):
        assert release.measures[name] == pytest.approx(measured[name]), name


@pytest.mark.parametrize("method", METHODS)
def test_blocks_give_a_release(method, tmp_path):
    table, config = table_of(500), config_of(method=method, block_rows=120)
    release = run(tmp_path, table, config)
    assert release.blocks > 2
    check_release(release, table, config)
    assert not work_path(tmp_path / "out.parquet").exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.parquet", "out.parquet", "out.parquet.coterie.toml"]


def test_columns_may_be_called_as_counts_are(tmp_path):
    """SQL calls counts n, and their cells v and h."""
    table = pa.table({name: [row % size for row in range(60)] for name, size in (("n", 4), ("v", 5), ("h", 3))})
    settings = {"quasi": ["n", "v"], "sensitive": ["h"], "privacy": ["l-diversity:2:h"], "k": 3}
    release = run(tmp_path, table, coterie.Config(**settings, engine="blocks"))
    assert release.verdict.state == coterie.anonymize(table, **settings).verdict.state


@pytest.mark.parametrize("method", ["mondrian", "compact", "auto"])
@pytest.mark.parametrize("missing", ["category", "suppress"])
@pytest.mark.parametrize("form", ["parquet", "csv", "csv.gz", "feather"])
def test_one_block_is_the_same_as_in_memory(method, missing, form, tmp_path):
    table = table_of(300)
    holes = np.arange(300) % 50 == 7
    table = table.set_column(1, "age", pc.if_else(pa.array(holes), None, table.column("age")))
    config = config_of(method=method, missing=missing)
    parquet.write_table(table, tmp_path / "in.parquet")
    release = anonymize_file(tmp_path / "in.parquet", Job(config, tmp_path / f"blocks.{form}"))
    whole = coterie.anonymize(tmp_path / "in.parquet", config=config.replace(engine="memory"))
    whole.write(tmp_path / f"whole.{form}")
    assert release.blocks == 1
    if form.startswith("csv"):
        assert (tmp_path / f"blocks.{form}").read_bytes() == (tmp_path / f"whole.{form}").read_bytes()
    else:
        assert release.arrow.equals(whole.arrow)
    for name in release.measures:
        assert release.measures[name] == pytest.approx(whole.measures[name]), name
    for name in ("rows", "groups", "k", "largest", "missing_cells", "suppressed"):
        assert getattr(release.verification, name) == getattr(whole.verification, name), name


@pytest.mark.parametrize(
    "publish", [{"age": "bounds"}, {"age": "mean"}, {"age": "median"}, {"region": "set"}, {"age": "interval"}]
)
def test_every_form_of_publishing(publish, tmp_path):
    table, config = table_of(300), config_of(publish=publish, block_rows=100)
    release = run(tmp_path, table, config)
    assert release.blocks > 1
    assert coterie.verify(release.arrow, quasi=config.quasi, k=config.k).passed
    one = run(tmp_path, table, config_of(publish=publish), out="one.parquet")
    assert release.arrow.schema.names == one.arrow.schema.names


def test_text_is_read_and_written_as_it_came(tmp_path):
    table = table_of(200)
    path = tmp_path / "in.csv"
    rows = [";".join(map(str, row.values())) for row in table.to_pylist()]
    path.write_bytes("\r\n".join([";".join(table.column_names), *rows, ""]).encode("latin-1"))
    config = config_of(block_rows=60)
    anonymize_file(path, Job(config, tmp_path / "out.csv"))
    lines = (tmp_path / "out.csv").read_bytes().decode("latin-1").split("\r\n")
    assert lines[0] == "age;region;sex;disease;remark"
    assert len(lines) == 202
    assert coterie.verify(tmp_path / "out.csv", quasi=config.quasi, k=5).passed


def test_columns_that_need_no_change_keep_their_type(tmp_path):
    table = table_of(400).append_column("century", pa.array([20] * 400, pa.int16()))
    config = config_of(columns=table.column_names, quasi=["age", "century"], hierarchies={}, block_rows=100)
    release = run(tmp_path, table, config)
    assert release.blocks > 1
    assert release.arrow.schema.field("century").type == pa.int16()
    assert release.arrow.column("century").unique().to_pylist() == [20]


def test_dictionaries_forget_removed_rows_and_keep_their_type(tmp_path):
    table = table_of(300)
    disease = pc.if_else(pa.array(np.arange(300) == 5), "secret", table.column("disease"))
    table = table.set_column(4, "disease", disease.dictionary_encode())
    table = table.set_column(1, "age", pc.if_else(pa.array(np.arange(300) == 5), None, table.column("age")))
    config = config_of(missing="suppress", block_rows=100)
    release = run(tmp_path, table, config)
    assert release.arrow.num_rows == 299
    assert pa.types.is_dictionary(release.arrow.schema.field("disease").type)
    assert b"secret" not in (tmp_path / "out.parquet").read_bytes()


def test_suppressed_rows_are_shown_where_they_are_enough(tmp_path):
    table = table_of(300)
    for holes, shown in ((4, False), (8, True)):
        gaps = table.set_column(1, "age", pc.if_else(pa.array(np.arange(300) < holes), None, table.column("age")))
        config = config_of(missing="suppress", block_rows=100)
        release = run(tmp_path, gaps, config, force=True)
        assert release.arrow.num_rows == (300 if shown else 300 - holes)
        assert release.measures["suppressed"] == holes
        assert release.verification.suppressed == (holes if shown else 0)
        measured = coterie.measure(gaps, release.arrow, config=config)
        assert release.measures["discernability"] == measured["discernability"]
        assert release.measures["groups"] == measured["groups"]
        removed = run(tmp_path, gaps, config.replace(suppressed="remove"), force=True)
        assert removed.arrow.num_rows == 300 - holes


@pytest.mark.parametrize("method", ["mondrian", "nh"])
def test_suppressed_rows_are_known_where_nothing_is_text(method, tmp_path):
    table = table_of(300)
    gaps = table.set_column(1, "age", pc.if_else(pa.array(np.arange(300) < 8), None, table.column("age")))
    options = {"key": "a secret of the tests"} if method == "nh" else {}
    settings = {"quasi": ["age"], "hierarchies": {}, "publish": {"age": "bounds"}, "missing": "suppress"}
    config = config_of(method=method, options=options, **settings)
    release = run(tmp_path, gaps, config)
    whole = coterie.anonymize(gaps, config=config.replace(engine="memory"))
    assert release.arrow.equals(whole.arrow)
    for name in ("smallest", "groups", "discernability", "suppressed", "c_avg"):
        assert release.measures[name] == whole.measures[name], name
    blocks = run(tmp_path, gaps, config.replace(block_rows=100), out="blocks.parquet")
    assert blocks.blocks > 1
    assert blocks.arrow.num_rows == 300


MODELS = ("l-diversity:2", "l-diversity:2:disease:entropy", "t-closeness:0.35", "beta-likeness:3", "alpha-k:0.8")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", ["mondrian", "compact"])
def test_promises_beyond_k_are_kept_in_blocks(model, method, tmp_path):
    table, config = table_of(600), config_of(privacy=[model], method=method, block_rows=150)
    release = run(tmp_path, table, config)
    assert release.blocks > 1
    again = coterie.verify(release.arrow, config=config)
    assert again.passed
    kept, found = again.checks[1], release.verification.checks[1]
    # Of several classes that are equally bad, each may name another one.
    assert (found.name, found.wanted, found.passed) == (kept.name, kept.wanted, kept.passed)
    assert found.found == pytest.approx(kept.found)


def test_a_block_that_cannot_keep_a_promise_is_joined_with_another(tmp_path):
    """All rows of one disease lie together: blocks cut from them alone could never be diverse."""
    table = pa.table({"x": list(range(400)), "disease": ["flu"] * 200 + ["cold"] * 200})
    settings = {"quasi": ["x"], "hierarchies": {}, "identifiers": (), "k": 3, "block_rows": 50, "keep": ()}
    release = run(tmp_path, table, config_of(**settings))
    assert release.blocks >= 8
    release = run(tmp_path, table, config_of(**settings, privacy=["l-diversity:2"]), force=True)
    assert coterie.verify(release.arrow, quasi=["x"], sensitive=["disease"], privacy=["l-diversity:2"], k=3).passed


def test_a_population_is_asked_in_blocks_too(tmp_path):
    table = table_of(300)
    csv.write_csv(table.select(["age", "region", "sex"]), tmp_path / "everybody.csv")
    config = config_of(privacy=[f"k-map:6:{tmp_path / 'everybody.csv'}"], block_rows=100)
    release = run(tmp_path, table, config)
    assert release.blocks > 1
    assert [check.name for check in release.verification.checks] == ["k-anonymity", "k-map"]
    assert release.verification.checks[1].found == coterie.verify(release.arrow, config=config).checks[1].found


def test_the_release_is_the_same_on_any_number_of_threads(tmp_path):
    table, digests = table_of(800), set()
    for threads in (1, 2, 5):
        config = config_of(method="compact", block_rows=150, threads=threads)
        digests.add(run(tmp_path, table, config, force=True).place.output_sha256)
    assert len(digests) == 1


def test_the_settings_beside_a_release_give_it_again(tmp_path):
    table = table_of(400)
    first = run(tmp_path, table, config_of(block_rows=110))
    again = anonymize_file(
        tmp_path / "in.parquet",
        Job(coterie.Config.from_toml(tmp_path / "out.parquet.coterie.toml"), tmp_path / "again.parquet"),
    )
    assert again.config.block_rows == 110
    assert again.place.output_sha256 == first.place.output_sha256


def test_stripes_and_batches_of_any_size_give_the_same(tmp_path, monkeypatch):
    from coterie.engines.blocks import run as blocks_run
    from coterie.engines.blocks import spill
    from coterie.files.formats import columnar

    table, config = table_of(500), config_of(block_rows=90)
    whole = run(tmp_path, table, config)
    monkeypatch.setattr(blocks_run, "STRIPE_ROWS", 37)
    monkeypatch.setattr(columnar, "BATCH_ROWS", 23)
    monkeypatch.setattr(spill, "PENDING", 100)
    monkeypatch.setattr(spill, "PIECE", 11)
    pieces = run(tmp_path, table, config, out="pieces.parquet", row_group=61)
    assert pieces.arrow.equals(whole.arrow)


def test_folders_of_parquet_go_in_and_out(tmp_path, monkeypatch):
    from coterie.engines.blocks import run as blocks_run

    monkeypatch.setattr(blocks_run, "STRIPE_ROWS", 100)
    table, config = table_of(350), config_of(block_rows=90)
    (tmp_path / "parts").mkdir()
    for number, start in enumerate(range(0, 350, 70)):
        parquet.write_table(table.slice(start, 70), tmp_path / "parts" / f"part-{number}.parquet")
    release = anonymize_file(tmp_path / "parts", Job(config, f"{tmp_path}/out/"))
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 4
    check_release(release, table, config)
    assert run(tmp_path, table, config, out="one.parquet").arrow.equals(release.arrow)
    with pytest.raises(ConfigError, match="exists already"):
        anonymize_file(tmp_path / "parts", Job(config, f"{tmp_path}/out/"))
    again = anonymize_file(tmp_path / "parts", Job(config, f"{tmp_path}/out/", force=True))
    assert again.place.output_sha256 == release.place.output_sha256


def test_small_and_odd_files(tmp_path):
    one = table_of(1)
    assert run(tmp_path, one, config_of(k=1)).arrow.num_rows == 1
    with pytest.raises(InfeasibleError, match="has 1 rows"):
        run(tmp_path, one, config_of(k=2), force=True)
    with pytest.raises(DataError, match="no rows"):
        run(tmp_path, one.slice(0, 0), force=True)
    with pytest.raises(InfeasibleError, match="has 20 rows, 20 of which are suppressed"):
        blank = table_of(20).set_column(1, "age", pa.nulls(20, pa.int64()))
        run(tmp_path, blank, config_of(missing="suppress"), force=True)
    writer = parquet.ParquetWriter(tmp_path / "gaps.parquet", table_of(1).schema)
    for rows in (0, 40, 0, 0, 60, 0):  # empty row groups
        writer.write_table(table_of(rows or 1, seed=rows).slice(0, rows))
    writer.close()
    release = anonymize_file(tmp_path / "gaps.parquet", Job(config_of(block_rows=30), tmp_path / "gaps-out.csv"))
    assert release.verification.rows == 100


@settings(max_examples=15)
@given(data=st.data())
def test_whatever_the_table_no_class_is_below_k(data, tmp_path_factory):
    """Samples of a few rows, so that values are unseen; ties, sorted rows, missing values, tiny tables."""
    n = data.draw(st.integers(1, 120), label="rows")
    k = data.draw(st.integers(1, 8), label="k")
    ages = data.draw(st.lists(st.sampled_from([0, 0, 0, 1, 5, 7, 30, None]), min_size=n, max_size=n), label="ages")
    sexes = data.draw(st.lists(st.sampled_from(["f", "m", None]), min_size=n, max_size=n), label="sexes")
    if data.draw(st.booleans(), label="sorted"):
        ages = sorted(ages, key=lambda age: (age is None, age))
    table = pa.table({"age": pa.array(ages, pa.int64()), "sex": pa.array(sexes, pa.string()), "row": list(range(n))})
    missing = data.draw(st.sampled_from(["category", "suppress"]), label="missing")
    config = config_of(
        columns=table.column_names, quasi=["age", "sex"], hierarchies={}, sensitive=(), identifiers=(), k=k,
        missing=missing,
        block_rows=data.draw(st.integers(1, 60), label="block rows"),
        method=data.draw(st.sampled_from(["mondrian", "compact"]), label="method"),
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("any")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "SAMPLE", data.draw(st.sampled_from([2, 10, 1000]), label="sample"))
        try:
            release = run(folder, table, config)
        except InfeasibleError:
            taking_part = sum(missing == "category" or None not in row for row in zip(ages, sexes, strict=True))
            assert taking_part < k
            assert not (folder / "out.parquet").exists()
            return
    published = release.arrow
    kept = published.column("row").to_pylist()
    assert kept == sorted(kept)
    assert coterie.verify(published, quasi=["age", "sex"], k=k).passed
    assert release.measures["outside"] == 0


def test_a_release_that_fails_its_check_is_withheld(tmp_path, monkeypatch):
    from coterie.engines.blocks import write as blocks_write

    honest = blocks_write.join_pieces

    def forged(*words, **named):
        stripe = honest(*words, **named)
        cells = stripe.columns["region"].to_pylist()
        return stripe._replace(columns={**stripe.columns, "region": pa.array(["Atlantis", *cells[1:]])})

    monkeypatch.setattr(blocks_write, "join_pieces", forged)
    with pytest.raises(VerificationError, match="5-anonymity is wanted"):
        run(tmp_path, table_of(200), config_of(block_rows=60))
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]


def test_a_column_with_too_many_values_is_named(tmp_path):
    from coterie.engines.blocks import count as blocks_count

    table = table_of(300).append_column("income", pa.array(np.arange(300) * 1.5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_count, "VALUE_BYTES", 2**30 // 200)
        with pytest.raises(DataError, match="'income' has more than 200 distinct values") as caught:
            run(tmp_path, table, config_of(quasi=["age", "income"], hierarchies={}))
    assert caught.value.column == "income"


def test_numbers_beyond_the_hash_are_searched(tmp_path, monkeypatch):
    from coterie.table import codebook

    monkeypatch.setattr(codebook, "HASHED", 10)
    table = table_of(300).append_column("income", pa.array([None if at % 9 == 0 else at * 0.5 for at in range(300)]))
    config = config_of(quasi=["age", "income"], hierarchies={}, method="compact")
    whole = coterie.anonymize(table, config=config.replace(engine="memory"))
    assert run(tmp_path, table, config).arrow.equals(whole.arrow)


def test_work_folders_are_private_and_gone_in_the_end(tmp_path):
    seen = []

    def told(step, done, total):
        folder = work_path(tmp_path / "out.parquet")
        if step.startswith("group:"):
            seen.append(stat.S_IMODE(folder.stat().st_mode))
            assert done <= total

    run(tmp_path, table_of(300), config_of(block_rows=80), progress=told)
    assert set(seen) == {0o700}


def test_feather_goes_in(tmp_path):
    table = table_of(200)
    feather.write_feather(table, tmp_path / "in.feather", chunksize=30)
    release = anonymize_file(tmp_path / "in.feather", Job(config_of(block_rows=50), tmp_path / "out.feather"))
    check_release(release, table, config_of())
