"""Suppression: rows and cells by masks, the limit, and that nothing suppressed makes a class which breaks a promise."""

import tomllib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.errors import ConfigError, InfeasibleError
from coterie.table.masks import read_mask

ROWS = 60
rng = np.random.default_rng(5)
TABLE = pa.table(
    {
        "age": rng.integers(20, 70, ROWS),
        "job": rng.choice(["cook", "baker", "smith"], ROWS),
        "place": rng.choice(["ab", "ac", "ba", "ca"], ROWS),
        "ill": rng.choice(["flu", "pox", "gout"], ROWS),
    }
)
SETTINGS = {
    "quasi": ["age", "job", "place"],
    "sensitive": ["ill"],
    "hierarchies": {"place": {"A": ["ab", "ac"], "B": ["ba", "ca"]}},
    "k": 3,
    "method": "mondrian",
}


def cells_of(release):
    return release.arrow.cast(pa.schema([(name, pa.string()) for name in release.arrow.column_names])).to_pylist()


def test_suppressed_rows_are_removed_or_shown_as_one_class_of_k():
    few, many = np.zeros(ROWS, bool), np.zeros(ROWS, bool)
    few[:2], many[10:15] = True, True
    release = coterie.anonymize(TABLE, suppress_rows=few, **SETTINGS)
    assert release.arrow.num_rows == ROWS - 2
    assert (release.groups[:2] == -1).all()
    assert release.measures["suppressed"] == 2
    assert "2 rows and 0 cells" in " ".join(release.notes)
    shown = coterie.anonymize(TABLE, suppress_rows=pa.array(many.tolist()), **SETTINGS)
    assert shown.arrow.num_rows == ROWS
    assert all(row["age"] == row["job"] == row["place"] == "*" for row in cells_of(shown)[10:15])
    assert shown.verification.suppressed == 5
    assert shown.measures["suppressed"] == 5
    hidden = coterie.anonymize(TABLE, suppress_rows=many, suppressed="remove", **SETTINGS)
    assert hidden.arrow.num_rows == ROWS - 5


def test_suppressed_rows_count_in_every_measure():
    mask = np.zeros(ROWS, bool)
    mask[::4] = True
    release = coterie.anonymize(TABLE, suppress_rows=mask, **SETTINGS)
    assert release.measures["suppressed"] == 15
    left = coterie.anonymize(TABLE.filter(pa.array(~mask)), **SETTINGS)
    assert release.measures["gcp"] == pytest.approx((45 * left.measures["gcp"] + 15) / 60)
    assert release.measures["discernability"] == left.measures["discernability"] + 15 * 60
    outside = coterie.measure(TABLE, release.frame, config=release.config)
    assert outside["gcp"] == pytest.approx(release.measures["gcp"])


def test_a_class_of_suppressed_rows_must_keep_the_models_too():
    alike = TABLE.set_column(3, "ill", pa.array(["flu"] * 6 + ["pox", "gout"] * 27))
    mask = np.zeros(ROWS, bool)
    mask[:6] = True
    release = coterie.anonymize(alike, suppress_rows=mask, privacy=["l-diversity:2"], **SETTINGS)
    assert release.arrow.num_rows == ROWS - 6
    assert release.verification.passed
    plain = coterie.anonymize(alike, suppress_rows=mask, **SETTINGS)
    assert plain.arrow.num_rows == ROWS


@settings(max_examples=25)
@given(st.data())
def test_suppressed_cells_are_stars_and_their_values_decide_nothing(data):
    flags = st.lists(st.booleans(), min_size=ROWS, max_size=ROWS).filter(lambda mask: not all(mask))
    masks = {name: np.array(data.draw(flags)) for name in data.draw(st.sets(st.sampled_from(SETTINGS["quasi"])))}
    form = data.draw(st.sampled_from(["interval", "bounds", "mean"]))
    release = coterie.anonymize(TABLE, suppress_cells=masks, publish={"age": form}, **SETTINGS)
    published = cells_of(release)
    for name, mask in masks.items():
        for row in np.flatnonzero(mask):
            if name == "age" and form != "interval":
                column = "age" if form == "mean" else "age_min"
                assert published[row][column] is None
            else:
                assert published[row][name] == "*"
    other = TABLE
    for name, mask in masks.items():
        swapped = np.where(mask, np.roll(TABLE[name].to_numpy(zero_copy_only=False), 1), TABLE[name])
        other = other.set_column(other.column_names.index(name), name, pa.array(swapped, TABLE[name].type))
    again = coterie.anonymize(other, suppress_cells=masks, publish={"age": form}, **SETTINGS)
    assert again.arrow.equals(release.arrow)
    assert release.measures["outside"] == 0


def test_a_suppressed_cell_costs_its_whole_group():
    mask = np.zeros(ROWS, bool)
    mask[7] = True
    release = coterie.anonymize(TABLE, suppress_cells=pd.DataFrame({"job": mask}), **SETTINGS)
    group = release.groups == release.groups[7]
    assert all(row["job"] == "*" for row, hit in zip(cells_of(release), group, strict=True) if hit)
    assert release.measures.attributes["job"].ncp >= group.sum() / ROWS
    # Other groups keep their sets of values.
    assert any(row["job"] not in ("*", None) for row in cells_of(release))


def test_suppressed_cells_are_not_rows_with_missing_values():
    mask = np.zeros(ROWS, bool)
    mask[:5] = True
    for missing in ("suppress", "error"):
        release = coterie.anonymize(TABLE, suppress_cells={"age": mask}, missing=missing, **SETTINGS)
        assert release.arrow.num_rows == ROWS


def test_masks_that_do_not_fit_are_all_named():
    with pytest.raises(ConfigError) as caught:
        read_mask(
            [True, False], {"ill": [True] * 3, "age": [1, 0, 1], "job": [True] * 3}, count=3, quasi=["age", "job"]
        )
    assert [problem.path for problem in caught.value.problems] == [
        "suppress_rows",
        "suppress_cells.ill",
        "suppress_cells.age",
        "suppress_cells.job",
    ]
    with pytest.raises(ConfigError, match="mapping or a frame"):
        read_mask(None, [True, False, True], count=3, quasi=["age"])


def test_what_a_method_suppresses_is_limited():
    settings = SETTINGS | {"method": "kaca", "options": {"suppress_above": 0.2}}
    allowed = coterie.anonymize(TABLE, **settings)
    count = int((allowed.groups < 0).sum())
    assert count > 0
    assert allowed.measures["suppressed"] == count
    with pytest.raises(InfeasibleError, match="at most 0 % are allowed") as caught:
        coterie.anonymize(TABLE, suppress_at_most=0, **settings)
    assert caught.value.possible == pytest.approx(100 * count / ROWS)
    coterie.anonymize(TABLE, suppress_at_most=caught.value.possible, **settings)
    # What the user suppresses does not count.
    mask = np.arange(ROWS) < 5
    coterie.anonymize(TABLE, suppress_rows=mask, suppress_at_most=0, **SETTINGS)


def test_too_many_suppressed_rows_leave_too_few():
    with pytest.raises(InfeasibleError, match="59 of which are suppressed"):
        coterie.anonymize(TABLE, suppress_rows=np.arange(ROWS) > 0, **SETTINGS)


def test_provenance_tells_masks_from_others(tmp_path):
    rows, other = np.arange(ROWS) < 2, np.arange(ROWS) == 5
    cells = {"age": np.arange(ROWS) == 9, "job": np.arange(ROWS) % 7 == 0}
    given = [
        {"suppress_rows": rows},
        {"suppress_rows": other},
        {"suppress_cells": cells},
        {"suppress_cells": {"age": cells["job"], "job": cells["age"]}},
        {"suppress_rows": rows, "suppress_cells": cells},
    ]
    told = []
    for at, masks in enumerate(given):
        release = coterie.anonymize(TABLE, **masks, **SETTINGS)
        told.append(release.provenance())
        release.write(tmp_path / f"out{at}.csv")
        beside = tomllib.loads((tmp_path / f"out{at}.coterie.toml").read_text())["provenance"]
        assert beside["masks"] == told[-1]["masks"]
        assert "masks_sha256" not in beside  # which would let others try out whom it hid
    assert len({facts["masks_sha256"] for facts in told}) == len(given)
    assert told[-1]["masks"].startswith("2 rows and 10 cells")
    again = coterie.anonymize(TABLE, suppress_cells=dict(reversed(cells.items())), **SETTINGS)
    assert again.provenance()["masks_sha256"] == told[2]["masks_sha256"]
    assert "masks" not in coterie.anonymize(TABLE, suppress_rows=np.zeros(ROWS, bool), **SETTINGS).provenance()
