"""Every engine makes the same release: methods, models, publish styles, missing values and suppression, in pairs.

A table in one block is what memory makes of it, cell for cell. A table in several blocks is another release than that
of memory, because rows are grouped within their block; Spark and the embedded engine then make the same one. Documented
differences: the lower bound is that of the whole table in memory and needs all rows.
"""

from collections import Counter

import pytest
from engine_cases import DIMENSIONS, QUASI, covering, engines, outcome, settings_of, table_for, written
from oracles import naive_verify

import coterie
from coterie.errors import CoterieError, DataError

PAIRS = covering()
FEW = covering(width=1)
OF_THE_WHOLE = {"bound", "loss_over_bound"}
"""measures that an engine which never holds the whole table does not have"""


def named(cases):
    return {"argvalues": cases, "ids": [" · ".join(case) for case in cases]}


def assert_same(found, expected):
    """The same cells, measures and checks; or the same refusal, word for word."""
    if isinstance(expected, CoterieError):
        assert (type(found), str(found)) == (type(expected), str(expected))
        return
    assert not isinstance(found, CoterieError), found
    left, right = found.arrow, expected.arrow
    assert left.column_names == right.column_names
    # Files and Spark have other types for texts with few values.
    assert left.to_pylist() == right.to_pylist()
    assert [check[:4] for check in found.verification.checks] == [check[:4] for check in expected.verification.checks]
    names = (set(found.measures) | set(expected.measures)) - OF_THE_WHOLE
    for name in sorted(names):
        assert found.measures[name] == pytest.approx(expected.measures[name], rel=1e-12, nan_ok=True), name


def compare(engine, case, folder, *, with_engine, **more):
    path = written(folder, table_for(case))
    settings = settings_of(case, folder, **more)
    expected = outcome(with_engine, path, settings, folder)
    assert_same(outcome(engine, path, settings, folder), expected)
    return expected


@pytest.mark.parametrize("case", **named(PAIRS))
@engines("blocks")
def test_one_block_is_what_memory_makes(engine, case, tmp_path):
    compare(engine, case, tmp_path, with_engine="memory")


@pytest.mark.parametrize("case", **named(FEW))
@engines("spark")
def test_one_block_on_a_cluster_is_what_memory_makes(engine, case, tmp_path):
    compare(engine, case, tmp_path, with_engine="memory")


@pytest.mark.parametrize("case", **named(FEW))
@engines("spark")
def test_several_blocks_are_the_same_wherever_they_are_grouped(engine, case, tmp_path):
    compare(engine, case, tmp_path, with_engine="blocks", block_rows=30)


@pytest.mark.parametrize("case", **named(FEW))
@engines("memory", "blocks", "spark")
def test_every_engine_hides_every_row(engine, case, tmp_path):
    """By the slow twin of the judge, from the file that was written."""
    table = table_for(case)
    settings = settings_of(case, tmp_path, **({} if engine == "memory" else {"block_rows": 30}))
    release = outcome(engine, written(tmp_path, table), settings, tmp_path)
    if isinstance(release, CoterieError):
        return
    published = release.arrow
    kept = table.num_rows - int(release.measures["suppressed"])
    assert kept <= published.num_rows <= table.num_rows
    if settings["method"] == "nh":  # rows one by one: the judge's own rule, which looks at the originals
        assert release.verification.passed
        return
    names = [name for name in published.column_names if name.removesuffix("_min").removesuffix("_max") in QUASI]
    assert naive_verify.verify([published[name].to_pylist() for name in names], settings["k"])["passed"]


@engines("memory", "blocks", "spark")
def test_missing_values_are_refused_in_the_same_words(engine, tmp_path):
    case = ("mondrian", "k alone", "intervals and ancestors", "category", "auto")
    path = written(tmp_path, table_for(case))
    settings = settings_of(case, tmp_path) | {"missing": "error"}
    with pytest.raises(DataError, match="Rows have missing values in age") as caught:
        coterie.anonymize(path, output=tmp_path / "out.parquet", engine=engine, **settings)
    assert "Fill them" in str(caught.value)
    assert not (tmp_path / "out.parquet").exists()


def test_combinations_hold_every_pair():
    for at, first in enumerate(DIMENSIONS):
        for to, second in list(enumerate(DIMENSIONS))[at + 1 :]:
            pairs = Counter((case[at], case[to]) for case in PAIRS)
            assert len(pairs) == len(first) * len(second)
