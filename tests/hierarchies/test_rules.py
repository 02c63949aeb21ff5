"""Intervals, prefixes, dates, flat: the labels they give and what they refuse."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import coterie
from coterie.errors import ConfigError, HierarchyError
from coterie.hierarchies.hierarchy import Hierarchy


def ways(hierarchy, values, **options):
    """Each value's labels up to the root, in the order of the codes."""
    values = values if isinstance(values, pa.Array) else pa.array(values)
    tree, codes = hierarchy.bind(values, counts=np.ones(len(values), dtype=np.int64), column="c", **options)
    assert sorted(codes.tolist()) == list(range(len(values)))
    result = []
    for node in tree.leaf_node:
        way = []
        while node >= 0:
            way.append(tree.labels[node])
            node = tree.parent[node]
        result.append(" ".join(f"<{label}>" if " " in label else label for label in way))
    return result


def problems(call):
    with pytest.raises((ConfigError, HierarchyError)) as caught:
        call()
    return [str(problem) for problem in caught.value.problems]


# --- intervals


def test_whole_numbers():
    assert ways(coterie.intervals(5, 10, 20), [24, 3, 17, 19]) == [
        "3 [0-4] [0-9] [0-19] *",
        "17 [15-19] [10-19] [0-19] *",
        "19 [15-19] [10-19] [0-19] *",
        "24 [20-24] [20-29] [20-39] *",
    ]


def test_numbers_below_zero():
    assert ways(coterie.intervals(5), [-5, -1, 0, -6]) == [
        "-6 <[-10, -6]> *",
        "-5 <[-5, -1]> *",
        "-1 <[-5, -1]> *",
        "0 [0-4] *",
    ]


def test_another_start():
    assert ways(coterie.intervals(10, start=18), [17, 18, 27, 28]) == [
        "17 [8-17] *", "18 [18-27] *", "27 [18-27] *", "28 [28-37] *",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        pa.array([20.5, 24.0]),
        pa.array([20.5, 24.0], pa.float32()),
        pa.array([20.5, 24.0], pa.float16()),
        pa.array([Decimal("20.50"), Decimal("24.00")]),
        pa.array(["20.5", "24"]),
    ],
)
def test_decimals(values):
    assert ways(coterie.intervals(5), values) == ["20.5 <[20, 25)> *", "24 <[20, 25)> *"]


def test_decimal_widths_are_exact():
    assert ways(coterie.intervals(0.1, 0.2), [0.3, 0.7, 0.1 + 0.2]) == [
        "0.3 <[0.3, 0.4)> <[0.2, 0.4)> *",
        "0.30000000000000004 <[0.3, 0.4)> <[0.2, 0.4)> *",
        "0.7 <[0.7, 0.8)> <[0.6, 0.8)> *",
    ]
    assert ways(coterie.intervals(0.5), [-1, 1]) == ["-1 <[-1, -0.5)> *", "1 <[1, 1.5)> *"]


def test_floats_that_are_whole_are_whole_numbers():
    # pandas turns a column of integers with gaps into floats.
    assert ways(coterie.intervals(5), [17.0, 3.0]) == ["3 [0-4] *", "17 [15-19] *"]
    assert ways(coterie.intervals(5), ["17.0", "3"]) == ["3 [0-4] *", "17.0 [15-19] *"]


def test_huge_numbers_are_exact():
    big = 2**64 - 1
    assert ways(coterie.intervals(5), pa.array([big, big - 1], pa.uint64())) == [
        f"{big - 1} [{big - 5}-{big - 1}] *",
        f"{big} [{big}-{big + 4}] *",
    ]
    text = "123456789012345678901234567890123456789"
    assert ways(coterie.intervals(10), [text]) == [f"{text} [{text[:-1]}0-{text[:-1]}9] *"]
    assert ways(coterie.intervals(10), [1e22]) == [
        "10000000000000000000000 [10000000000000000000000-10000000000000000000009] *"
    ]
    assert ways(coterie.intervals(1), [5e-324])[0].endswith("<[0, 1)> *")


def test_a_width_of_one_is_the_whole_number_itself():
    assert ways(coterie.intervals(1, 5), [7]) == ["7 [5-9] *"]
    assert ways(coterie.intervals(1, 5), [7.5]) == ["7.5 <[7, 8)> <[5, 10)> *"]


def test_every_problem_of_the_widths_at_once():
    found = problems(lambda: coterie.intervals(5, 12, 24, -1, "x", True, 24, start=dt.date(2024, 1, 1)))
    assert len(found) == 6
    assert "intervals: 12 is not a multiple of 5; widths grow, and each must divide the next" in found
    assert "intervals: 24 is not a multiple of 24; widths grow, and each must divide the next" in found
    assert [text.split(" is ")[0] for text in found if "not a width" in text] == [
        "intervals: -1",
        "intervals: 'x'",
        "intervals: True",
    ]
    assert found[-1].startswith("start: ")
    assert "at least one width" in problems(lambda: coterie.intervals())[0]
    assert "10 is not a multiple of 20" in problems(lambda: coterie.intervals(20, 10))[0]
    assert "inf" in problems(lambda: coterie.intervals(float("inf")))[0]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            pa.array([dt.date(2024, 1, 1)]),
            "c: intervals are for numbers, but the column contains dates; use dates(…) instead",
        ),
        (
            pa.array([dt.datetime(2024, 1, 1)]),
            "c: intervals are for numbers, but the column contains dates; use dates(…) instead",
        ),
        (pa.array([True]), "c: intervals are for numbers, but the column contains no numbers"),
        (
            pa.array(["2024-01-01", "7", "1_000", "1e99999"]),
            "c: 3 values (3 rows) are not numbers; intervals are for numbers only",
        ),
        (pa.array([1.0, float("inf")]), "c: 1 value (1 row) is not a number; intervals are for numbers only"),
        (pa.array(["[20-24]"]), "c: 1 value (1 row) is not a number; intervals are for numbers only"),
    ],
)
def test_intervals_are_for_numbers(values, text):
    assert problems(lambda: ways(coterie.intervals(5), values)) == [text]


# --- prefixes


def test_zip_codes():
    assert ways(coterie.prefixes(5, 3), ["02139", "02138", "10001"]) == [
        "02138 021** *", "02139 021** *", "10001 100** *",
    ]  # fmt: skip
    assert ways(coterie.prefixes(), ["02138"]) == ["02138 0213* 021** 02*** 0**** *"]
    assert ways(coterie.prefixes(3, mask="x"), ["02138"]) == ["02138 021xx *"]


def test_codes_of_unequal_length():
    assert ways(coterie.prefixes(3, 1), ["A01.1", "A01", "B2", "A01.12", ""]) == [
        " *",
        "A01 A01*** A***** *",
        "A01.1 A01*** A***** *",
        "A01.12 A01*** A***** *",
        "B2 B***** *",
    ]
    assert ways(coterie.prefixes(), ["A01", "A01.1"]) == ["A01 A01** A0*** A**** *", "A01.1 A01.* A01** A0*** A**** *"]


def test_numbers_as_codes():
    assert ways(coterie.prefixes(3), [10001, 20002]) == ["10001 100** *", "20002 200** *"]
    assert ways(coterie.prefixes(3), [10001.0]) == ["10001 100** *"]
    for values in ([2138, 10001], [-1, 11], [1.5, 2.5]):
        assert (
            "keep the column as text, with its leading zeros"
            in problems(lambda v=values: ways(coterie.prefixes(), v))[0]
        )


def test_what_prefixes_refuse():
    found = problems(lambda: coterie.prefixes(3, 5, 0, "2", mask="**"))
    assert found == [
        "prefixes: 0 is not a length; a length is a whole number above 0",
        "prefixes: '2' is not a length; a length is a whole number above 0",
        "prefixes: 5 comes after 3; lengths go from long to short, such as 5, 3",
        "mask: '**' is not a mask; it is one character, such as '*' or '#'",
    ]
    assert problems(lambda: ways(coterie.prefixes(), ["021**", "02138"])) == [
        "c: 1 value (1 row) contains the mask \"*\"; choose a mask that no value contains, such as prefixes(mask='#')"
    ]
    assert "65 characters" in problems(lambda: ways(coterie.prefixes(), ["x" * 65]))[0]
    assert ways(coterie.prefixes(2), ["x" * 65]) == [f"{'x' * 65} {'xx'.ljust(65, '*')} *"]
    assert "use dates" in problems(lambda: ways(coterie.prefixes(), [dt.date(2024, 1, 1)]))[0]
    assert "the label of the root" in problems(lambda: ways(coterie.prefixes(1, mask="#"), ["*", "*a"]))[0]


# --- dates


def test_days_months_quarters_years_decades():
    assert ways(coterie.dates(), [dt.date(2024, 3, 5), dt.date(1999, 12, 31)]) == [
        "1999-12-31 1999-12 1999-Q4 1999 1990s *",
        "2024-03-05 2024-03 2024-Q1 2024 2020s *",
    ]
    assert ways(coterie.dates("year"), [dt.date(2024, 3, 5)]) == ["2024-03-05 2024 *"]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([dt.datetime(1969, 12, 31, 23, 59)], pa.timestamp("s")),
        pa.array([dt.datetime(1969, 12, 31, 23, 59)], pa.timestamp("ns")),
        pa.array(["1969-12-31 23:59:00"]),
    ],
)
def test_moments(values):
    expected = "<1969-12-31 23:59:00> 1969-12-31 1969-12 1960s *"
    assert ways(coterie.dates("day", "month", "decade"), values) == [expected]


def test_moments_with_a_time_zone_fall_on_the_day_of_their_clock():
    moment = dt.datetime(2024, 1, 1, 3, tzinfo=dt.UTC)
    values = pa.array([moment]).cast(pa.timestamp("us", "America/New_York"))
    assert ways(coterie.dates("day", "year"), values)[0].endswith(" 2023-12-31 2023 *")
    assert ways(coterie.dates("year"), ["2023-12-31T22:00:00-05:00"])[0].endswith(" 2023 *")


def test_days_and_moments_in_one_column():
    assert ways(coterie.dates("day", "year"), ["2024-03-05T10:00", "2024-03-05", "2024-03-06"]) == [
        "2024-03-05 2024-03-05 2024 *",
        "2024-03-05T10:00 2024-03-05 2024 *",
        "2024-03-06 2024 *",
    ]


def test_what_dates_refuse():
    assert problems(lambda: coterie.dates("year", "week", "month", "month", 3)) == [
        "dates: 'week' is not a level; choose from day, month, quarter, year, decade",
        "dates: 3 is not a level; choose from day, month, quarter, year, decade",
        "dates: 'month' comes after 'year'; levels go from day to decade",
        "dates: 'month' comes after 'month'; levels go from day to decade",
    ]
    assert problems(lambda: ways(coterie.dates(), ["2024-03", "2024-02-30", "5.3.2024", "2024-03-05"])) == [
        "c: 3 values (3 rows) are not dates; dates are written as 2024-03-05"
    ]
    assert "int64" in problems(lambda: ways(coterie.dates(), [2024]))[0]


# --- flat


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["b", "10", "9"], "10 9 b"),
        ([10, 9, -1], "-1 9 10"),
        ([0.5, -2.0], "-2 0.5"),
        ([True, False], "false true"),
        ([dt.date(2024, 1, 1), dt.date(1999, 1, 1)], "1999-01-01 2024-01-01"),
        ([dt.time(9, 30), dt.time(8)], "08:00:00 09:30:00"),
        (pa.array([2, 1], pa.float16()), "1 2"),
        ([Decimal("1.50"), Decimal("1.05")], "1.05 1.5"),
        (["*", "a"], "* a"),
    ],
)
def test_flat_is_in_ascending_order(values, expected):
    assert ways(coterie.flat(), values) == [f"{value} *" for value in expected.split()]


def test_two_zeros_are_one_leaf():
    values = pa.array([0.0, -0.0, 1.0])
    tree, codes = Hierarchy.flat().bind(values, counts=np.ones(3, dtype=np.int64), column="c")
    assert tree.leaves == 2
    assert codes.tolist() == [0, 0, 1]


def test_types_without_a_text():
    assert "convert them to text, numbers or dates" in problems(lambda: ways(coterie.flat(), pa.array([[1]])))[0]
    with pytest.raises(ValueError, match="without nulls"):
        ways(coterie.flat(), pa.array(["a", None]))


def test_a_rule_is_written_for_given_values_only(tmp_path):
    assert "pass the values" in problems(lambda: coterie.prefixes().to_csv(tmp_path / "h.csv"))[0]
    assert not list(tmp_path.iterdir())
