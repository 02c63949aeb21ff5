"""Distributions before and after: histograms, associations and levels against twins and other programs."""

import json

import numpy as np
import pyarrow as pa
import pytest
from evaluation.test_queries import LEAVES, PLACES, as_texts, described, releases
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_distributions as naive
from scipy.stats import contingency

import coterie
from coterie.errors import ConfigError
from coterie.evaluation.associations import correlation, correlation_ratio, cramers_v
from coterie.evaluation.before_after import BeforeAfter
from coterie.evaluation.bins import MISSING, OTHER, bins_of
from coterie.evaluation.distributions import distributions
from coterie.settings.config import Config

QUASI = ("age", "size", "place", "flat")


@given(releases(), st.integers(1, 7))
def test_histograms_equal_the_twin(release, bins):
    table, made = release
    found = distributions(BeforeAfter.of_release(made), bins=bins)
    columns = described(table)
    sides = {"before": as_texts(table), "after": as_texts(made.arrow)}
    for name in QUASI:
        column = found.columns[name]
        assert sum(column.before) == pytest.approx(1)
        assert sum(column.after) == pytest.approx(1)
        assert column.distance == pytest.approx(naive.variation(column.before, column.after))
        assert sum(level.share for level in column.levels) == pytest.approx(1)
        labels = [None if label == MISSING else label for label in column.labels]
        for side, rows in sides.items():
            cells = [row[name] for row in rows]
            if column.kind == "category":
                shares = naive.category_shares(cells, columns[name])
                expected = [shares[label] for label in labels]
            elif column.edges is None:
                expected = [1.0]  # nothing but missing values
            else:
                present = dict(columns[name], values=[*columns[name]["values"]])
                expected = naive_numbers(cells, present, column.edges)
            assert list(getattr(column, side)) == pytest.approx(expected, abs=1e-9), (name, side)


def naive_numbers(cells, column, edges):
    """Bins and, where something is missing, the share of that."""
    gaps = None in column["values"]
    shares = [0.0] * (len(edges) - 1)
    blank = 0.0
    for cell in cells:
        pieces = naive.naive_queries.admitted(cell, column)
        lost = sum(weight for value, weight in pieces if value is None)
        blank += lost / len(cells)
        if lost < 1:
            part = naive.number_shares(
                [cell], {**column, "values": [v for v in column["values"] if v is not None]}, edges
            )
            shares = [share + (1 - lost) * one / len(cells) for share, one in zip(shares, part, strict=True)]
    return [*shares, blank] if gaps else shares


@given(releases())
def test_associations_equal_the_twin(release):
    table, made = release
    found = distributions(BeforeAfter.of_release(made))
    columns = described(table)
    sides = {"before": as_texts(table), "after": as_texts(made.arrow)}
    assert len(found.associations) == 6
    for each in found.associations:
        numbers = [name for name in (each.first, each.second) if columns[name]["kind"] != "category"]
        for side, rows in sides.items():
            if each.measure == "cramers_v":
                assert not numbers
                expected = naive.cramers_v(naive.contingency(rows, each.first, each.second, columns))
            elif each.measure == "correlation":
                pairs = [[naive.middle(row[name], columns[name]) for name in (each.first, each.second)] for row in rows]
                expected = naive.correlation(pairs)
            else:
                other = each.second if numbers == [each.first] else each.first
                expected = naive.correlation_ratio(rows, numbers[0], other, columns)
            value = getattr(each, side)
            assert value is None if expected is None else value == pytest.approx(expected, abs=1e-6)


@given(releases())
def test_what_is_not_generalised_is_the_same(release):
    table, made = release
    found = distributions(BeforeAfter(table, table, made.config))
    assert found.mean_distance == pytest.approx(0, abs=1e-12)
    assert found.association_change == pytest.approx(0, abs=1e-12)
    for column in found.columns.values():
        assert column.before == pytest.approx(column.after)
        assert column.levels[0].share == 1
        moments = (column.mean_before, column.deviation_before), (column.mean_after, column.deviation_after)
        assert moments[0] == moments[1] == (None, None) or moments[0] == pytest.approx(moments[1], abs=1e-9)


def test_other_programs_find_the_same():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 9, (4, 3)).astype(float)
    assert cramers_v(table) == pytest.approx(contingency.association(table.astype(int), method="cramer"))
    first, second = rng.normal(size=(2, 50))
    weights = rng.integers(1, 4, 50)
    expected = np.corrcoef(np.repeat(first, weights), np.repeat(second, weights))[0, 1]
    assert correlation(first, second, weights.astype(float)) == pytest.approx(expected)


def test_associations_at_their_ends():
    assert cramers_v(np.eye(3) * 4) == pytest.approx(1)
    assert cramers_v(np.ones((3, 2))) == pytest.approx(0)
    assert cramers_v(np.ones((1, 2))) is None
    assert correlation(np.arange(4.0), 7 - 2 * np.arange(4.0), np.ones(4)) == pytest.approx(-1)
    assert correlation(np.ones(4), np.arange(4.0), np.ones(4)) is None
    assert correlation_ratio(np.array([1.0, 1.0, 5.0, 5.0]), np.eye(2)[[0, 0, 1, 1]], np.ones(4)) == pytest.approx(1)
    assert correlation_ratio(np.array([1.0, 5.0, 1.0, 5.0]), np.eye(2)[[0, 0, 1, 1]], np.ones(4)) == pytest.approx(0)
    assert correlation_ratio(np.ones(4), np.eye(2)[[0, 0, 1, 1]], np.ones(4)) is None


def test_levels_and_moments():
    table = pa.table({"age": [10, 12, 14, 20], "place": ["o1", "o2", "b1", "s1"], "flat": ["a", "b", "c", "a"]})
    published = pa.table(
        {
            "age": ["[10-14]", "12", "[10-14]", "*"],
            "place": ["Oslo", "North", "*", "s1"],
            "flat": ["{a, b}", "{a, b}", "*", "a"],
        }
    )
    config = Config(quasi=["age", "place", "flat"], hierarchies={"place": PLACES}, k=1)
    found = distributions(BeforeAfter(table, published, config))
    levels = {
        name: [(each.level, each.label, each.share) for each in found.columns[name].levels] for name in config.quasi
    }
    assert levels["age"] == [(0, "value", 0.25), (1, "interval", 0.5), (2, "any value", 0.25)]
    assert levels["place"] == [(0, "value", 0.25), (1, "level 1", 0.25), (2, "level 2", 0.25), (3, "any value", 0.25)]
    assert levels["flat"] == [(0, "value", 0.25), (1, "set", 0.5), (2, "any value", 0.25)]
    age = found.columns["age"]
    worlds = [*range(10, 15)] * 2, [12] * 10, [*range(10, 21)]
    values = np.concatenate([np.repeat(world, 11 * 10 // len(world)) for world in worlds])
    weights = np.concatenate([np.full(110, 2.0), np.full(110, 1.0), np.full(110, 1.0)])
    mean = np.average(values, weights=weights)
    assert (age.mean_before, age.deviation_before) == pytest.approx((14, np.std([10, 12, 14, 20])))
    assert age.mean_after == pytest.approx(mean)
    assert age.deviation_after == pytest.approx(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def test_results_are_plain_and_can_do_without_values():
    table = pa.table({"age": [31, 32, 33, 34], "place": LEAVES[:4], "pay": [1, 2, 3, 4]})
    release = coterie.anonymize(table, quasi=["age", "place"], sensitive=["pay"], hierarchies={"place": PLACES}, k=2)
    found = distributions(BeforeAfter.of_release(release))
    assert {each.second for each in found.associations} == {"place", "pay"}
    assert json.loads(json.dumps(found.to_dict()))["columns"]["place"]["labels"] == LEAVES[:4]
    hidden = json.dumps(found.to_dict(values=False))
    assert "o1" not in hidden
    assert "labels" not in hidden
    assert "edges" not in hidden
    assert distributions(BeforeAfter.of_release(release), columns=["pay"], pairs=False).columns.keys() == {"pay"}
    with pytest.raises(ConfigError, match="bins"):
        distributions(BeforeAfter.of_release(release), bins=0)


def test_many_values_are_taken_together():
    rows = 3000
    codes = [f"{row % 1500:05}" for row in range(rows)]
    table = pa.table({"flat": codes, "zip": codes})
    config = Config(quasi=["flat", "zip"], hierarchies={"zip": coterie.prefixes(3, 2)})
    tables = BeforeAfter(table, table, config)
    flat, zips = (tables.column(name) for name in config.quasi)
    bins = bins_of(flat.domain, most=10, before=flat.before)
    assert len(bins.labels) == 10
    assert bins.labels[-1] == OTHER
    assert bins.mass(flat.before).sum() == pytest.approx(rows)
    bins = bins_of(zips.domain, most=20)
    assert bins.labels == tuple(f"{part:03}**" for part in range(15))
    assert bins.spread(zips.before).sum(axis=1) == pytest.approx(1)
    found = distributions(tables)
    assert len(found.columns["flat"].labels) == 1000
    top = found.columns["flat"].top(12)
    assert len(top.labels) == len(top.before) == 12
    assert sum(top.after) == pytest.approx(1)


def test_whole_numbers_and_dates_have_whole_bins():
    table = pa.table({"age": [17, 18, 90], "day": ["2024-01-01", "2024-01-02", "2024-03-01"], "one": [5, 5, 5]})
    found = distributions(BeforeAfter(table, table, Config(quasi=table.column_names)), bins=4)
    assert found.columns["age"].edges == (17, 36, 55, 74, 93)
    assert found.columns["age"].labels == ("17 – 35", "36 – 54", "55 – 73", "74 – 92")
    assert found.columns["day"].edges is None
    assert found.columns["day"].before == pytest.approx((2 / 3, 0, 0, 1 / 3))
    assert found.columns["day"].mean_before is None
    assert found.columns["one"].before == (1,)
