"""A limit of time in blocks: each block has its part of it, by its rows."""

import time
from dataclasses import replace

import pytest
from block_cases import config_of, run, table_of

from coterie.engines.request import cut_problems
from coterie.errors import ConfigError, refuse
from coterie.settings.registry import METHODS


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("block_rows", [None, 150])
def test_blocks_share_the_time_by_their_rows(threads, block_rows, tmp_path, monkeypatch):
    true = METHODS["mondrian"]
    seen = []

    def timed(table, k, options, run):
        seen.append((table.rows, run.deadline - time.monotonic()))
        return true.function(table, k, options, run)

    monkeypatch.setitem(METHODS._items, "mondrian", replace(true, function=timed))
    config = config_of(time_limit=6000.0, threads=threads, block_rows=block_rows)
    release = run(tmp_path, table_of(600), config)
    at_once = min(threads, release.blocks)
    assert len(seen) == release.blocks
    assert sum(rows for rows, _ in seen) == 600
    for rows, seconds in seen:
        # A second or two may have passed since the block was given its time.
        assert seconds == pytest.approx(6000 * at_once * rows / 600, abs=60)
    assert release.config.time_limit == 6000


def test_time_that_is_over_gives_what_there_is(tmp_path):
    config = config_of(time_limit=1e-6, method="compact", block_rows=150)
    release = run(tmp_path, table_of(600), config)
    assert release.verification.passed


def test_clusters_have_no_limit_of_time():
    with pytest.raises(ConfigError, match="a task that is retried must give the same rows"):
        refuse(cut_problems(config_of(engine="spark", time_limit=3.0)))
    assert not cut_problems(config_of(time_limit=3.0))
