"""Queries on a release: estimates equal what slow twins find, exact data have no error, workloads are as asked for."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_queries

import coterie
from coterie.errors import ConfigError, DataError
from coterie.evaluation.before_after import BeforeAfter
from coterie.evaluation.queries import QueryErrors, answer_queries
from coterie.evaluation.query_file import bind_queries
from coterie.evaluation.query_workload import Workload, draw_queries, query_errors, subset_errors
from coterie.settings.config import Config

PLACES = {"North": {"Oslo": ["o1", "o2"], "Bergen": ["b1"]}, "South": ["s1", "s2", "s3"]}
LABELS = {
    "North": ["o1", "o2", "b1"],
    "Oslo": ["o1", "o2"],
    "Bergen": ["b1"],
    "South": ["s1", "s2", "s3"],
}
LEAVES = ["o1", "o2", "b1", "s1", "s2", "s3"]


@st.composite
def releases(draw, *, missing=True):
    """A small original with whole and real numbers, a tree, a flat category and a plain column; and its release."""
    rows = draw(st.integers(2, 18))
    gap = [None] if missing and draw(st.booleans()) else []

    def column(values, kind):
        return pa.array(draw(st.lists(st.sampled_from([*values, *gap]), min_size=rows, max_size=rows)), type=kind)

    table = pa.table(
        {
            "age": column([3, 4, 7, 11, 30, 31], pa.int64()),
            "size": column([0.25, 0.5, 1.75, 8.5], pa.float64()),
            "place": column(LEAVES, pa.string()),
            "flat": column(["a", "b", "c", "d"], pa.string()),
            "pay": pa.array(draw(st.lists(st.integers(-5, 90), min_size=rows, max_size=rows)), pa.int64()),
        }
    )
    k = draw(st.integers(1, min(4, rows)))
    method = draw(st.sampled_from(["mondrian", "kmembers", "incognito", "nh"]))
    options = {"key": "the same key each time"} if method == "nh" else {}
    quasi = ["age", "size", "place", "flat"]
    roles = {"quasi": quasi, "keep": ["pay"], "hierarchies": {"place": PLACES}}
    release = coterie.anonymize(table, **roles, k=k, method=method, options=options)
    return table, release


def described(table):
    """The columns as the twin wants them."""
    kinds = {"age": "whole", "size": "real", "place": "category", "flat": "category", "pay": "whole"}
    found = {name: {"kind": kind, "values": table.column(name).to_pylist()} for name, kind in kinds.items()}
    present = [value for value in LEAVES if value in found["place"]["values"]]
    labels = {label: [leaf for leaf in leaves if leaf in present] for label, leaves in LABELS.items()}
    found["place"]["labels"] = {label: leaves for label, leaves in labels.items() if leaves}
    return found


def as_texts(table):
    columns = {name: table.column(name).cast(pa.string()).to_pylist() for name in table.column_names}
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def plain_predicate(predicate, table):
    """A predicate of a random query in the twin's terms."""
    values = table.column(predicate.column)
    if predicate.spans is not None:
        (span,) = predicate.spans
        known = [value for value in values.to_pylist() if value is not None]
        return span.low + min(known, default=0), span.high + min(known, default=0)
    return None


@given(releases(), st.integers(0, 10**6), st.booleans())
def test_estimates_equal_the_twin(release, seed, summed):
    table, made = release
    tables = BeforeAfter.of_release(made)
    workload = Workload(count=12, seed=seed, root=True, sum="age" if summed else None)
    found = query_errors(tables, workload)
    columns = described(table)
    original, published = as_texts(table), as_texts(made.arrow)
    for query, actual, estimate in zip(found.queries, found.actual, found.estimate, strict=True):
        where = {}
        for predicate in query.where:
            plain = plain_predicate(predicate, table)
            if plain is None:
                domain = tables.column(predicate.column).domain
                held = {
                    value for value, inside in zip(domain.values.to_pylist(), predicate.mask, strict=True) if inside
                }
                plain = held.__contains__
            where[predicate.column] = plain
        assert actual == pytest.approx(naive_queries.estimate(original, where, columns, query.sum))
        assert estimate == pytest.approx(naive_queries.estimate(published, where, columns, query.sum), abs=1e-9)


def test_estimates_equal_many_drawn_worlds():
    table = pa.table({"age": [24, 28, 30, 41, 41, 64], "size": [0.5, 1.0, 4.5, 2.0, 3.0, 9.5], "place": LEAVES})
    config = {"quasi": ["age", "size", "place"], "hierarchies": {"place": PLACES}}
    release = coterie.anonymize(table, **config, k=3, method="mondrian")
    tables = BeforeAfter.of_release(release)
    (query,) = bind_queries(["age between 26 and 50 and size between 0.75 and 3.25 and place = 'North'"], tables)
    found = answer_queries(tables, [query])
    columns = {
        "age": {"kind": "whole", "values": table["age"].to_pylist()},
        "size": {"kind": "real", "values": table["size"].to_pylist()},
        "place": {"kind": "category", "values": LEAVES, "labels": LABELS},
    }
    where = {"age": (26, 50), "size": (0.75, 3.25), "place": LABELS["North"].__contains__}
    mean, error = naive_queries.monte_carlo(as_texts(release.arrow), where, columns, rounds=20_000, seed=1)
    assert found.actual.tolist() == [1]
    assert 0 < found.estimate[0] < 3
    assert abs(found.estimate[0] - mean) < 5 * error


SIX = pa.table(
    {
        "age": [24, 28, 30, 41, 41, 64],
        "education": ["Bachelors", "Masters", "Bachelors", "HS-grad", "11th", "9th"],
        "pay": [10.5, 20.25, 30.0, 40.0, 50.0, 60.0],
    }
)
SIX_CONFIG = Config(
    quasi=["age", "education"],
    hierarchies={"education": {"High": ["Bachelors", "Masters"], "Low": ["HS-grad", "11th", "9th"]}},
    k=2,
)
SIX_PUBLISHED = pa.table(
    {
        "age": ["[24-30]"] * 3 + ["41"] * 2 + ["*"],
        "education": ["High"] * 3 + ["Low"] * 2 + ["*"],
        "pay": [10.5, 20.25, 30.0, 40.0, 50.0, 60.0],
    }
)


@pytest.mark.parametrize(
    ("text", "actual", "estimate"),
    [
        ("age between 24 and 26 and education = 'Bachelors'", 1, 3 * 3 / 7 * 1 / 2 + 3 / 41 * 1 / 5),
        ("education = 'High'", 3, 3 + 2 / 5),
        ("age = 41", 2, 2 + 1 / 41),
        ("age > 30 and age < 42", 2, 2 + 11 / 41),
        ("sum(age) where education = 'High'", 82, 3 * 27 + 44 * 2 / 5),
        ("sum(age) where age <= 25", 24, 3 * (24 + 25) / 7 + (24 + 25) / 41),
        ("sum(pay) where education = 'Low'", 150, 90 + 60 * 3 / 5),
        ("sum(pay)", 210.75, 210.75),
        ("count", 6, 6),
        ("pay >= 40 and age < 50", 2, 2 + 26 / 41),
        ("sum(pay) where pay < 30 and age < 27", 10.5, 30.75 * 3 / 7),
        ("age not in (41, 64)", 3, 3 + 39 / 41),
        ("age != 41 and education != '9th'", 3, 3 + 40 / 41 * 4 / 5),
        ("age is null", 0, 0),
        ("age is not null and education is not null", 6, 6),
    ],
)
def test_worked_queries(text, actual, estimate):
    tables = BeforeAfter(SIX, SIX_PUBLISHED, SIX_CONFIG)
    found = answer_queries(tables, bind_queries([text], tables))
    assert found.actual[0] == pytest.approx(actual)
    assert found.estimate[0] == pytest.approx(estimate)


@given(releases(), st.integers(0, 1000), st.sampled_from([None, "pay", "age", "size"]))
def test_data_that_are_not_generalised_have_no_error(release, seed, summed):
    table, made = release
    exact = BeforeAfter(table, table, made.config)
    shuffled = table.select([*reversed(table.column_names)])
    for tables in (exact, BeforeAfter(table, shuffled, made.config)):
        found = query_errors(tables, Workload(count=20, seed=seed, sum=summed))
        assert found.actual.tolist() == found.estimate.tolist()
        assert found.summary.skipped == 20 or found.summary.largest == 0


def test_a_true_answer_of_0_is_skipped_and_counted():
    tables = BeforeAfter(SIX, SIX_PUBLISHED, SIX_CONFIG)
    found = answer_queries(tables, bind_queries(["age between 25 and 27", "age = 41"], tables))
    assert found.actual.tolist() == [0, 2]
    assert found.estimate[0] > 0
    summary = found.summary
    assert (summary.queries, summary.skipped) == (2, 1)
    assert summary.median == summary.mean == summary.p95 == pytest.approx(1 / 82)
    assert summary.absolute == pytest.approx((found.estimate[0] + 1 / 41) / 2)
    nothing = found.where([0])
    assert np.isnan(nothing.summary.mean)
    assert nothing.to_dict()["mean"] is None


def test_figures_of_a_workload():
    actual, estimate = np.array([10.0, 10.0, 0.0, -4.0]), np.array([10.0, 15.0, 3.0, -2.0])
    found = QueryErrors(tuple(draw_queries(BeforeAfter(SIX, SIX, SIX_CONFIG), Workload(count=4))), actual, estimate)
    assert found.errors[:2].tolist() == [0, 0.5]
    assert found.errors[3] == 0.5
    assert found.summary.median == 0.5
    assert found.summary.mean == pytest.approx(1 / 3)
    assert found.summary.absolute == 2.5
    assert sum(each["queries"] for each in found.to_dict()["by_columns"]) == 4


@pytest.mark.parametrize("style", ["bounds", "mean", "median"])
def test_every_form_of_numbers_is_read(style):
    table = pa.table({"age": [20, 22, 24, 40, 42, 47], "sex": ["m", "f"] * 3})
    release = coterie.anonymize(table, quasi=["age", "sex"], k=3, method="mondrian", publish={"age": style})
    tables = BeforeAfter.of_release(release)
    texts = ["age between 20 and 24", "sum(age)", "sum(age) where age < 30"]
    found = answer_queries(tables, bind_queries(texts, tables))
    centre = {"bounds": 22 * 3 + 43.5 * 3, "mean": 195, "median": 22 * 3 + 42 * 3}[style]
    assert found.actual.tolist() == [3, 195, 66]
    assert found.estimate.tolist() == pytest.approx([3, centre, 66])


def test_sets_are_spread_over_their_members_only():
    table = pa.table({"job": ["a", "b", "c", "d"], "age": [1, 2, 3, 4]})
    published = pa.table({"job": ["{a, d}", "{b, c}", "{b, c}", "{a, d}"], "age": [1, 2, 3, 4]})
    tables = BeforeAfter(table, published, Config(quasi=["job"], k=2))
    found = answer_queries(tables, bind_queries(["job = 'a'", "job in ('b', 'c')", "job != 'd'"], tables))
    assert found.estimate.tolist() == [1, 2, 3]


def test_removed_rows_and_other_types_of_file():
    published = SIX_PUBLISHED.slice(0, 5)
    as_text = published.set_column(2, "pay", pa.array(["10.5", "20.25", "30", "40", "50"]))
    for release in (published, as_text):
        tables = BeforeAfter(SIX, release, SIX_CONFIG)
        found = answer_queries(tables, bind_queries(["count", "sum(pay)", "pay = 20.25"], tables))
        assert found.actual.tolist() == [6, 210.75, 1]
        assert found.estimate.tolist() == [5, 150.75, 1]


def test_rows_that_were_left_out_for_missing_values_count_in_the_truth():
    table = pa.table({"age": [20, 21, None, 40], "sex": ["m", "m", "m", "m"]})
    release = coterie.anonymize(table, quasi=["age", "sex"], k=1, missing="suppress", suppressed="remove")
    tables = BeforeAfter.of_release(release)
    found = answer_queries(tables, bind_queries(["sex = 'm'", "age is null"], tables))
    assert found.actual.tolist() == [4, 1]
    assert found.estimate.tolist() == [3, 0]


# Workloads


def wide():
    table = pa.table({name: [(row * step) % 16 for row in range(200)] for step, name in ((1, "a"), (3, "b"), (7, "c"))})
    return BeforeAfter(table, table, Config(quasi=["a", "b", "c"], weights={"a": 8, "b": 2, "c": 1}))


def test_workloads_follow_the_seed_and_the_original_alone():
    tables = wide()
    coarse = BeforeAfter(tables.original, tables.original.slice(0, 3), tables.config)

    def spans(queries):
        return [[(each.column, each.spans) for each in query.where] for query in queries]

    drawn = spans(draw_queries(tables, Workload(count=50)))
    assert spans(draw_queries(coarse, Workload(count=50))) == drawn
    assert spans(draw_queries(tables, Workload(count=50, seed=1))) != drawn


def test_heavy_columns_are_asked_for_more_often():
    drawn = draw_queries(wide(), Workload(count=2000, size=1))
    shares = {name: sum(query.columns == (name,) for query in drawn) / 2000 for name in "abc"}
    for name, share in {"a": 8 / 11, "b": 2 / 11, "c": 1 / 11}.items():
        assert shares[name] == pytest.approx(share, abs=0.04)
    even = draw_queries(wide(), Workload(count=2000, size=1, weighted=False))
    assert sum(query.columns == ("c",) for query in even) / 2000 == pytest.approx(1 / 3, abs=0.04)


def test_a_weight_of_0_comes_last():
    tables = wide()
    tables = dataclasses.replace(tables, config=tables.config.replace(weights={"a": 0}))
    assert all("a" not in query.columns for query in draw_queries(tables, Workload(count=100, size=2)))
    assert all("a" in query.columns for query in draw_queries(tables, Workload(count=10, size=3)))


@pytest.mark.parametrize("selectivity", [0.01, 0.25, 1.0])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_selectivity_is_the_share_of_possible_rows(selectivity, size):
    for query in draw_queries(wide(), Workload(count=30, size=size, selectivity=selectivity)):
        for predicate in query.where:
            (span,) = predicate.spans
            assert 0 <= span.low <= span.high <= 15
            assert span.high - span.low + 1 == max(round(16 * selectivity ** (1 / size)), 1)


def test_selectivity_of_categories():
    table = pa.table({"place": LEAVES, "flat": list("abcdef")})
    tables = BeforeAfter(table, table, Config(quasi=["place", "flat"], hierarchies={"place": PLACES}))
    for query in draw_queries(tables, Workload(count=40, size=1, selectivity=0.5)):
        assert query.where[0].mask.sum() == 3
    for query in draw_queries(tables, Workload(count=20, size=1, columns=("place",), selectivity=1 / 6)):
        assert query.where[0].mask.sum() == 1


def test_real_numbers_have_real_ranges():
    table = pa.table({"x": [0.25, 1.5, 7.75]})
    tables = BeforeAfter(table, table, Config(quasi=["x"]))
    for query in draw_queries(tables, Workload(count=20, selectivity=0.2)):
        (span,) = query.where[0].spans
        assert span.high - span.low == pytest.approx(1.5)
        assert 0 <= span.low <= span.high <= 7.5


def test_the_workload_of_the_paper():
    """Xu et al. 2006: COUNT involves all attributes, SUM all but the summed one; a label may be any inner node."""
    table = pa.table({"age": list(range(6)), "place": LEAVES})
    tables = BeforeAfter(table, table, Config(quasi=["age", "place"], hierarchies={"place": PLACES}))
    counts = draw_queries(tables, Workload.of_paper(count=300))
    assert {query.columns for query in counts} == {("age", "place")}
    asked = {tuple(np.flatnonzero(query.where[1].mask)) for query in counts}
    leaves, inner = {(code,) for code in range(6)}, {(0, 1), (0, 1, 2), (3, 4, 5), (0, 1, 2, 3, 4, 5)}
    assert asked == leaves | inner
    assert {query.columns for query in draw_queries(tables, Workload.of_paper(count=9, sum="age"))} == {("place",)}
    without_root = draw_queries(tables, Workload(count=300, columns=("place",)))
    assert {tuple(np.flatnonzero(query.where[0].mask)) for query in without_root} == leaves | inner - {tuple(range(6))}


def test_queries_without_rows_can_be_drawn_again():
    table = pa.table({"x": [0, 1000], "y": [0, 1000]})
    tables = BeforeAfter(table, table, Config(quasi=["x", "y"]))
    assert query_errors(tables, Workload(count=50, size=2)).summary.skipped > 0
    found = query_errors(tables, Workload(count=50, size=2, nonempty=True))
    assert found.summary.skipped == 0
    assert len(found.queries) <= 50


def test_subsets_of_columns():
    tables = wide()
    found = subset_errors(tables, Workload(count=5))
    assert list(found) == [("a",), ("a", "b"), ("a", "b", "c")]
    assert all({query.columns for query in errors.queries} == {names} for names, errors in found.items())
    assert len(subset_errors(tables, Workload(count=2), subsets="all")) == 7
    assert list(subset_errors(tables, Workload(count=2), subsets=[("c", "a")])) == [("c", "a")]
    many = BeforeAfter(
        pa.table({f"q{at}": [1, 2] for at in range(11)}), pa.table({}), Config(quasi=[f"q{at}" for at in range(11)])
    )
    with pytest.raises(ConfigError, match="2,047 subsets"):
        subset_errors(many, subsets="all")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"count": 0}, "queries"),
        ({"size": 0}, "size"),
        ({"selectivity": 0.0}, "selectivity"),
        ({"selectivity": 1.5}, "selectivity"),
        ({"points": -0.1}, "points"),
        ({"seed": -1}, "seed"),
    ],
)
def test_workloads_that_make_no_sense(settings, text):
    with pytest.raises(ConfigError, match=text):
        Workload(**settings)


def test_columns_that_cannot_be_asked_for():
    tables = wide()
    with pytest.raises(ConfigError, match="no column 'z'"):
        query_errors(tables, Workload(columns=("z",)))
    with pytest.raises(ConfigError, match="no column is left"):
        query_errors(tables, Workload(columns=("a",), sum="a"))
    named = pa.table({"x": [1, 2], "name": ["Ann", "Bob"]})
    tables = BeforeAfter(named, named.drop_columns(["name"]), Config(quasi=["x"], identifiers=["name"]))
    with pytest.raises(ConfigError, match="in the release"):
        query_errors(tables, Workload(columns=("name",)))
    with pytest.raises(ConfigError, match="not numeric"):
        query_errors(BeforeAfter(named, named, Config(quasi=["x"])), Workload(sum="name"))
    with pytest.raises(DataError, match="no column 'x'"):
        query_errors(BeforeAfter(named, named.drop_columns(["x"]), Config(quasi=["x"])))


def test_sums_of_columns_that_are_numbers_under_a_hierarchy():
    table = pa.table({"age": [1, 3, 11, 14], "sex": ["m", "m", "f", "f"]})
    config = Config(quasi=["age", "sex"], hierarchies={"age": coterie.intervals(10)}, k=2)
    release = coterie.anonymize(table, config=config, method="mondrian")
    assert release.arrow["age"].to_pylist() == ["[0-9]", "[0-9]", "[10-19]", "[10-19]"]
    tables = BeforeAfter.of_release(release)
    texts = ["sum(age) where sex = 'f'", "age < 3", "age between 2 and 12", "age = 14"]
    found = answer_queries(tables, bind_queries(texts, tables))
    assert found.actual.tolist() == [25, 1, 2, 1]
    assert found.estimate.tolist() == pytest.approx([25, 1, 2, 1])


def test_columns_without_a_role_may_hold_anything():
    mixed = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "x"]
    table = pa.table({"age": list(range(10)), "mixed": mixed})
    tables = BeforeAfter(table, table, Config(quasi=["age"]))
    found = answer_queries(tables, bind_queries(["mixed = 'x'", "mixed in ('3', '4') and age > 2"], tables))
    assert found.actual.tolist() == found.estimate.tolist() == [1, 1]


def test_dates_are_counted_in_days():
    days = ["2024-01-01", "2024-01-05", "2024-02-01", "2024-02-11"]
    table = pa.table({"day": days, "x": [1, 2, 3, 4]})
    published = pa.table(
        {"day": ["[2024-01-01, 2024-01-05]"] * 2 + ["[2024-02-01, 2024-02-11]"] * 2, "x": [1, 2, 3, 4]}
    )
    tables = BeforeAfter(table, published, Config(quasi=["day"], k=2))
    texts = ["day <= '2024-01-03'", "day > '2024-01-31' and day < '2024-02-02'", "x > 2"]
    found = answer_queries(tables, bind_queries(texts, tables))
    assert found.actual.tolist() == [1, 1, 2]
    assert found.estimate.tolist() == pytest.approx([2 * 3 / 5, 2 / 11, 2])
