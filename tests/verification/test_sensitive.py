"""The judge reads sensitive values and hierarchies by itself, and comes to what the encoder and the hierarchies say."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from promises import check_models, judge_models

import coterie
from coterie.errors import CoterieError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.settings.models import parse_model
from coterie.verification.ancestors import leaves_of

LEVELS = {"low": ["0", "1.0", "02"], "high": {"higher": ["3", "4"], "highest": ["17"]}}
DAYS = [dt.date(2019, 12, 31), dt.date(2020, 1, 1), dt.date(2020, 2, 29), dt.date(2031, 5, 6)]
MOMENTS = [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 10, 30, 0, 500_000), dt.datetime(2021, 5, 6, 1)]
CODES = ["02138", "02139", "02141", "0213", "99999"]

COLUMNS = {
    "categories": (pa.array(["b", "a", "*", "", "a b"]), None),
    "dictionary": (pa.array(["b", "a", "c", "b"]).dictionary_encode(), None),
    "numbers": (pa.array([3, 1, 2, 17, 10**15]), None),
    "floats": (pa.array([0.0, -0.0, 1.5, float("nan"), 1e300, -2.25]), None),
    "decimals": (pa.array([Decimal("1.10"), Decimal("-3.00"), Decimal("2.50")]), None),
    "numbers in text": (pa.array(["1", "1.0", "10", "9.50", "9.5", "1e2", " 100"]), None),
    "codes in text": (pa.array(["01", "1", "007"]), None),
    "truth": (pa.array([True, False]), None),
    "days": (pa.array(DAYS), None),
    "days in text": (pa.array([str(day) for day in DAYS]), None),
    "moments in text": (pa.array(["2020-01-01", "2020-01-01T00:00:00", "2020-01-01T01:00+01:00", "2020-01-02"]), None),
    "moments": (pa.array(MOMENTS), None),
    "nothing": (pa.nulls(3), None),
    "a tree": (pa.array(["0", "1.0", "02", "3", "4", "17"]), Hierarchy.from_mapping(LEVELS)),
    "a tree of numbers": (pa.array([0, 1, 2, 3, 4, 17]), Hierarchy.from_mapping(LEVELS)),
    "a tree of floats": (pa.array([0.0, 1.0, 2.0, 3.0, 4.0, 17.0]), Hierarchy.from_mapping(LEVELS)),
    "intervals": (pa.array([0, 1, 4, 5, 9, 10, -1]), Hierarchy.intervals(5, 10)),
    "intervals of one": (pa.array([0, 1, 4, 5]), Hierarchy.intervals(1, 2, 4)),
    "intervals of decimals": (pa.array([0.5, 1.0, 4.75, 5.0]), Hierarchy.intervals(1, 5, start=0.5)),
    "prefixes": (pa.array(CODES), Hierarchy.prefixes()),
    "some prefixes": (pa.array(CODES), Hierarchy.prefixes(4, 2)),
    "dates": (pa.array(DAYS), Hierarchy.dates()),
    "some dates": (pa.array(DAYS), Hierarchy.dates("quarter", "decade")),
    "dates of moments": (pa.array(MOMENTS), Hierarchy.dates("day", "month")),
    "dates of texts": (pa.array(["2020-01-01", "2020-01-01T10:00:00", "2020-01-02"]), Hierarchy.dates()),
    "flat": (pa.array([3, 1, 2]), Hierarchy.flat()),
}
MODELS = ["l-diversity:3", "l-diversity:2::entropy", "t-closeness:0.4", "t-closeness:1/3::ordered"]
MODELS = [*MODELS, "t-closeness:1/3::hierarchical", "beta-likeness:1"]


def outcome(check, *args, **more):
    """Figures of all models, or the texts of what is refused."""
    try:
        found = check(*args, **more)
    except CoterieError as error:
        return str(error)
    return [(each.wanted, each.found, each.passed, each.worst, each.size) for each in found]


@pytest.mark.parametrize("name", COLUMNS)
@given(data=st.data())
def test_values_are_told_apart_and_ordered_alike(name, data):
    values, hierarchy = COLUMNS[name]
    n = data.draw(st.integers(1, 25))
    places = data.draw(st.lists(st.one_of(st.none(), st.integers(0, len(values) - 1)), min_size=n, max_size=n))
    table = pa.table({"s": values.take(pa.array(places, pa.int64()))})
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    labels = [sorted(set(labels)).index(label) for label in labels]
    more = {"hierarchies": {} if hierarchy is None else {"s": hierarchy}}
    for spec in MODELS:
        models = [parse_model(spec)]
        assert outcome(judge_models, labels, table, models, **more) == outcome(
            check_models, labels, table, models, **more
        )


MISFITS = {
    "mostly numbers": (pa.array([*map(str, range(20)), "ill"]), None, {}),
    "no numbers": (pa.array(["1", "ill", "worse"]), None, {"s": "number"}),
    "infinite": (pa.array([1.0, float("inf")]), None, {}),
    "no such day": (pa.array(["2020-02-30", "2020-01-01"]), None, {}),
    "not in the tree": (pa.array(["0", "8", "9", " 3"]), Hierarchy.from_mapping(LEVELS), {}),
    "labels of the tree": (pa.array(["0", "low", "highest", "8"]), Hierarchy.from_mapping(LEVELS), {}),
    "no numbers for intervals": (pa.array(["1", "x"]), Hierarchy.intervals(5), {}),
    "no dates": (pa.array(["2020-01-01", "x", "y"]), Hierarchy.dates(), {}),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_refused_in_the_same_words(name):
    values, hierarchy, types = MISFITS[name]
    more = {"types": types, "hierarchies": {} if hierarchy is None else {"s": hierarchy}}
    args = [0] * len(values), pa.table({"s": values}), [parse_model("l-diversity:2")]
    refused = outcome(judge_models, *args, **more)
    assert isinstance(refused, str)
    assert refused == outcome(check_models, *args, **more)


@pytest.mark.parametrize(
    ("texts", "kind", "labels", "found"),
    [
        (["true", "false"], pa.bool_(), {"True": 1, "FALSE": 2}, [1, 2]),
        (["2020-01-01 10:30:00", "2020-01-02 00:00:00"], pa.timestamp("s"), {"2020-01-01T10:30:00": 1, "2020-01-02": 2},
         [1, 2]),
        (["5.0", "5.5", "05.0", "6"], pa.string(), {"5": 1, "6": 2}, [1, None, None, 2]),
        (["5", "7"], pa.int64(), {"5.0": 1}, [1, None]),
    ],
)  # fmt: skip
def test_a_hierarchy_may_spell_its_values_differently(texts, kind, labels, found):
    """Otherwise a release with such a hierarchy would be refused as if its values were missing from it."""
    assert leaves_of(texts, labels, kind=kind) == found


def test_a_column_without_any_value_is_as_close_to_itself_as_can_be():
    table = pa.table({"s": pa.array([None] * 4, pa.string())})
    hierarchy = Hierarchy.from_mapping({"low": ["a"], "high": ["b"]})
    model = parse_model("t-closeness:0.1::hierarchical")
    (check,) = judge_models([0, 0, 1, 1], table, [model], hierarchies={"s": hierarchy})
    assert (check.found, check.passed) == (0.0, True)
    (check,) = judge_models([0, 0, 1, 1], table, [model], hierarchies={"s": coterie.prefixes(1)})
    assert (check.found, check.passed) == (0.0, True)
