"""Faults that were found in other tools, each as a test. Named here so that nobody builds them in again."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from oracles import naive_publish

import coterie
from coterie.errors import ConfigError, InfeasibleError
from coterie.methods import all_methods
from coterie.privacy import DeltaDisclosure, LDiversity, TCloseness

ROOT = Path(__file__).parent.parent
IN_CLASSES = [name for name, method in all_methods().items() if method.recoding != "per-row"]


def verify(groups, model):
    """Whether a table with these groups of sensitive values keeps a model."""
    rows = [(place, value) for place, values in enumerate(groups) for value in values]
    table = pa.table({"q": [place for place, _ in rows], "s": [value for _, value in rows]})
    return coterie.verify(table, quasi=["q"], sensitive=["s"], privacy=[model])


def test_rows_with_missing_quasi_identifiers_count():
    """A checker that leaves them out overstates k."""
    frame = pd.DataFrame({"sex": ["f", "f", None]})
    assert coterie.verify(frame, quasi=["sex"]).k == 1


def test_index_labels_are_no_positions():
    """A checker that takes one for the other reads the sensitive values of other rows."""
    frame = pd.DataFrame({"q": [1, 1, 2, 2], "s": ["a", "a", "a", "b"]}, index=[2, 3, 0, 1])
    found = coterie.verify(frame, quasi=["q"], sensitive=["s"], privacy=["l-diversity:2"])
    assert not found.passed
    swapped = frame.set_axis([0, 1, 2, 3])
    assert [check.found for check in found.checks] == [
        check.found for check in coterie.verify(swapped, quasi=["q"], sensitive=["s"], privacy=["l-diversity:2"]).checks
    ]


def test_recursive_diversity_compares_with_the_most_frequent_value():
    """r₁ < c · (r_l + … + r_m), with r₁ the largest count: sorted the other way round, all would pass."""
    assert not verify([["a"] * 9 + ["b"]], LDiversity(2, kind="recursive", c=1)).passed
    assert not verify([["a"] * 2 + ["b"] * 2], LDiversity(2, kind="recursive", c=1)).passed
    assert verify([["a"] * 2 + ["b"] * 2], LDiversity(2, kind="recursive", c=1.5)).passed


@pytest.mark.parametrize("values", [2, 3, 5, 7, 10])
def test_entropy_of_equally_frequent_values_is_not_rounded_down(values):
    """exp(log(3)) is 2.9999999999999996: cut off, a table of three values would be 2-diverse."""
    group = [str(value) for value in range(values)]
    assert verify([group], LDiversity(values, kind="entropy")).passed
    assert not verify([[*group, "0"]], LDiversity(values, kind="entropy")).passed


def test_delta_disclosure_sees_values_that_a_group_lacks():
    assert not verify([["a", "a"], ["a", "b"]], DeltaDisclosure(5)).passed
    assert verify([["a", "b"], ["a", "b"]], DeltaDisclosure(0.1)).passed


def test_the_threshold_of_t_closeness_counts():
    groups = [["a", "a"], ["b", "b"]]
    assert not verify(groups, TCloseness(0.4)).passed
    assert verify(groups, TCloseness(0.5)).passed
    table = pa.table({"q": [1, 1, 2, 2], "s": ["a", "a", "b", "b"]})
    settings = {"quasi": ["q"], "sensitive": ["s"], "k": 2}
    near = coterie.anonymize(table, **settings, privacy=["t-closeness:0.1"])
    assert near.measures["groups"] == 1
    assert coterie.anonymize(table, **settings, privacy=["t-closeness:0.5"]).measures["groups"] == 2


@pytest.mark.parametrize("method", list(all_methods()))
def test_cells_are_values_and_rows_stay_whole(people, method):
    """Not lists, not a table of quasi-identifiers alone, not sorted by group, no column of row numbers."""
    frame = people.to_pandas().set_axis(list("ihgfedcba"))
    before = frame.copy()
    release = coterie.anonymize(frame, quasi=["age", "zip"], identifiers=["name"], keep=["disease"], k=3, method=method)
    found = release.frame
    assert list(found.columns) == ["age", "zip", "disease"]
    assert found.index.equals(pd.RangeIndex(len(before)))
    pd.testing.assert_series_equal(found["disease"], before["disease"].reset_index(drop=True))
    pd.testing.assert_frame_equal(frame, before)
    for name in ("age", "zip"):
        assert {type(cell) for cell in found[name]} <= {str, int, np.int64, type(None), float}


def test_no_row_numbers_in_what_is_written(people, tmp_path):
    frame = people.to_pandas().set_axis(range(100, 109))
    coterie.anonymize(frame, quasi=["age", "zip"], identifiers=["name"], keep=["disease"], k=3).write(
        tmp_path / "out.parquet"
    )
    written = pa.parquet.read_table(tmp_path / "out.parquet")
    assert written.column_names == ["age", "zip", "disease"]
    assert written.schema.metadata is None


def test_the_second_call_gives_the_second_table():
    one, two = pa.table({"x": [1, 2, 3, 4]}), pa.table({"x": [10, 20, 30, 40]})
    first = coterie.anonymize(one, quasi=["x"], k=2).arrow
    second = coterie.anonymize(two, quasi=["x"], k=2).arrow
    assert first.column("x").to_pylist() == ["[1-2]", "[1-2]", "[3-4]", "[3-4]"]
    assert second.column("x").to_pylist() == ["[10-20]", "[10-20]", "[30-40]", "[30-40]"]


@pytest.mark.parametrize("method", IN_CLASSES)
@pytest.mark.parametrize("hierarchy", [None, coterie.intervals(5, 10, 20)], ids=["numbers", "intervals"])
def test_intervals_hold_the_values_at_their_ends(method, hierarchy):
    """Off by one, a boundary value would lie in the interval beside its own."""
    ages = [age for age in range(0, 101, 5) for _ in range(2)] + [age - 1 for age in range(5, 105, 5)]
    table = pa.table({"age": ages})
    hierarchies = {} if hierarchy is None else {"age": hierarchy}
    release = coterie.anonymize(table, quasi=["age"], k=3, hierarchies=hierarchies, method=method)
    for cell, age in zip(release.arrow.column("age").cast(pa.string()).to_pylist(), ages, strict=True):
        assert naive_publish.contains(cell, str(age))


@pytest.mark.parametrize("method", IN_CLASSES)
@pytest.mark.parametrize("rows", [10, 11, 13, 29])
def test_no_group_is_left_below_k(method, rows):
    rng = np.random.default_rng(rows)
    table = pa.table({"x": rng.integers(0, 50, rows), "y": rng.choice(["a", "b", "c"], rows)})
    release = coterie.anonymize(table, quasi=["x", "y"], k=5, method=method)
    sizes = pd.DataFrame(release.arrow.to_pydict()).groupby(["x", "y"], dropna=False).size()
    assert sizes.min() >= 5
    assert sizes.sum() == rows


def test_suppressed_rows_are_a_class_like_any_other():
    """Fewer than k rows of nothing but `*`, with their sensitive values, would be a class below k: they are removed."""
    lacking = [None] * 2 + list(range(8))
    table = pa.table({"x": pa.array(lacking, pa.int64()), "s": list("abcdefghij")})
    few = coterie.anonymize(table, quasi=["x"], sensitive=["s"], k=4, missing="suppress")
    assert few.arrow.num_rows == 8
    many = coterie.anonymize(table, quasi=["x"], sensitive=["s"], k=2, missing="suppress")
    assert many.arrow.column("x").to_pylist().count("*") == 2
    assert many.verification.suppressed == 2
    assert many.verification.k == 2


def test_what_cannot_be_done_is_an_error_that_says_why(people):
    """Neither a bare KeyError nor an empty frame."""
    with pytest.raises(ConfigError, match=r"no column 'aeg' \(did you mean 'age'\?\)"):
        coterie.anonymize(people, quasi=["aeg"], k=2)
    with pytest.raises(InfeasibleError, match="at most 9"):
        coterie.anonymize(people, quasi=["age"], drop=["name", "zip", "disease"], k=100)
    with pytest.raises(InfeasibleError) as caught:
        roles = {"quasi": ["age"], "sensitive": ["disease"], "drop": ["name", "zip"]}
        coterie.anonymize(people, **roles, k=2, privacy=["l-diversity:7"])
    assert caught.value.possible < 7


def test_dependencies_are_ranges():
    """An exact pin would keep every other version of NumPy or pandas out of the same environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for need in [*project["dependencies"], *(need for group in extras.values() for need in group)]:
        assert need.startswith("coterie[") or re.search(r">=\d", need), need
        assert not re.search(r"==|~=|!=", need), need
    tools = {"browser", "dev"}
    for need in [*project["dependencies"], *(need for name in set(extras) - tools for need in extras[name])]:
        assert re.search(r",<\d+(\.\d+)?$", need), need


def test_separators_inside_values_are_told_apart():
    """`a, b` as one value and `a` with `b` as two are published differently, and both are read back."""
    odd = ["a", "b", "a, b", "{a", "b}", "\\", "*", "[1-2]", "a,b", "{a, b}"]
    table = pa.table({"x": odd, "y": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]})
    release = coterie.anonymize(table, quasi=["x", "y"], k=2, weights={"y": 50})
    cells = release.arrow.column("x").to_pylist()
    assert len(set(cells)) == 5
    for cell, value in zip(cells, odd, strict=True):
        assert naive_publish.contains(cell, value)
    assert coterie.measure(table, release.arrow, config=release.config)["outside"] == 0


def test_missing_values_are_no_magic_numbers():
    """−999 would drag means and intervals down to it."""
    table = pa.table({"x": pa.array([50, 51, 52, None, None, None], pa.int64())})
    release = coterie.anonymize(table, quasi=["x"], k=3)
    assert release.arrow.column("x").to_pylist() == ["[50-52]"] * 3 + [None] * 3
    means = coterie.anonymize(table, quasi=["x"], k=3, publish={"x": "mean"}).arrow.column("x").to_pylist()
    assert means == [51.0] * 3 + [None] * 3


def test_what_comes_back_has_names(people):
    """Not nine values in a tuple, to be printed in the wrong order."""
    release = coterie.anonymize(people, quasi=["age"], drop=["name", "zip", "disease"], k=3)
    assert not isinstance(release.verification, tuple)
    assert release.measures["c_avg"] == 9 / (release.measures["groups"] * 3)
    with pytest.raises(KeyError, match="no measure 'gpc'; there are gcp"):
        release.measures["gpc"]


def test_the_library_prints_nothing(people, capfd):
    release = coterie.anonymize(people, quasi=["age", "zip"], drop=["name", "disease"], k=3)
    coterie.measure(people, release.arrow, config=release.config)
    assert capfd.readouterr() == ("", "")
