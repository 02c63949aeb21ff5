"""Distinct rows by hashing against a dict of tuples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.kernels.distinct import distinct_rows

LARGEST = 2**31 - 1


def check(rows):
    codes = np.asarray(rows, dtype=np.int32).reshape(len(rows), -1)
    of_row, first = distinct_rows(codes)
    number = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    assert of_row.tolist() == [number[row] for row in rows]
    assert first.tolist() == [rows.index(row) for row in number]


@given(st.integers(1, 5).flatmap(lambda d: st.lists(st.tuples(*[st.integers(0, 4)] * d), min_size=1, max_size=60)))
def test_rows_are_numbered_as_they_appear(rows):
    check(rows)


@given(st.lists(st.tuples(*[st.sampled_from([0, 1, 2**16, 2**30, LARGEST])] * 3), min_size=1, max_size=60))
def test_large_codes(rows):
    check(rows)


@pytest.mark.parametrize("rows", [1, 8, 9, 1000])
def test_all_distinct_and_all_equal(rows):
    check([(row, row % 7) for row in range(rows)])
    check([(3, 3)] * rows)


def test_many_rows_agree_with_numpy():
    codes = np.random.default_rng(0).integers(0, 30, (20_000, 3)).astype(np.int32)
    of_row, first = distinct_rows(codes)
    _, index, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    assert sorted(first) == sorted(index)
    assert len(set(zip(of_row.tolist(), inverse.ravel().tolist(), strict=True))) == len(first)
    assert (np.diff(first) > 0).all()
