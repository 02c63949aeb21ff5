"""What is written into published cells is read out of them again."""

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coterie.values.notation import (
    MISSING,
    ROOT,
    SUPPRESSED,
    Cell,
    bound_names,
    columns_of,
    distinct_texts,
    interval_texts,
    lone_texts,
    member_texts,
    range_texts,
    read_cell,
    set_texts,
)
from coterie.verification.readings import range_ends

ODD = st.one_of(st.text(alphabet="ab ,{}[]\\*\"'-\n", max_size=6), st.text(max_size=6))
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-999, max_value=999).map(str),
)
MOMENTS = st.one_of(
    st.dates().map(dt.date.isoformat),
    st.datetimes().map(lambda moment: moment.isoformat(" ")),
    st.datetimes(timezones=st.just(dt.UTC)).map(dt.datetime.isoformat),
)


def texts(values):
    return pa.array(list(values), type=pa.string())


@given(st.one_of(st.tuples(NUMBERS, NUMBERS), st.tuples(MOMENTS, MOMENTS)))
@example(("24", "30"))
@example(("-5", "3"))
@example(("1e-05", "1e+16"))
def test_intervals_are_read_as_they_were_written(ends):
    written = interval_texts(texts(ends[:1]), texts(ends[1:]))[0].as_py()
    assert read_cell(written, "interval") == Cell("interval", ends)
    assert read_cell(ends, "interval") == Cell("interval", ends)  # as bounds


@given(st.one_of(NUMBERS, MOMENTS))
def test_numbers_and_dates_are_read_as_they_were_written(value):
    assert read_cell(value, "interval") == Cell("value", (value,))


@given(ODD, ODD)
@example("a, b", "[c, d]")
@example("\\", "*")
def test_intervals_of_ordered_categories_are_read_as_they_were_written_by_the_judge_too(low, high):
    written = range_texts(texts([low]), texts([high]))[0].as_py()
    assert read_cell(written, "order") == Cell("interval", (low, high))
    assert range_ends(written) == (low, high)
    alone = lone_texts(texts([low]))[0].as_py()
    assert read_cell(alone, "order") == Cell("value", (low,))
    assert range_ends(alone) == (low, low)


@given(st.lists(ODD, min_size=1, max_size=5))
@example(["*", "[1-2]", "{a}", "\\", "a, b", "x\\, y", "}", "", " "])
@example(["", ""])
def test_sets_are_read_as_they_were_written(members):
    written = set_texts(pa.array([member_texts(texts(members)).to_pylist()], pa.list_(pa.string())))[0].as_py()
    assert read_cell(written, "set") == Cell("set", tuple(members))


@given(ODD)
@example("*")
@example("{a, b}")
@example("\\*")
def test_values_beside_sets_are_read_as_they_were_written(value):
    assert read_cell(lone_texts(texts([value]))[0].as_py(), "set") == Cell("value", (value,))


@given(ODD, ODD)
def test_labels_stay_as_they_are(label, root):
    expected = SUPPRESSED if label == root else Cell("label", (label,))
    assert read_cell(label, "label", root=root) == expected


@pytest.mark.parametrize("script", ["interval", "order", "set", "label"])
def test_missing_and_suppressed_cells_are_told_apart(script):
    assert read_cell(None, script) == MISSING
    assert read_cell(ROOT, script) == read_cell((None, None), script) == SUPPRESSED
    assert read_cell(("1", None), script) == read_cell((None, "1"), script) == Cell("unreadable")


@pytest.mark.parametrize("text", ["{a", "{a,b}", r"{a\}", "a}", "[1-2]", "{a, b,c}"])
def test_what_is_no_set_is_a_value(text):
    assert read_cell(text, "set") == Cell("value", (text,))


@pytest.mark.parametrize("text", ["[1]", "[1,2]", "[1-2", "[a-b]", "[-5-3]", "[, ]", "{1, 2}", "[]"])
def test_what_is_no_interval_is_a_value(text):
    assert read_cell(text, "interval") == Cell("value", (text,))


def test_a_column_is_taken_apart_into_its_distinct_cells():
    found = distinct_texts(pa.chunked_array([["a", None], ["b", "a"]]), name="x")
    assert [found.texts[cell] for cell in found.of_row] == ["a", None, "b", "a"]
    low, high = pa.chunked_array([[1, None, 1, 1]]), pa.chunked_array([[2, None, 2, None]])
    found = distinct_texts(low, high, name="x")
    assert [found.texts[cell] for cell in found.of_row] == [("1", "2"), (None, None), ("1", "2"), ("1", None)]
    assert len(found.texts) == 3


def test_bounds_have_names_of_their_own():
    assert bound_names("age") == ("age_min", "age_max")
    assert columns_of("age", ["age", "age_min", "age_max"]) == ("age",)
    assert columns_of("age", ["age_min", "age_max"]) == ("age_min", "age_max")
