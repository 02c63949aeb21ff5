"""Methods that suppress rows, together with promises beyond k, in blocks: groups are compared with what is left."""

import numpy as np
import pyarrow as pa
import pytest
from block_cases import config_of, run, table_of

import coterie
from coterie.engines.blocks import group as blocks_group
from coterie.engines.suppressed import may_suppress, needs_remaining, remaining_of
from coterie.errors import ConfigError, InfeasibleError
from coterie.settings.registry import METHODS

WAYS = {
    "compact": {"method": "compact", "options": {"suppress_above": 0.25}},
    "kaca": {"method": "kaca", "options": {"suppress_above": 0.5}},
    "incognito": {"method": "incognito", "options": {"suppress_at_most": 0.1}},
}
MODELS = ("l-diversity:2", "l-diversity:2::entropy", "alpha-k:0.8", "t-closeness:0.4", "beta-likeness:4",
          "t-closeness:0.4:pay:ordered", "delta-disclosure:3")  # fmt: skip


def table_with_outliers(rows=600):
    """Some rows are far from all others, and alone have some of the values of a sensitive column."""
    table = table_of(rows)
    far = np.arange(rows) % 60 == 7
    ages = np.where(far, 150 + np.arange(rows) % 7 * 40, table.column("age").to_numpy())
    rng = np.random.default_rng(3)
    pay = np.where(far, 9000 + np.arange(rows), rng.integers(1, 6, rows) * 100)
    return table.set_column(1, "age", pa.array(ages)).append_column("pay", pa.array(pay))


def settings_of(way, model, **more):
    return config_of(**WAYS[way], privacy=[model], sensitive=["disease", "pay"], k=4, **more)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [f"{each}:disease" if each.count(":") == 1 else each for each in MODELS])
def test_promises_are_kept_by_what_is_left(way, model, tmp_path):
    model = model.replace("::", ":disease:")
    table = table_with_outliers()
    for suppressed in ("auto", "remove"):
        config = settings_of(way, model, block_rows=200, suppressed=suppressed)
        release = run(tmp_path, table, config, force=True)
        assert release.blocks > 1
        assert coterie.verify(release.arrow, config=config.replace(engine="memory")).passed
        assert release.measures["outside"] == 0
        assert release.arrow.num_rows in (600, 600 - int(release.measures["suppressed"]))
        if way == "kaca":
            assert release.measures["suppressed"] > 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", ["l-diversity:2:disease", "t-closeness:0.3:disease", "t-closeness:0.3:pay:ordered"])
@pytest.mark.parametrize("refine", [False, True])
def test_one_block_is_the_same_as_in_memory(way, model, refine, tmp_path):
    if refine and way == "incognito":
        return
    # In memory the repair also looks at sensitive columns that nothing is promised of.
    promised = model.split(":")[2]
    config = settings_of(way, model, refine=refine)
    others = [name for name in config.sensitive if name != promised]
    config = config.replace(sensitive=[promised], keep=[*config.keep, *others])
    table = table_with_outliers(300)
    release = run(tmp_path, table, config)
    whole = coterie.anonymize(table, config=config.replace(engine="memory"))
    assert release.arrow.equals(whole.arrow)
    for found, wanted in zip(release.verification.checks, whole.verification.checks, strict=True):
        assert found[:2] == wanted[:2]
        assert found.found == pytest.approx(wanted.found)


@pytest.mark.parametrize("block_rows", [None, 200])
def test_people_and_shares_are_counted_among_what_is_left(block_rows, tmp_path):
    rng = np.random.default_rng(5)
    who = pa.array(rng.integers(0, 90, 600), mask=rng.random(600) < 0.02)
    table = table_with_outliers().append_column("who", who)
    config = settings_of("kaca", "t-closeness:0.4:disease", entity="who", block_rows=block_rows)
    config = config.replace(sensitive=["disease"], keep=[*config.keep, "pay"])
    release = run(tmp_path, table, config)
    assert release.measures["suppressed"] > 0
    assert all(check.passed for check in release.verification.checks)
    assert [check.name for check in release.verification.checks][2] == "k-anonymity of people"
    if block_rows is None:
        assert release.arrow.equals(coterie.anonymize(table, config=config.replace(engine="memory")).arrow)
    else:
        assert release.blocks > 1


def test_limits_hold_over_the_whole_table(tmp_path):
    config = settings_of("kaca", "t-closeness:0.4:disease", block_rows=200)
    release = run(tmp_path, table_with_outliers(), config)
    share = 100 * release.measures["suppressed"] / 600
    assert share > 0
    run(tmp_path, table_with_outliers(), config.replace(suppress_at_most=share), force=True)
    with pytest.raises(InfeasibleError, match="are allowed"):
        run(tmp_path, table_with_outliers(), config.replace(suppress_at_most=share / 2), force=True)


def test_a_run_that_was_stopped_counts_nothing_twice(tmp_path, monkeypatch):
    config = settings_of("kaca", "t-closeness:0.4:disease", block_rows=150)
    table = table_with_outliers()
    whole = run(tmp_path, table, config, out="whole.parquet")

    def told(step, *_):
        if step.startswith("group: 1"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, table, config, progress=told)
    monkeypatch.setattr(blocks_group, "suppressed_values", lambda *_, **__: pytest.fail("was counted before"))
    assert run(tmp_path, table, config, resume=True).place.output_sha256 == whole.place.output_sha256


def test_values_that_only_suppressed_rows_had_are_unknown():
    from coterie.table.codebook import CountedValues, make_codebook

    config = config_of(quasi=["x"], hierarchies={}, sensitive=["pay"], identifiers=(), privacy=["t-closeness:0.5"])
    pay = CountedValues(pa.array([300, 100, 200]), np.array([2, 3, 4]), 1)
    book = make_codebook(
        config, {"x": CountedValues(pa.array([1]), np.array([10]), 0), "pay": pay}, rows=10, all_rows=10
    )
    assert remaining_of(book, [np.zeros(4, dtype=np.int64)]) is None
    # By value: 100, 200, 300, missing.
    left = remaining_of(book, [np.array([1, 4, 0, 0])])
    (column,) = left
    assert column.domain.values.to_pylist() == [100, 300, None]
    assert column.code_of.tolist() == [0, -1, 1, 2]
    assert column.totals.tolist() == [2, 2, 1]
    (gone,) = remaining_of(book, [np.array([0, 0, 2, 1])])
    assert gone.domain.values.to_pylist() == [100, 200]
    assert gone.code_of.tolist() == [0, 1, -1, -1]


def test_who_may_suppress():
    assert may_suppress(settings_of("kaca", "l-diversity:2"))
    assert not may_suppress(config_of(method="incognito"))
    assert not needs_remaining(settings_of("kaca", "l-diversity:2"))
    assert needs_remaining(settings_of("incognito", "t-closeness:0.2"))
    assert not needs_remaining(config_of(method="compact", privacy=["t-closeness:0.2"]))


def test_a_method_that_suppresses_unasked_is_refused(tmp_path, monkeypatch):
    from dataclasses import replace

    true = METHODS["mondrian"]

    def dropping(table, k, options, run):
        made = true.function(table, k, options, run)
        return replace(made, labels=np.where(made.labels == 0, -1, made.labels - 1).astype(np.int32), lo=made.lo[1:],
                       hi=made.hi[1:])  # fmt: skip

    monkeypatch.setitem(METHODS._items, "mondrian", replace(true, function=dropping))
    with pytest.raises(ConfigError, match="suppresses rows on its own"):
        run(tmp_path, table_of(600), config_of(privacy=["t-closeness:0.5"], block_rows=200))
    release = run(tmp_path, table_of(200), config_of(privacy=["l-diversity:2"]), force=True)
    assert release.measures["suppressed"] > 0
    # In one block, what is left is known as soon as the method has run.
    release = run(tmp_path, table_of(200), config_of(privacy=["t-closeness:0.5"]), force=True)
    assert release.measures["suppressed"] > 0
