"""Risk: attackers, thresholds, population uniqueness against exact cases and simulation, and who adds risk."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_risk

import coterie
from coterie.disclosure.columns import rank_columns
from coterie.disclosure.population import (
    Sample,
    digamma,
    estimate_uniques,
    pitman,
    pitman_parameters,
    shlosser,
    slide_negative_binomial,
    zayatz,
)
from coterie.disclosure.risk import PRESETS, expected_risks, find_threshold, risk_of_table
from coterie.errors import ConfigError

cells = st.sampled_from(["a", "b", "c", None])


def sample_of(classes, fraction):
    sizes, counts = np.unique(classes, return_counts=True)
    return Sample(sizes.astype(np.int64), counts.astype(np.int64), fraction)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=20), st.sampled_from(["ema", "cms", "strict", 0.3, 1]))
def test_prosecutor_and_uniques(rows, threshold):
    table = pa.table({"x": [row[0] for row in rows], "y": [row[1] for row in rows]})
    found = risk_of_table(table, quasi=["x", "y"], threshold=threshold)
    highest, average, above = naive_risk.prosecutor(rows, find_threshold(threshold).value)
    assert found.prosecutor.highest == pytest.approx(float(highest))
    assert found.prosecutor.average == found.marketer == pytest.approx(float(average))
    assert found.prosecutor.above == above
    assert found.prosecutor.share_above == above / len(rows)
    assert found.uniques == naive_risk.sizes(rows).count(1)
    assert found.journalist is None


def test_thresholds_are_exact():
    eleven, twelve = (pa.table({"x": [1] * rows}) for rows in (11, 12))
    # 1/11 is above 0.09, but not above the 1/11 that k = 11 means.
    assert risk_of_table(eleven, quasi=["x"]).prosecutor.above == 11
    assert risk_of_table(eleven, quasi=["x"], threshold="cms").prosecutor.above == 0
    assert risk_of_table(twelve, quasi=["x"]).prosecutor.above == 0
    assert risk_of_table(pa.table({"x": [1] * 20}), quasi=["x"], threshold=0.05).prosecutor.above == 0
    assert (PRESETS["ema"].rows, PRESETS["cms"].rows, PRESETS["strict"].rows) == (12, 11, 20)
    assert find_threshold("1/3").value == Fraction(1, 3)
    for wrong in (0, -1, 1.5, "often", "1/0", float("nan")):
        with pytest.raises(ConfigError, match="threshold"):
            find_threshold(wrong)


def test_an_empty_table_is_no_risk():
    found = risk_of_table(pa.table({"x": pa.array([], pa.int64())}), quasi=["x"])
    assert (found.rows, found.prosecutor.highest, found.marketer, found.unique_share) == (0, 0.0, 0.0, 0.0)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=12), st.lists(st.tuples(cells, cells), max_size=30))
def test_journalist_counts_in_a_population(rows, others):
    rows = [row for row in rows if None not in row] or [("a", "a")]
    others = [row for row in others if None not in row]
    people = rows + others
    table, population = (
        pa.table({"x": [row[0] for row in each], "y": [row[1] for row in each]}) for each in (rows, people)
    )
    found = risk_of_table(table, quasi=["x", "y"], population=population)
    risks = [1 / people.count(row) for row in rows]
    assert found.journalist.highest == pytest.approx(max(risks))
    assert found.journalist.average == found.marketer == pytest.approx(sum(risks) / len(risks))
    assert found.journalist.above == sum(people.count(row) < 12 for row in rows)
    assert found.unique_matches == sum(people.count(row) == 1 for row in rows)
    assert found.population == len(people)


def test_journalist_of_a_release_counts_who_fits_its_intervals():
    release = pa.table({"age": ["[20-29]", "[20-29]", "*"], "sex": ["f", "f", "{f, m}"]})
    population = pa.table({"age": [19, 20, 25, 29, 30], "sex": ["f", "f", "m", "f", "m"]})
    found = risk_of_table(release, quasi=["age", "sex"], population=population)
    assert found.journalist.average == pytest.approx((1 / 2 + 1 / 2 + 1 / 5) / 3)


@pytest.mark.parametrize("fraction", [0.01, 0.2, 0.5, 0.5001, 0.6, 0.9, 1.0])
def test_expected_risk_of_a_sampled_class(fraction):
    counts = np.array([1, 2, 3, 7, 40])
    wanted = [naive_risk.expected_risk(int(count), fraction) for count in counts]
    assert expected_risks(counts, fraction) == pytest.approx(wanted, rel=1e-9)
    if fraction == 1.0:
        assert wanted == pytest.approx(1 / counts)


def test_a_fraction_brings_journalist_and_estimates():
    table = pa.table({"x": [1, 2, 3, 3, 4, 4, 4]})
    found = risk_of_table(table, quasi=["x"], fraction=0.05)
    assert found.journalist.highest == pytest.approx(naive_risk.expected_risk(1, 0.05))
    assert found.population == 140
    assert found.population_uniques.chosen == "pitman"
    values = found.to_dict()
    assert values["population_uniques"]["estimate"] == found.population_uniques.estimate
    assert values["threshold"]["value"] == 0.09
    for wrong in ({"fraction": 0}, {"fraction": 1.5}, {"fraction": 0.1, "population": table}):
        with pytest.raises(ConfigError, match="fraction"):
            risk_of_table(table, quasi=["x"], **wrong)


def test_people_are_counted_once():
    table = pa.table({"x": ["a", "a", "a", "b", "b"], "who": [1, 1, 2, 3, 3]})
    found = risk_of_table(table, quasi=["x"], people=table["who"])
    assert found.counted == "people"
    assert found.prosecutor.highest == 1.0
    assert found.uniques == 2
    assert coterie.risk(table, quasi=["x"], entity="who").prosecutor == found.prosecutor


@given(st.lists(st.integers(1, 5), min_size=1, max_size=7), st.integers(1, 4))
def test_zayatz_is_exact_on_small_samples(classes, times):
    rows = sum(classes)
    wanted = naive_risk.zayatz(classes, rows * times)
    assert zayatz(sample_of(classes, 1 / times)) == pytest.approx(float(wanted), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("theta", "alpha"), [(1.0, 0.0), (0.5, 0.5), (3.0, 0.2), (-0.2, 0.6)])
@pytest.mark.parametrize("population", [1, 2, 5, 9])
def test_pitmans_expected_uniques(theta, alpha, population):
    logs = math.lgamma(theta + 1) + math.lgamma(theta + alpha + population - 1)
    logs -= math.lgamma(theta + alpha) + math.lgamma(theta + population)
    assert population * math.exp(logs) == pytest.approx(naive_risk.pitman_uniques(theta, alpha, population))


@pytest.mark.parametrize("classes", [[1, 1, 2, 3], [1, 1, 1, 1, 2, 2, 7], [1, 3, 3, 4], [1, 1, 5, 9, 2, 1, 1, 1]])
def test_pitmans_parameters_are_the_likeliest(classes):
    theta, alpha = pitman_parameters(sample_of(classes, 0.1))
    best = naive_risk.pitman_likelihood(theta, alpha, classes)
    for other_alpha in np.linspace(1e-4, 0.999, 60):
        for other_theta in -other_alpha + np.geomspace(1e-3, 1e4, 80):
            assert naive_risk.pitman_likelihood(other_theta, other_alpha, classes) <= best * (1 + 1e-6)


def test_digamma_is_the_slope_of_log_gamma():
    for x in (0.01, 0.5, 1.0, 3.7, 42.0, 1e4):
        step = 1e-5 * max(x, 1)
        assert digamma(x) == pytest.approx((math.lgamma(x + step) - math.lgamma(x - step)) / (2 * step), rel=1e-4)
    assert digamma(1.0) == pytest.approx(-0.5772156649015329, abs=1e-12)


def test_slide_negative_binomial_fits_what_it_saw(monkeypatch):
    """Given the sample that a known population would show, it finds the population's uniques again."""
    number, alpha, beta, fraction = 10_000.0, 0.7, 0.2, 0.4
    ones, twos = naive_risk.slide_binomial_counts(number, alpha, beta, fraction)
    sample = Sample(np.array([1, 2, 9]), np.array([round(ones), round(twos), 500]), fraction)
    monkeypatch.setattr("coterie.disclosure.population.shlosser", lambda _: number)
    assert slide_negative_binomial(sample) == pytest.approx(number * beta**alpha, rel=0.01)


def test_shlosser_counts_classes():
    rng = np.random.default_rng(1)
    population = np.repeat(np.arange(5_000), 1 + rng.poisson(3, 5_000))
    drawn = population[rng.random(len(population)) < 0.5]
    assert shlosser(sample_of(np.unique(drawn, return_counts=True)[1], 0.5)) == pytest.approx(5_000, rel=0.05)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("kind", ["skewed", "lognormal", "crossed"])
def test_estimates_come_near_the_truth_in_samples_of_known_populations(kind, fraction):
    rng = np.random.default_rng(0)
    people = 60_000
    population = {
        "skewed": rng.zipf(1.6, people) % 30_000,
        "lognormal": np.round(np.exp(rng.normal(0, 1.5, people)) * 40).astype(np.int64),
        "crossed": rng.integers(0, 80, people) * 1000 + np.minimum(rng.geometric(0.02, people), 150),
    }[kind]
    true = int(np.count_nonzero(np.unique(population, return_counts=True)[1] == 1))
    drawn = rng.choice(population, round(people * fraction), replace=False)
    found = estimate_uniques(np.unique(drawn, return_counts=True)[1].astype(np.int64), fraction)
    assert found.population == people
    assert found.chosen == ("pitman" if fraction <= 0.1 else found.chosen)
    error = abs(found.estimate - true)
    assert error < 0.07 * people
    # Small samples of a crossed table show classes as even as no model expects; then the estimate is too high.
    if kind != "crossed":
        assert error < (0.6 if fraction <= 0.1 else 0.25) * true
    elif fraction >= 0.5:
        assert error < 0.1 * true


def test_estimates_at_the_edges():
    none = estimate_uniques(np.array([2, 3, 4]), 0.1)
    assert (none.chosen, none.estimate, none.share) == ("none", 0.0, 0.0)
    alone = estimate_uniques(np.array([1] * 10), 0.1)
    assert alone.chosen == "zayatz"
    assert alone.estimate == pytest.approx(100)
    whole = estimate_uniques(np.array([1, 1, 1, 2]), 1.0)
    assert whole.estimate == pytest.approx(3)
    assert math.isnan(pitman(sample_of([4], 0.5)))


@settings(max_examples=30)
@given(st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=14))
def test_columns_are_ranked_by_what_they_add(rows):
    names = ["x", "y", "z"]
    table = pa.table({name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate(names)})
    found = rank_columns(table, quasi=names)
    whole = naive_risk.prosecutor(rows, 1)[1]
    for each in (*found.single, *found.pairs):
        chosen = [names.index(name) for name in each.columns]
        part = [tuple(row[at] for at in chosen) for row in rows]
        rest = [tuple(row[at] for at in range(3) if at not in chosen) for row in rows]
        assert each.distinct == len(set(part))
        assert each.distinction == len(set(part)) / len(rows)
        assert each.separation == pytest.approx(float(naive_risk.separation(part)))
        assert each.uniques == naive_risk.sizes(part).count(1)
        assert each.adds == pytest.approx(float(whole - naive_risk.prosecutor(rest, 1)[1]))
        assert each.adds_uniques == naive_risk.sizes(rows).count(1) - naive_risk.sizes(rest).count(1)
    assert [each.adds for each in found.single] == sorted((each.adds for each in found.single), reverse=True)
    assert len(found.pairs) == 3


def test_release_knows_its_risk_before_and_after(people):
    settings = {"quasi": ["age", "zip"], "sensitive": ["disease"], "identifiers": ["name"], "method": "mondrian"}
    release = coterie.anonymize(people, k=3, **settings)
    change = release.risk
    assert change.before.prosecutor.highest == 1.0
    assert change.after.prosecutor.highest <= 1 / 3
    assert change.after.uniques == 0
    assert set(change.to_dict()) == {"before", "after"}
