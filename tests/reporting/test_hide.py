"""The external report shows no value of the data and no count below k, wherever one looks."""

import datetime as dt
import json
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.reporting.hide import Hider, joined_edges, plain_configuration
from coterie.reporting.report import report_html, report_json, report_of

pytestmark = pytest.mark.usefixtures("few_queries")

WORD = "Zebulon"
NUMBER = 8350710
ROWS = 60
TREE = {
    f"{WORD}group{part}": [f"{WORD}{row}" for row in range(part, 12, 3)] for part in range(3)
}  # labels are planted too


def planted():
    """A table every cell of which is marked, in every role and type."""
    return pa.table(
        {
            "name": [f"{WORD} of row {row}" for row in range(ROWS)],
            "word": [f"{WORD}{row % 12}" for row in range(ROWS)],
            "flat": [f"{WORD}flat{row % 5}" for row in range(ROWS)],
            "number": [NUMBER + 7 * row for row in range(ROWS)],
            "decimal": [NUMBER + row / 8 for row in range(ROWS)],
            "day": [dt.date(1835, 7, 10) + dt.timedelta(days=row % 20) for row in range(ROWS)],
            "zip": [f"{NUMBER % 100000 + row % 9}" for row in range(ROWS)],
            "gap": [f"{WORD}gap{row % 4}" if row % 11 else None for row in range(ROWS)],
            "disease": [f"{WORD} fever {row % 6}" for row in range(ROWS)],
            "dose": [NUMBER + row % 6 for row in range(ROWS)],
            "other": [f"{WORD} other {row}" for row in range(ROWS)],
        }
    )


SETTINGS = {
    "quasi": ["word", "flat", "number", "decimal", "day", "zip", "gap"],
    "sensitive": ["disease", "dose"],
    "identifiers": ["name"],
    "keep": ["other"],
    "hierarchies": {
        "word": TREE,
        "zip": coterie.prefixes(),
        "disease": {f"{WORD}ill": [f"{WORD} fever {n}" for n in range(6)]},
    },
    "missing_values": ["", f"{WORD}missing"],
    "k": 5,
}
SECRETS = (WORD.casefold(), "83507", "1835-07")
ZIP = re.compile(r"(?<![\d.,])5071[0-8*]")  # short, so that figures such as 0.50713 must not count


def leaks(text):
    """The planted values that a text shows, also with separators between digits, or escaped."""
    folded = text.casefold()
    plain = re.sub(r"(?<=\d)[,. '_](?=\d)", "", folded)
    # Hashes are random digits: they show nothing, and may show anything.
    plain, folded = (re.sub(r"\b[0-9a-f]{64}\b", "", each) for each in (plain, folded))
    found = [secret for secret in SECRETS if secret in plain or secret in folded]
    return [*found, *(["zip"] if ZIP.search(folded) else [])]


CASES = {
    "mondrian": {"method": "mondrian"},
    "compact": {"method": "compact"},
    "global": {"method": "incognito"},
    "one by one": {"method": "nh"},
    "bounds and sets": {"method": "mondrian", "publish": {"number": "bounds", "day": "bounds", "flat": "set"}},
    "means": {"method": "mondrian", "publish": {"number": "mean", "decimal": "median"}},
    "orders and sets in the search": {"cost": "set", "ordered": {"flat": [f"{WORD}flat{row}" for row in range(5)]}},
    "promises": {
        "method": "mondrian",
        "privacy": ["l-diversity:2", "t-closeness:0.9:disease:hierarchical", "alpha-k:0.9"],
    },
    "suppressed": {"method": "mondrian", "missing": "suppress"},
    "options": {"method": "kaca", "options": {"weights": "height"}, "suppress_at_most": 90},
}


@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_planted_values_are_nowhere(changes):
    release = coterie.anonymize(planted(), **(SETTINGS | changes))
    found = report_of(release, variant="external")
    assert leaks(report_json(found)) == []
    assert leaks(report_html(found)) == []


def test_the_search_would_find_them():
    release = coterie.anonymize(planted(), method="mondrian", **SETTINGS)
    found = report_of(release, variant="internal")
    assert set(leaks(report_html(found))) >= {WORD.casefold(), "83507", "1835-07", "zip"}
    assert WORD.casefold() in leaks(report_json(found))
    assert WORD in found.reproducibility.configuration_toml


def test_files_and_populations_are_not_named(tmp_path):
    from pyarrow import parquet

    source, population = tmp_path / f"{WORD}.parquet", tmp_path / f"{WORD}-population.parquet"
    parquet.write_table(planted(), source)
    parquet.write_table(planted(), population)
    changes = {"method": "mondrian", "privacy": [f"k-map:2:{population}"], "publish": {"decimal": "bounds"}}
    release = coterie.anonymize(source, **(SETTINGS | changes))
    release.write(tmp_path / f"{WORD}-out.csv")
    release.report(tmp_path / "report.html", variant="external")
    release.report(tmp_path / "report.json", variant="external")
    for name in ("report.html", "report.json"):
        assert leaks((tmp_path / name).read_text(encoding="utf-8")) == []
    values = json.loads((tmp_path / "report.json").read_text())
    assert values["input"]["sha256"] is None
    assert list(values["reproducibility"]["hashes"]) == ["release"]
    assert values["reproducibility"]["configuration"]["privacy"] == ["k-map:2"]


def test_notes_and_masks_are_not_quoted():
    release = coterie.anonymize(planted(), suppress_rows=np.arange(ROWS) < 7, method="mondrian", **SETTINGS)
    found = report_of(release, variant="external")
    assert leaks(report_html(found)) == []
    assert "by hand" in " ".join(found.suppression.text)


# Counts

COUNTS = (
    "input.rows",
    "input.missing_cells",
    "risk.before.rows",
    "risk.before.uniques",
    "risk.before.prosecutor.above",
    "risk.after.uniques",
    "risk.after.prosecutor.above",
    "linking.matched",
    "linking.pinned",
    "linking.below_k",
    "linking.fewest",
    "suppression.rows",
    "suppression.removed",
    "utility.smallest",
)


def at(report, path):
    value = report
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


def counts_of(report):
    found = {path: at(report, path) for path in COUNTS}
    found |= {f"missing of {each.name}": each.missing for each in report.attributes}
    found |= {f"sure of {each.column}": each.known_for_sure for each in report.disclosure}
    found |= {f"above of {each.column}": each.above_baseline for each in report.disclosure}
    found |= {f"before from {each.smallest}": each.before for each in report.risk.class_sizes}
    found |= {f"after from {each.smallest}": each.after for each in report.risk.class_sizes}
    return found


rows = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(["a", "b", "c", None]), st.sampled_from("xyz")),
    min_size=8,
    max_size=40,
)


@given(rows=rows, k=st.integers(2, 5), missing=st.sampled_from(["category", "suppress"]))
def test_no_count_below_k_is_shown(rows, k, missing):
    table = pa.table(
        {
            "age": [row[0] for row in rows],
            "job": pa.array([row[1] for row in rows], pa.string()),
            "disease": [row[2] for row in rows],
        }
    )
    if missing == "suppress" and sum(row[1] is not None for row in rows) < k:
        return
    release = coterie.anonymize(
        table, quasi=["age", "job"], sensitive=["disease"], k=k, method="mondrian", missing=missing
    )
    found = report_of(release, variant="external")
    for path, count in counts_of(found).items():
        assert count is None or count == 0 or count >= k, path
    removed = len(rows) - release.frame.num_rows
    if 0 < removed < k:
        # Whoever has the release could subtract.
        told = json.loads(report_json(found))
        assert told["input"]["rows"] is None
        assert told["risk"]["before"]["rows"] is None
        assert all(each["before"] is None for each in told["risk"]["class_sizes"])
        figures = {each["name"]: each["value"] for each in told["utility"]["measures"]}
        assert figures["discernability"] is None
        assert figures["suppressed"] is None
    elif found.risk.class_sizes[0].before is not None:
        assert sum(each.before for each in found.risk.class_sizes) == len(rows)


def test_small_counts_are_hidden_and_large_ones_shown():
    ages = [20] * 20 + [30] * 20 + [77, 78, 79]
    table = pa.table({"age": ages, "job": ["a"] * 41 + [None, "b"], "disease": ["x", "y"] * 21 + ["x"]})
    release = coterie.anonymize(table, quasi=["age", "job"], sensitive=["disease"], k=5, method="mondrian")
    inside, outside = (report_of(release, variant=variant) for variant in ("internal", "external"))
    assert inside.risk.before.uniques == 3
    assert outside.risk.before.uniques is None
    assert outside.risk.before.unique_share is None
    assert inside.input.missing_cells == 1
    assert outside.input.missing_cells is None
    assert outside.input.rows == 43
    page = report_html(outside)
    assert "hidden" in page
    assert ">3 (" not in page
    # The three are in one bar with others.
    assert outside.risk.class_sizes[0].before == 43 or outside.risk.class_sizes[0].before == 0


def test_a_table_whose_class_sizes_are_all_hidden_has_a_report_without_the_curve():
    # One size of class holds too few rows to be shown, and all others hold none: the bars are joined into one.
    table = pa.table({"number": [*range(58), 0, 1], "word": [f"w{row}" for row in range(58)] + ["w0", "w1"]})
    report = report_of(coterie.anonymize(table, quasi=["number", "word"], k=10), variant="external")
    assert report.risk.curve == []
    assert 'id="risk-curve"' not in report_html(report)
    assert 'id="class-sizes"' in report_html(report)


def test_uniques_are_shown_where_there_are_many():
    table = pa.table({"age": list(range(40)) + [50] * 20})
    release = coterie.anonymize(table, quasi=["age"], k=5, method="mondrian")
    found = report_of(release, variant="external")
    assert found.risk.before.uniques == 40
    assert found.risk.before.unique_share == pytest.approx(40 / 60, abs=1e-3)


@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=40),
    edges=st.sets(st.integers(2, 30), max_size=8),
    k=st.integers(1, 12),
)
def test_joined_bars_hold_nothing_or_enough(sizes, edges, k):
    counts = np.array(sizes)
    start = [1, *sorted(edges)]
    kept = joined_edges(start, counts, counts, k)
    assert kept[0] == 1
    assert set(kept) <= set(start)
    held = np.zeros(len(kept), dtype=int)
    np.add.at(held, np.searchsorted(kept, counts, side="right") - 1, counts)
    assert held.sum() == counts.sum()
    if counts.sum() >= k:
        assert all(each == 0 or each >= k for each in held)
    if (counts >= k).all():
        assert kept == start  # nothing had to be joined


def test_the_hider():
    inside = Hider(5, external=False, rows=100, published=97)
    assert (inside.count(3), inside.share(3, of=100), inside.of_rows(7)) == (3, 0.03, 7)
    outside = Hider(5, external=True, rows=100, published=97)
    assert [outside.count(n) for n in (0, 1, 4, 5)] == [0, None, None, 5]
    assert outside.count(97, of=100) is None
    assert outside.share(4, of=100) is None
    assert outside.share(50, of=100) == 0.5
    assert outside.of_rows(7) is None
    assert outside.figure(0.123456) == 0.123
    assert outside.figure(float("inf")) is None
    assert Hider(5, external=True, rows=100, published=95).of_rows(7) == 7


def test_configurations_lose_what_may_stand_in_the_data():
    values = {
        "k": 5,
        "missing_values": ["secret"],
        "hierarchies": {"zip": {"tree": {"secret": ["secret"]}}},
        "ordered": {"degree": ["secret", "top secret"]},
        "options": {"loss": "ncp", "tries": 3, "path": "some secret, in words", "level_weights": {"zip": [1, 2]}},
        "privacy": [
            "l-diversity:3:disease",
            "k-map:5:/home/secret.csv",
            {"model": "k-map", "k": 2, "population": "secret"},
        ],
    }
    plain = plain_configuration(values, shapes={"zip": "tree of 3 levels"})
    assert "secret" not in json.dumps(plain)
    assert plain["ordered"] == {"degree": "2 values"}
    assert plain["options"] == {"loss": "ncp", "tries": 3, "level_weights": {"zip": [1, 2]}}
    assert plain["privacy"] == ["l-diversity:3:disease", "k-map:5", {"model": "k-map", "k": 2}]
