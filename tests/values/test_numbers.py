"""Which columns are numbers or dates, and their exact order and distances."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.errors import DataError
from coterie.values.numbers import as_numbers, guess_type


def guess(values, kind=None):
    values = pa.array(values, type=kind)
    return guess_type(values, np.ones(len(values), dtype=np.int64), column="x")


def numbers(values, kind=None):
    values = pa.array(values, type=kind)
    return as_numbers(values, np.ones(len(values), dtype=np.int64), column="x")


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "2"],
        ["1.5", "-2", "+3", "0", "-0.0"],
        [".5", "1.", "1e5", "1E-5", "2.5e+3"],
        [" 7 ", "\t8"],
        ["10000000000000000000000000000000"],
        ["0.10", "0.1"],
    ],
)
def test_texts_that_are_numbers(texts):
    assert guess(texts) == "number"
    assert guess(texts, pa.large_string()) == "number"


@pytest.mark.parametrize(
    "texts",
    [
        ["02138", "02139"],
        ["e5", "e6", "E10"],
        [".", "-", "+", ""],
        ["1_000", "2_000"],
        ["1,5", "2,5"],
        ["0x10", "0x11"],
        ["inf", "nan", "Infinity"],
        ["1e999", "1e998"],
        ["1" + "0" * 400, "1" + "0" * 401],
        ["1" * 5000, "2" * 5000],
        ["½", "²"],
        ["٣", "٤"],
        ["1\n2", "3"],
        ["2020-1-1", "2020-01-02"],
        ["white", "black"],
    ],
)
def test_texts_that_are_categories(texts):
    assert guess(texts) == "category"


@pytest.mark.parametrize(
    "texts",
    [
        ["2020-01-31", "1999-12-01"],
        ["2020-01-31", "2020-01-31T10:00", "2020-01-31 10:00:00.5", "2020-01-31T10:00:00Z", "2020-01-31T10:00+02:00"],
    ],
)
def test_texts_that_are_dates(texts):
    assert guess(texts) == "date"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.int8(), "number"),
        (pa.uint64(), "number"),
        (pa.float16(), "number"),
        (pa.float64(), "number"),
        (pa.decimal128(5, 2), "number"),
        (pa.decimal256(50, 2), "number"),
        (pa.date32(), "date"),
        (pa.date64(), "date"),
        (pa.timestamp("ns", "UTC"), "date"),
        (pa.time32("s"), "date"),
        (pa.duration("s"), "date"),
        (pa.bool_(), "category"),
        (pa.null(), "category"),
        (pa.string(), "category"),
    ],
    ids=str,
)
def test_types_decide_where_they_can(kind, expected):
    assert guess([], kind) == expected


def test_numbers_with_a_few_mistakes_are_not_guessed_at():
    texts = [str(number) for number in range(20)]
    counts = np.arange(22)
    with pytest.raises(DataError) as caught:
        guess_type(pa.array([*texts, "oops", "ten"]), counts, column="age")
    assert "oops" not in str(caught.value)
    assert caught.value.column == "age"
    assert caught.value.rows == 20 + 21
    assert str(caught.value) == (
        "Column 'age' looks like numbers, but 2 of its distinct values (41 rows) are text. "
        'List them in missing_values, or set types.age = "category".'
    )
    assert guess([*texts[:8], "one", "two"]) == "category"


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        (["1", "oops"], "not numbers"),
        (["1", "1e999"], "not numbers"),
        (["2020-01-01", "2020-02-30"], "not valid dates"),
    ],
)
def test_what_is_no_number_is_counted_not_quoted(texts, what):
    with pytest.raises(DataError, match=rf"1 of its distinct values \(1 rows\) are .*{what}") as caught:
        numbers(texts)
    assert texts[1] not in str(caught.value)


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_numbers_are_refused(kind, value):
    with pytest.raises(DataError, match="are infinite"):
        numbers(np.asarray([1.0, value], dtype=kind.to_pandas_dtype()), kind)


@pytest.mark.parametrize(
    "values",
    [pa.array([b"a"]), pa.array([pa.MonthDayNano([1, 2, 3])]), pa.nulls(1)],
    ids=lambda values: str(values.type),
)
def test_other_types_are_no_numbers(values):
    with pytest.raises(DataError, match="which contains neither numbers nor dates"):
        as_numbers(values, np.ones(1, dtype=np.int64), column="x")


def in_order(found, values):
    """The values in ascending order, equal ones as one."""
    same = [False, *found.same_as_before]
    return [values[place] for place, again in zip(found.order, same, strict=True) if not again]


integers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3) | st.integers(2**63 - 3, 2**63 - 1)


@given(st.lists(integers, min_size=1, unique=True))
def test_integers_keep_their_order_and_distances(values):
    for given_values, kind in ((values, pa.int64()), ([str(value) for value in values], pa.string())):
        found = numbers(given_values, kind)
        assert [int(value) for value in in_order(found, given_values)] == sorted(values)
        assert found.offsets.tolist() == [float(value - min(values)) for value in values]


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(2**64 - 5, 2**64 - 1), min_size=1, unique=True))
def test_unsigned_integers_too(values):
    found = numbers(values, pa.uint64())
    assert in_order(found, values) == sorted(values)
    assert found.offsets.tolist() == [float(value - min(values)) for value in values]


@given(st.lists(st.integers(-(10**300), 10**300) | st.integers(10**30, 10**30 + 3), min_size=1, unique=True))
def test_integers_of_any_length_keep_their_order(values):
    texts = [str(value) for value in values]
    found = numbers(texts)
    assert [int(text) for text in in_order(found, texts)] == sorted(values)
    assert found.offsets[found.order[0]] == 0
    assert np.isfinite(found.offsets).all()
    assert (np.diff(found.offsets[found.order]) >= 0).all()


floats = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(floats.map(lambda value: value + 0.0), min_size=1, unique=True))
def test_floats_keep_their_order_and_finite_distances(values):
    found = numbers(values, pa.float64())
    assert in_order(found, values) == sorted(values)
    offsets = found.offsets[found.order]
    assert offsets[0] == 0
    assert np.isfinite(2 * offsets).all()
    assert (np.diff(offsets) >= 0).all()
    if max(values) - min(values) < 2.0**900:
        assert offsets.tolist() == [value - min(values) for value in sorted(values)]


near = st.tuples(st.integers(-5, 5), st.integers(10**24, 10**24 + 3)).map(lambda pair: f"{pair[0]}.{pair[1]}")
decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30).map(str)


@given(st.lists(decimals | near | st.sampled_from(["1", "1.0", "1e0", "+1.00", "0", "-0.0"]), min_size=1, unique=True))
def test_decimals_as_text_are_compared_exactly(texts):
    found = numbers(texts)
    exact = [Fraction(text) for text in texts]
    assert [Fraction(text) for text in in_order(found, texts)] == sorted(set(exact))
    expected = [float(value - min(exact)) for value in exact]
    assert found.offsets.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(1e-300, *expected))


@given(
    st.integers(0, 30).flatmap(
        lambda scale: st.lists(
            st.integers(-(10**38) + 1, 10**38 - 1).map(lambda units: Decimal(f"{units}e-{scale}")),
            min_size=1,
            unique=True,
        ).map(lambda values: (values, scale))
    )
)
def test_decimals_are_compared_exactly(drawn):
    values, scale = drawn
    found = numbers(values, pa.decimal128(38, scale))
    assert in_order(found, values) == sorted(values)
    assert np.isfinite(found.offsets).all()


def test_short_decimals_are_floats():
    found = numbers([Decimal("1.25"), Decimal("0.50")], pa.decimal128(38, 2))
    assert isinstance(found.keys, np.ndarray)
    assert found.offsets.tolist() == [0.75, 0.0]


def test_spellings_of_one_number_share_a_place():
    texts = ["1.0", "2", "1", " 1 ", "1e0", "+1", "2.0"]
    found = numbers(texts)
    assert in_order(found, texts) == ["1.0", "2"]  # the first of each


def test_leading_zeros_are_numbers_to_those_who_say_so():
    assert numbers(["007", "10", "08"]).offsets.tolist() == [0, 3, 1]


def test_dates_as_text_count_days_or_moments():
    assert numbers(["2024-03-01", "2024-02-28"]).offsets.tolist() == [2, 0]
    moments = numbers(["2024-01-01T00:00:01Z", "2024-01-01", "2024-01-01T01:00:00.5+01:00", "2024-01-01 00:00"])
    assert moments.offsets.tolist() == [1e6, 0, 5e5, 0]
    assert moments.same_as_before.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([dt.date(2024, 3, 1), dt.date(2024, 2, 28)], pa.date32(), [2, 0]),
        ([dt.date(2024, 3, 1), dt.date(2024, 2, 28)], pa.date64(), [2 * 86_400_000, 0]),
        ([dt.datetime(1950, 1, 1), dt.datetime(1950, 1, 2)], pa.timestamp("s"), [0, 86_400]),
        ([dt.datetime(1950, 1, 1), dt.datetime(1950, 1, 2)], pa.timestamp("ms", "Asia/Tokyo"), [0, 86_400_000]),
        ([dt.time(1), dt.time(0, 0, 1)], pa.time32("s"), [3599, 0]),
        ([dt.time(1), dt.time(0, 0, 1)], pa.time64("us"), [3599e6, 0]),
        ([dt.timedelta(1), dt.timedelta(0)], pa.duration("s"), [86_400, 0]),
        ([True, False], pa.bool_(), [1, 0]),
    ],
    ids=str,
)
def test_dates_times_and_truth_values_have_distances(values, kind, expected):
    assert numbers(values, kind).offsets.tolist() == expected


def test_no_values_at_all():
    for kind in (pa.int64(), pa.string(), pa.decimal128(5, 2), pa.float32(), pa.date32()):
        found = numbers([], kind)
        assert len(found.order) == len(found.offsets) == len(found.same_as_before) == 0
