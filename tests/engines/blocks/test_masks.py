"""Rows and cells that the user wants suppressed, in blocks: as in memory, by row number."""

import numpy as np
import pyarrow as pa
import pytest
from block_cases import config_of, run, table_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import coterie
from coterie.errors import ConfigError, DataError

ROWS = 120


def masks_of(seed, rows=ROWS, share=0.1):
    rng = np.random.default_rng(seed)
    cells = {name: rng.random(rows) < share for name in ("age", "region", "sex")}
    return {"suppress_rows": rng.random(rows) < share, "suppress_cells": cells}


def with_gaps(table, seed):
    """Some ages are missing before any mask says so."""
    gone = np.random.default_rng(seed).random(table.num_rows) < 0.05
    return table.set_column(1, "age", pa.array(table.column("age").to_numpy(), mask=gone))


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.0, 0.01, 0.1, 0.5]),
    missing=st.sampled_from(["category", "suppress"]),
    publish=st.sampled_from(["interval", "bounds", "mean"]),
    shown=st.sampled_from(["auto", "remove"]),
)
def test_one_block_is_what_memory_gives(tmp_path_factory, seed, share, missing, publish, shown):
    folder, table, masks = (
        tmp_path_factory.mktemp("masks"),
        with_gaps(table_of(ROWS, seed), seed),
        masks_of(seed, share=share),
    )
    config = config_of(missing=missing, publish={"age": publish}, suppressed=shown, k=3)
    stored = run(folder, table, config, **masks)
    held = coterie.anonymize(table, config=config.replace(engine="memory"), **masks)
    assert parquet.read_table(folder / "out.parquet").equals(held.arrow)
    assert stored.masked == held.masked
    assert stored.masks_sha256 == held.masks_sha256
    assert stored.measures["gcp"] == pytest.approx(held.measures["gcp"])
    assert stored.measures["suppressed"] == held.measures["suppressed"]


def test_several_blocks_hide_what_is_masked(tmp_path):
    table, masks = table_of(400), masks_of(3, 400)
    release = run(tmp_path, table, config_of(block_rows=100), row_group=70, **masks)
    assert release.blocks > 2
    published = parquet.read_table(tmp_path / "out.parquet")
    assert published.num_rows == 400
    for name in ("age", "region", "sex"):
        cells = np.array(published.column(name).to_pylist())
        hidden = masks["suppress_rows"] | masks["suppress_cells"][name]
        assert set(cells[hidden]) == {"*"}
        assert (cells[~hidden] != "*").any()
    assert release.measures["suppressed"] == masks["suppress_rows"].sum()
    assert f"{masks['suppress_rows'].sum()} rows" in release.notes[0]
    assert release.provenance()["masks_sha256"] == release.masks_sha256
    assert coterie.verify(published, quasi=["age", "region", "sex"], k=5).passed
    # What looks at rows reads them by their numbers: a sample of all of them here.
    assert release.table.rows == 400 - masks["suppress_rows"].sum()


def test_masked_cells_are_no_missing_values(tmp_path):
    masks = {"suppress_cells": {"age": np.arange(ROWS) < 4}}
    assert run(tmp_path, table_of(ROWS), config_of(missing="error"), **masks).verification.passed
    with pytest.raises(DataError, match="missing values in age"):
        run(tmp_path, with_gaps(table_of(ROWS), 1), config_of(missing="error"), force=True, **masks)


@pytest.mark.parametrize("length", [ROWS - 1, ROWS + 1])
def test_masks_of_another_length_are_refused(tmp_path, length):
    with pytest.raises(ConfigError, match=f"one True or False for each row of the table.*{length}"):
        run(tmp_path, table_of(ROWS), suppress_rows=np.zeros(length, bool))
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]


def test_rows_that_are_published_one_by_one_have_no_cells_to_suppress(tmp_path):
    with pytest.raises(ConfigError, match="one by one"):
        run(tmp_path, table_of(ROWS), config_of(method="nh"), suppress_cells={"age": np.arange(ROWS) < 4})


def test_a_run_goes_on_with_the_same_masks_only(tmp_path):
    from coterie.errors import Cancelled

    table, config = table_of(400), config_of(block_rows=60)
    asked = iter(range(10**6))

    def cancelled():
        return any((tmp_path / ".out.parquet.coterie" / "blocks").glob("*.json")) and next(asked) > 2

    with pytest.raises(Cancelled):
        run(tmp_path, table, config, cancelled=cancelled, **masks_of(1, 400))
    with pytest.raises(DataError, match="had different masks from"):
        run(tmp_path, table, config, resume=True, **masks_of(2, 400))
    again = run(tmp_path, table, config, resume=True, **masks_of(1, 400))
    whole = run(tmp_path, table, config, out="whole.parquet", **masks_of(1, 400))
    assert again.place.output_sha256 == whole.place.output_sha256
