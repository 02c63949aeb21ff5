"""Learning utility: features against a twin, the ends that are known beforehand, folds, and what is refused."""

import builtins
import json

import numpy as np
import pyarrow as pa
import pytest
from evaluation.test_queries import LEAVES, PLACES, as_texts, described, releases
from hypothesis import given, settings
from oracles import naive_distributions

import coterie
from coterie.errors import BackendError, ConfigError, DataError
from coterie.evaluation.before_after import BeforeAfter
from coterie.evaluation.examples import make_examples
from coterie.evaluation.learning import learning_utility
from coterie.settings.config import Config

QUASI = ("age", "size", "place", "flat")


@settings(max_examples=25)
@given(releases())
def test_features_equal_the_twin(release):
    table, made = release
    tables = BeforeAfter.of_release(made)
    columns = {name: column for name, column in described(table).items() if name in QUASI}
    ranges = {}
    for name, column in columns.items():
        known = [value for value in column["values"] if value is not None]
        values = tables.column(name).domain.values.to_pylist()
        ranges[name] = values if column["kind"] == "category" else (min(known, default=0), max(known, default=0))
    sides = zip(
        make_examples(tables, features=QUASI, target="pay"), (as_texts(table), as_texts(made.arrow)), strict=True
    )
    for examples, rows in sides:
        found = examples.matrix.toarray()[examples.of_row]
        expected = [naive_distributions.features(row, columns, ranges) for row in rows]
        assert found == pytest.approx(np.asarray(expected))


def people(rows=240, seed=0):
    """Sex follows from age and place, but for some noise."""
    rng = np.random.default_rng(seed)
    age, place = rng.integers(20, 60, rows), rng.integers(0, 6, rows)
    male = (age > 40) ^ (rng.random(rows) < 0.1)
    return pa.table(
        {
            "age": age,
            "place": [LEAVES[at] for at in place],
            "sex": np.where(male, "male", "female"),
            "city": np.where(place > 2, "y", "x"),
        }
    )


CONFIG = Config(quasi=["age", "place"], sensitive=["sex"], keep=["city"], hierarchies={"place": PLACES}, k=5)


@pytest.mark.parametrize("model", ["linear", "forest"])
def test_what_is_not_generalised_teaches_as_much_as_the_original(model):
    table = people()
    found = learning_utility(BeforeAfter(table, table, CONFIG), "sex", model=model, folds=3)
    assert found.release.accuracy == pytest.approx(found.original.accuracy, abs=0.02)
    assert found.original.accuracy > 0.8 > found.majority.accuracy
    assert found.kept == pytest.approx(1, abs=0.06)
    assert (found.classes, found.rows, found.folds, found.features) == (2, 240, 3, ("age", "place"))


def test_a_release_that_says_nothing_teaches_nothing():
    table = people()
    nothing = table.set_column(0, "age", pa.array(["*"] * 240)).set_column(1, "place", pa.array(["*"] * 240))
    found = learning_utility(BeforeAfter(table, nothing, CONFIG), "sex")
    assert found.release.accuracy == pytest.approx(found.majority.accuracy, abs=0.02)
    assert found.majority.balanced == 0.5
    assert found.majority.auc == 0.5
    assert found.majority.accuracy == pytest.approx(max(np.unique(table["sex"], return_counts=True)[1]) / 240, abs=0.01)


def test_a_release_lies_between_and_the_seed_decides():
    release = coterie.anonymize(people(), config=CONFIG, method="mondrian")
    tables = BeforeAfter.of_release(release)
    found = learning_utility(tables, "sex", seed=3)
    assert found.majority.accuracy < found.release.accuracy <= found.original.accuracy + 0.05
    assert learning_utility(BeforeAfter.of_release(release), "sex", seed=3) == found
    assert learning_utility(tables, "sex", seed=4) != found
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["release"]["accuracy"] == found.release.accuracy
    assert plain["kept"] == found.kept


def test_held_out_rows_are_not_learnt_from():
    """Classes drawn at random, one age each: whoever had seen the rows would know them all."""
    rng = np.random.default_rng(0)
    table = pa.table({"age": [f"a{row}" for row in range(120)], "sex": rng.choice(["f", "m"], 120)})
    found = learning_utility(BeforeAfter(table, table, Config(quasi=["age"])), "sex")
    assert found.original.accuracy < 0.65
    assert found.release.accuracy < 0.65


def test_removed_rows_are_matched():
    table = people()
    release = coterie.anonymize(table, config=CONFIG, method="mondrian")
    rows = np.flatnonzero(np.arange(240) % 7 != 0)
    fewer = release.arrow.take(pa.array(rows))
    known = BeforeAfter(table, fewer, CONFIG, rows)
    assert np.array_equal(BeforeAfter(table, release.arrow, CONFIG).kept, np.arange(240))
    found = learning_utility(BeforeAfter(table, fewer, CONFIG), "sex")
    assert found.original == learning_utility(known, "sex").original
    assert found.release.accuracy == pytest.approx(learning_utility(known, "sex").release.accuracy, abs=0.05)


def test_a_quasi_identifier_can_be_the_target():
    table = people()
    release = coterie.anonymize(
        table, config=CONFIG.replace(quasi=["age", "place", "city"], sensitive=[], keep=["sex"]), k=4
    )
    tables = BeforeAfter.of_release(release)
    found = learning_utility(tables, "city")
    assert found.features == ("age", "place")
    assert found.original.accuracy == 1
    assert found.release.accuracy > 0.9
    _, after = make_examples(tables, features=["age"], target="city")
    features, label, weight = after.labelled(np.ones(240, dtype=bool))
    assert features.shape[0] == len(label) == len(weight)
    assert weight.sum() == pytest.approx(240)


def test_rows_without_a_class_take_no_part():
    table = people()
    sex = pa.array([None, None, *table["sex"].to_pylist()[2:]])
    found = learning_utility(BeforeAfter(*[table.set_column(2, "sex", sex)] * 2, CONFIG), "sex")
    assert found.rows == 238
    assert learning_utility(BeforeAfter(table, table, CONFIG), "sex", most_rows=100).rows == 100


def test_more_than_two_classes_and_other_features():
    table = people()
    tables = BeforeAfter(table, table, CONFIG)
    found = learning_utility(tables, "place", features=["age", "city"])
    assert found.classes == 6
    assert found.original.auc is None
    assert found.original.accuracy > found.majority.accuracy


@pytest.mark.parametrize(
    ("target", "options", "error", "told"),
    [
        ("none", {}, ConfigError, "no column 'none'"),
        ("constant", {}, ConfigError, "only one value"),
        ("number", {}, ConfigError, "has 240 values"),
        ("sex", {"folds": 1}, ConfigError, "folds"),
        ("sex", {"features": ["sex"]}, ConfigError, "no column is left"),
        ("sex", {"model": "magic"}, ConfigError, "no model 'magic'"),
        ("rare", {}, DataError, "Only 2 rows"),
    ],
)
def test_what_is_refused(target, options, error, told):
    more = {"constant": ["x"] * 240, "number": list(range(240)), "rare": ["a", "b"] + [None] * 238}
    table = people()
    for name, values in more.items():
        table = table.append_column(name, pa.array(values))
    with pytest.raises(error) as caught:
        learning_utility(BeforeAfter(table, table, CONFIG), target, **options)
    assert told in str(caught.value)


def test_without_scikit_learn_the_error_says_how_to_install_it(monkeypatch):
    genuine = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "sklearn":
            raise ImportError(name)
        return genuine(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    table = people()
    with pytest.raises(BackendError, match=r"pip install 'coterie\[ml\]'"):
        learning_utility(BeforeAfter(table, table, CONFIG), "sex")
