"""Groups: their numbers, their rows in order and their boxes, against slow twins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.table.grouping import Grouping, by_label, renumber

# Few labels, more than fit 16 bits, and any.
labels = st.one_of(st.lists(st.integers(-1, most), max_size=40) for most in (3, 70_000, 2**31 - 3))


@given(labels)
def test_groups_are_numbered_by_their_first_rows(drawn):
    numbers = {label: at for at, label in enumerate(dict.fromkeys(each for each in drawn if each >= 0))}
    assert renumber(np.array(drawn, dtype=np.int64)).tolist() == [numbers.get(label, -1) for label in drawn]


def test_labels_may_be_any_integers():
    assert renumber(np.array([-7, 2**40, -1, -7, -(2**50)])).tolist() == [0, 1, -1, 0, 2]


@given(labels)
def test_rows_by_label_keep_their_order(drawn):
    assert by_label(np.array(drawn, dtype=np.int32)).tolist() == sorted(range(len(drawn)), key=drawn.__getitem__)


@given(labels, st.integers(0, 9))
def test_boxes_are_the_smallest_around_their_rows(drawn, seed):
    codes = np.random.default_rng(seed).integers(0, 9, (len(drawn), 2)).astype(np.int32)
    made = Grouping.of(codes, np.array(drawn, dtype=np.int64))
    assert made.lo.shape == made.hi.shape == (made.groups, 2)
    for group in range(made.groups):
        rows = codes[made.labels == group]
        assert made.sizes[group] == len(rows)
        assert (made.lo[group].tolist(), made.hi[group].tolist()) == (rows.min(0).tolist(), rows.max(0).tolist())
