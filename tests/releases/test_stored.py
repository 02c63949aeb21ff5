"""A release in a file is the same `Release`: what follows from counts is exact, what looks at rows takes a sample."""

import json

import numpy as np
import pyarrow as pa
import pytest
from block_cases import config_of, run, table_of

import coterie
import coterie.disclosure.risk
import coterie.releases.sample as sample_module
from coterie.errors import ConfigError
from coterie.releases.sample import class_marks


@pytest.fixture(params=["whole", "suppress", "people"])
def case(request, tmp_path):
    """A release in blocks beside the original; some rows are removed in one of them, people counted in another."""
    table, settings = table_of(500), {}
    ages = [None if row % 160 == 7 else age for row, age in enumerate(table.column("age").to_pylist())]
    table = table.set_column(1, "age", pa.array(ages, pa.int64()))
    if request.param == "suppress":
        settings = {"missing": "suppress", "suppressed": "remove"}
    if request.param == "people":
        table = table.append_column("who", pa.array(np.arange(500) // 2))
        settings = {"entity": "who"}
    config = config_of(columns=table.column_names, block_rows=150, **settings)
    return table, config, run(tmp_path, table, config), tmp_path


def test_counts_are_those_of_the_whole(case):
    table, config, release, _ = case
    assert not release.complete and release.blocks > 1
    assert release.original_rows == 500
    assert release.published_rows == release.arrow.num_rows
    expected = coterie.risk(table, quasi=config.quasi, entity=config.entity)
    assert release.risk.before == expected
    people = None
    if config.entity is not None:
        people = table.column("who")
    after = coterie.disclosure.risk.risk_of_table(release.arrow, quasi=config.quasi, people=people)
    found, wanted = release.risk.after.to_dict(), after.to_dict()
    # Sums over classes that are counted together end in another last digit.
    for name in ("prosecutor", "marketer"):
        np.testing.assert_allclose(np.array(_flat(found.pop(name))), np.array(_flat(wanted.pop(name))))
    assert found == wanted
    assert release.missing == {name: table.column(name).null_count for name in table.column_names}


def _flat(value):
    return list(value.values()) if isinstance(value, dict) else [value]


def test_a_sample_holds_whole_classes_beside_their_originals(case, monkeypatch):
    table, config, release, _ = case
    monkeypatch.setattr(sample_module, "SAMPLE", 200)
    held = release.held
    assert 0 < held.published.table.num_rows < 400
    sizes = _sizes(release.arrow, config.quasi)
    drawn = _sizes(held.published.table, config.quasi)
    assert all(sizes[cells] == count for cells, count in drawn.items())
    # Untouched columns tell whether the rows beside each other belong together.
    shown = [name for name in config.published_unchanged if name in table.column_names]
    assert held.published.table.select(shown).equals(held.source.table.select(shown).combine_chunks()) or all(
        held.published.table.column(name).to_pylist() == held.source.table.column(name).to_pylist() for name in shown
    )
    boxes, codes = held.grouping, held.encoded.table.codes
    kept = boxes.labels >= 0
    assert (boxes.lo[boxes.labels[kept]] <= codes[kept]).all() and (codes[kept] <= boxes.hi[boxes.labels[kept]]).all()


def _sizes(table, quasi):
    names = [name for name in table.column_names if name.removesuffix("_min").removesuffix("_max") in quasi]
    found = {}
    for row in zip(*(table.column(name).to_pylist() for name in names), strict=True):
        found[row] = found.get(row, 0) + 1
    return found


def test_reports_are_written_of_releases_in_files(case):
    _, _, release, folder = case
    release.report(folder / "report.json")
    report = json.loads((folder / "report.json").read_text())
    assert report["input"]["rows"] == 500
    assert report["input"]["published_rows"] == release.published_rows
    assert any("chosen by a hash" in each for each in report["limits"])
    release.report(folder / "report.html", variant="external")
    assert len(release.explain().drivers) == 3


def test_what_needs_all_rows_says_so(case):
    _, _, release, folder = case
    for ask in (
        lambda: release.groups,
        lambda: release.bound,
        lambda: release.mapping(),
        lambda: release.explain(3),
        lambda: release.assign(release.arrow),
    ):
        with pytest.raises(ConfigError, match="needs all rows at once"):
            ask()
    with pytest.raises(ConfigError, match="same file extension"):
        release.write(folder / "copy.csv")
    release.write(folder / "copy.parquet")
    assert (folder / "copy.parquet").read_bytes() == release.place.path.read_bytes()


def test_marks_follow_from_cells_alone():
    rng = np.random.default_rng(5)
    columns = [pa.array(rng.integers(0, 50, 4000)), pa.array(rng.choice(["a", None, "c"], 4000))]
    marks = class_marks(columns, 4000)
    order = rng.permutation(4000)
    shuffled = class_marks([column.take(pa.array(order)) for column in columns], 4000)
    assert (shuffled == marks[order]).all()
    distinct = np.unique(marks)
    assert len(distinct) == 150
    assert 0.3 < (distinct < np.uint64(2**63)).mean() < 0.7
