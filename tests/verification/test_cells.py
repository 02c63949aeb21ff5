"""Classes of equal rows, however many columns and values there are."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from coterie.verification import cells
from coterie.verification.cells import ColumnCells, equal_rows


def columns_of(codes, distinct):
    values = pa.array(range(distinct))
    return [ColumnCells(values, np.ascontiguousarray(column)) for column in codes.T.astype(np.int64)]


def classes_by_hand(codes):
    known = {}
    return [known.setdefault(tuple(row), len(known)) for row in codes.tolist()]


@pytest.mark.parametrize("distinct", [2**16 - 1, 2**31 - 1, 2**61])
def test_numbers_of_several_columns_never_overflow(distinct):
    """Without the guard, rows that differ would share a number, and count as one class of at least k."""
    rng = np.random.default_rng(1)
    values = np.array([0, 1, distinct // 2, distinct - 2, distinct - 1])
    codes = rng.choice(values, size=(200, 6))
    # What wraps around beyond 64 bits: columns whose product of sizes is a multiple of it.
    codes[:4] = [[0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [distinct // 2, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]
    columns = [column._replace(values=_Many(distinct)) for column in columns_of(codes, 1)]
    found, count = equal_rows(columns)
    assert found.tolist() == classes_by_hand(codes)
    assert count == len({tuple(row) for row in codes.tolist()})


class _Many:
    """As many values as is said, without holding them."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count


def test_the_guard_stands_where_an_int64_ends():
    assert 2**40 < cells.ROOM <= 2**63


def test_numbers_have_four_hundred_digits_behind_the_point_and_no_more():
    """More than any float has; a text of thousands of digits would take the judge's time."""
    assert cells.number_in("1e-400") == Decimal("1e-400")
    assert cells.number_in("1e-401") is None
    assert cells.number_in("1e308") is not None
    assert cells.number_in("1e309") is None


def test_moments_are_counted_from_1970_whatever_their_zone():
    assert cells.moment_in("1970-01-01") == 0
    assert cells.moment_in("1970-01-01T01:00:00+01:00") == 0
    assert cells.moment_in("1969-12-31 23:59:59.999999") == -1
