"""The bound of a release made in blocks: that of all groupings for one block, else the sum of the blocks' bounds."""

import numpy as np
import pytest
from block_cases import config_of, run, table_of
from oracles.naive_bound import plain_bounds

import coterie
from coterie.engines.blocks import run as blocks_run
from coterie.errors import ConfigError


def test_one_block_has_the_bound_of_memory(tmp_path):
    table, masks = table_of(200), {"suppress_rows": np.arange(200) < 7}
    stored = run(tmp_path, table, config_of(), **masks)
    held = coterie.anonymize(table, config=config_of(engine="memory"), **masks)
    assert stored.bound == stored.blocks_bound == pytest.approx(held.bound, rel=1e-12)
    assert held.blocks_bound == held.bound > 0


@pytest.mark.parametrize("method", ["mondrian", "compact"])
def test_several_blocks_add_up(tmp_path, monkeypatch, method):
    """No less than what the twin finds in each block, and no more than what a release of these blocks loses."""
    plans = []

    def kept(*words):
        plans.append(true(*words))
        return plans[-1]

    true = blocks_run.make_plan
    monkeypatch.setattr(blocks_run, "make_plan", kept)
    config = config_of(quasi=["age"], keep=["region", "sex", "remark"], hierarchies={}, block_rows=60, method=method)
    release = run(tmp_path, table_of(200), config)
    assert release.blocks > 2
    ages = table_of(200).column("age").to_numpy()
    values = np.unique(ages)
    codes = np.searchsorted(values, ages).astype(np.int32)[:, None]
    block = plans[0].block_of(codes, np.arange(200))
    attributes = [{"kind": "number", "values": values.tolist(), "weight": 1.0}]
    parts = [codes[block == each].tolist() for each in range(release.blocks)]
    twin = sum(sum(plain_bounds(rows, attributes, 5)) for rows in parts)
    assert twin / 200 - 1e-9 <= release.blocks_bound <= release.measures["gcp"] + 1e-9
    assert release.blocks_bound > 0
    with pytest.raises(ConfigError, match="blocks_bound is the bound of groupings that respect the blocks"):
        _ = release.bound
