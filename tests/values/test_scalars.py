"""Texts as numbers and moments: one parser, and everybody who asks it says the same."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.disclosure.link_cells import read_column, space_of
from coterie.errors import DataError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.publishing.publish import read_boxes
from coterie.settings.config import Config
from coterie.suggesting.suggest import count
from coterie.table.encode import encode
from coterie.values.axis import axis_of
from coterie.values.numbers import as_numbers, guess_type
from coterie.values.scalars import DATE, parse_moment, parse_number

SECOND = 10**9
DAY = 86_400 * SECOND
NOON = 19_787 * DAY + 12 * 3600 * SECOND  # of 2024-03-05

# Spellings by which a column of texts is a column of dates.
DATES = {
    "2024-03-05T14:00:30+02:00:30": NOON,
    "2024-03-05 07:03:58-045602": NOON,
    "2024-03-05": NOON - DAY // 2,
    "2024-03-05T12": NOON,
    "2024-03-05T12:00": NOON,
    "2024-03-05 12:00": NOON,
    " 2024-03-05 12:00:00 ": NOON,
    "2024-03-05T12:00:00.5": NOON + SECOND // 2,
    "2024-03-05T12:00:00.123456": NOON + 123_456_000,
    "2024-03-05T12:00:00.123456789": NOON + 123_456_789,
    "2024-03-05T12:00:00Z": NOON,
    "2024-03-05T14:00+02": NOON,
    "2024-03-05T14:00:00+02:00": NOON,
    "2024-03-05T10:30:00-0130": NOON,
    "1969-12-31T23:59:59.75": -SECOND // 4,
}
# Spellings that are taken where a date is asked for.
SHORT = {
    "20240305": NOON - DAY // 2,
    "2024-W10-2": NOON - DAY // 2,
    "2024W102": NOON - DAY // 2,
    "20240305T120000Z": NOON,
    "20240305 12:00": NOON,
    "2024-03-05T12:00:00,5": NOON + SECOND // 2,
    "2024-03-05T120000.5": NOON + SECOND // 2,
}
NEITHER = [
    "", "2024-", "2024-03", "2024-3-5", "05.03.2024", "2024-W10", "2024-03-05_12:00", "2024-03-05T",
    "2024-03-05T12:00.5", "2024-03-05T12.5", "2024-03-05T12:00:00.", "2024-03-05T12:00:00.1234567890",
    "2024-03-05T12:0000", "2024-03-05Z", "12:00", "noon", "٢٠٢٤-03-05",
]  # fmt: skip
# Of the right form, but no days of the calendar and no times of the day.
NEVER = ["2024-02-30", "2023-02-29", "0000-01-01", "2024-03-05T24:00", "2024-03-05T12:60", "2024-03-05T12:00+25:00"]


@pytest.mark.parametrize(("text", "expected"), [*DATES.items(), *SHORT.items()])
def test_a_moment_is_read_exactly(text, expected):
    assert parse_moment(text).nanoseconds == expected


@pytest.mark.parametrize("text", [*NEITHER, *NEVER])
def test_what_is_no_moment_is_not_read_as_one(text):
    assert parse_moment(text) is None


def test_the_day_is_that_of_its_own_clock():
    assert parse_moment("2024-03-05T23:00-05:00").day == parse_moment("2024-03-05").day == 19_787
    assert parse_moment("2024-03-05T23:00-05:00").nanoseconds // DAY == 19_788


@given(st.datetimes(timezones=st.none() | st.timezones()), st.sampled_from("T "))
def test_what_python_writes_is_read_as_python_reads_it(moment, between):
    text = moment.isoformat(between)
    expected = moment.replace(tzinfo=moment.tzinfo or dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    found = parse_moment(text)
    assert found.nanoseconds == expected // dt.timedelta(microseconds=1) * 1000
    assert found.day == moment.toordinal() - dt.date(1970, 1, 1).toordinal()


@pytest.mark.parametrize("text", [*DATES, *SHORT, *NEITHER, *NEVER])
def test_only_the_long_forms_make_a_column_of_dates(text):
    matched = pc.match_substring_regex(pa.array([text.strip()]), f"^{DATE}$")[0].as_py()
    assert matched == (text in DATES or text in NEVER)
    values = pa.chunked_array([[text]])
    assert (guess_type(values.chunk(0), np.ones(1, np.int64), column="x") == "date") == matched
    assert (count(values).kind == "date") == matched


def by_numbers(text):
    values = pa.array([text, "1970-01-01 00:00:00"])
    if not pc.all(pc.match_substring_regex(pc.utf8_trim_whitespace(values), f"^{DATE}$")).as_py():
        return parse_moment(text).nanoseconds  # a column of such texts is none of dates
    numbers = as_numbers(values, np.ones(2, np.int64), column="x")
    first, zero = (int(key) for key in numbers.keys)
    assert zero == 0
    return first * (1 if numbers.exact.type.unit == "ns" else 1000)


def domain_of(values):
    return encode(pa.table({"x": values}), Config(quasi=["x"], k=1)).table.domains[0]


def by_axis(text):
    days = pa.array([0, 10**15], pa.timestamp("ns"))
    return int(axis_of(domain_of(days)).place(text))


def by_published_cell(text):
    """The reader of releases, asked between which two nanoseconds the text lies."""
    at = parse_moment(text).nanoseconds
    domain = domain_of(pa.array([at - 1, at, at + 1], pa.timestamp("ns")))
    read = read_boxes(pa.chunked_array([[text, f"[{text}, {text}]"]]), domain)
    assert not read.unread.any()
    assert read.lo.tolist() == read.hi.tolist()
    return at + int(read.lo[0]) - 1


def by_link(text):
    at = parse_moment(text).nanoseconds
    known = pa.table({"x": pa.array([at - 1, at, at + 1], pa.timestamp("ns"))})
    columns = read_column(pa.table({"x": [text]}), "x", published=True), read_column(known, "x", published=False)
    space = space_of(*columns, name="x", config=Config(types={"x": "date"}))
    return at - 1 + space.second.lo.tolist().index(space.first.lo[0])


@pytest.mark.parametrize("text", [*DATES, *SHORT])
@pytest.mark.parametrize("ask", [by_numbers, by_axis, by_published_cell, by_link])
def test_everybody_reads_the_same_moment(ask, text):
    expected = parse_moment(text).nanoseconds
    # Distances on an axis are floats.
    assert ask(text) == (pytest.approx(expected, rel=1e-15) if ask is by_axis else expected)


@pytest.mark.parametrize("text", [*DATES, *SHORT])
def test_a_hierarchy_of_dates_puts_it_under_its_day(text):
    bound = Hierarchy.dates("day", "year").bind(pa.array([text]), counts=np.ones(1, np.int64), column="x")
    day = dt.date(1970, 1, 1) + dt.timedelta(days=parse_moment(text).day)
    assert {day.isoformat(), str(day.year)} <= {*bound.tree.labels, text.strip()}


@pytest.mark.parametrize("text", [*NEITHER, *NEVER])
def test_everybody_refuses_the_same(text):
    with pytest.raises(DataError, match="not valid dates" if text in NEVER else "not numbers"):
        as_numbers(pa.array([text]), np.ones(1, np.int64), column="x")
    domain = domain_of(pa.array([0, 10**15], pa.timestamp("ns")))
    assert axis_of(domain).place(text) is None
    assert read_boxes(pa.chunked_array([[text]]), domain).unread.all()
    with pytest.raises(DataError, match="not a date"):
        Hierarchy.dates("year").bind(pa.array([text]), counts=np.ones(1, np.int64), column="x")
    known = pa.table({"x": pa.array([0], pa.timestamp("ns"))})
    columns = read_column(pa.table({"x": [text]}), "x", published=True), read_column(known, "x", published=False)
    with pytest.raises(DataError, match="neither dates"):
        space_of(*columns, name="x", config=Config(types={"x": "date"}))


def test_nanoseconds_are_told_apart_where_there_are_any():
    texts = ["2024-03-05T12:00:00.000000001", "2024-03-05T12:00:00.000000002", "2024-03-05"]
    domain = domain_of(texts)
    assert domain.values.to_pylist() == [texts[2], texts[0], texts[1]]
    with pytest.raises(DataError, match="too far from 1970"):
        domain_of([*texts, "9999-12-31"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("17", "17"), (" -0.50 ", "-0.5"), ("+1e3", "1000"), (".5", "0.5"), ("5.", "5"), ("-0.0", "0"), ("007", "7")],
)
def test_a_number_is_read_exactly(text, expected):
    assert parse_number(text) == Decimal(expected)
    assert not parse_number(text).is_signed() or expected.startswith("-")


@pytest.mark.parametrize("text", ["", ".", "1_000", "1,5", "1 000", "inf", "nan", "1e401", "0x10", "٣", "1" * 801])
def test_what_is_no_number_is_not_read_as_one(text):
    assert parse_number(text) is None
    assert read_boxes(pa.chunked_array([[text]]), domain_of([1, 2])).unread.all()
