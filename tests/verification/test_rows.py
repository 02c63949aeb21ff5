"""Boxes of rows that are published one by one, read by the judge: the same as by the reader that measures releases."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from verification.test_population import COLUMNS, ORDER, drawn

import coterie
from coterie.measures.published import read_cells
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.verification.rows import NAME, count_rows, read_boxes, rows_check, summed


@pytest.mark.parametrize("method", ["nh", "mondrian"])
@given(data=st.data())
def test_boxes_are_what_was_published(method, data):
    names = data.draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=3, unique=True))
    table = drawn(data.draw, names, data.draw(st.integers(4, 20)))
    publish = {"bounds": "bounds"} if "bounds" in names else {}
    if "tree" in names and data.draw(st.booleans()):
        publish["tree"] = "set"
    hierarchies = {name: COLUMNS[name][2] for name in names if COLUMNS[name][2] is not None}
    ordered = {name: ORDER for name in names if name == "rank"}
    config = Config(quasi=names, hierarchies=hierarchies, ordered=ordered, publish=publish, k=2, method=method)
    published = coterie.anonymize(table, config=config).arrow
    encoded = encode(table, config).table
    expected = read_cells(published, encoded, config)
    assert not expected.unread.any()
    lo, hi = np.hsplit(read_boxes(published, {domain.name: domain.values for domain in encoded.domains}, config), 2)
    assert np.array_equal(lo, expected.lo)
    assert np.array_equal(hi, expected.hi)


@pytest.mark.parametrize("cell", ["[1-7]", "[2-1]", "{1, 7}", "7", "nonsense", None])
def test_what_says_nothing_of_the_values_holds_none(cell):
    published = pa.table({"x": pa.array([cell, "[1-2]"], pa.string())})
    lo, hi = np.hsplit(read_boxes(published, {"x": pa.array([1, 2, 3])}, Config(quasi=["x"])), 2)
    assert lo[0, 0] > hi[0, 0]
    assert (lo[1, 0], hi[1, 0]) == (0, 1)


def test_half_of_the_bounds_holds_none():
    published = pa.table({"x_min": pa.array([1, None, None]), "x_max": pa.array([2, 2, None])})
    lo, hi = np.hsplit(read_boxes(published, {"x": pa.array([1, 2, 3])}, Config(quasi=["x"])), 2)
    assert (lo > hi)[:, 0].tolist() == [False, True, False]
    assert (lo[2, 0], hi[2, 0]) == (0, 2)


RING = 6


def ring(back, *, k=3):
    """What is found of one ring of six equal rows, whose boxes hold them all; place → how far back its box is."""
    codes = np.zeros((RING, 1), dtype=np.int32)
    start = np.array([0, RING], dtype=np.int64)
    back = np.array(back, dtype=np.int64)
    counts = count_rows(codes, lo=codes, hi=codes, start=start, back=back, k=k)
    return rows_check(summed(counts, k), k=k, alike=None), counts


@pytest.mark.parametrize("step", [0, 1, 2])
def test_one_assignment_for_all_is_fine(step):
    found, counts = ring([step] * RING)
    assert (found.name, found.passed, found.found) == (NAME, True, 3)
    assert counts.stray == 0


@pytest.mark.parametrize("step", [3, 5, -1])
def test_a_box_that_does_not_stand_for_its_row_is_noticed(step):
    """Each box stands for the row at its place and the two after it; all are used once, and all are the wrong ones."""
    found, counts = ring([step] * RING)
    assert counts.stray >= RING
    assert (found.passed, found.found) == (False, 0)
    assert "boxes of other rows" in found.text


def test_a_box_that_is_used_twice_is_noticed():
    """Every row has a box that stands for it, but two rows have the same one."""
    found, counts = ring([0, 1, 0, 0, 0, 0])
    assert counts.stray == 2  # the box of two rows, and the one of none
    assert not found.passed


@st.composite
def rings(draw):
    """Some rings of rows in two columns, boxes that hold most of what they should, and published boxes."""
    k = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    rows = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=sum(sizes), max_size=sum(sizes)))
    back = draw(st.lists(st.integers(-1, k), min_size=len(rows), max_size=len(rows)))
    boxes, first = [], 0
    for size in sizes:
        for place in range(size):
            held = [rows[first + (place + step) % size] for step in range(min(k, size))]
            box = [(min(values), max(values)) for values in zip(*held, strict=True)]
            if draw(st.integers(0, 2)) == 0:  # an end that leaves some row out, or one that is wider than it need be
                at, by = draw(st.integers(0, 1)), draw(st.integers(-1, 1))
                box[at] = (box[at][0] + by, box[at][1])
            if draw(st.integers(0, 2)) == 0:
                at, by = draw(st.integers(0, 1)), draw(st.integers(-1, 1))
                box[at] = (box[at][0], box[at][1] + by)
            boxes.append(box)
        first += size
    return k, sizes, rows, back, boxes


@given(rings())
@example((3, [5], [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)], [0] * 5, [[(0, 2), (0, 0)]] * 5))
@example((2, [1, 3], [(1, 1), (0, 0), (2, 2), (0, 2)], [0, 1, 1, 1], [[(1, 1), (1, 1)], [(0, 2), (0, 2)]] * 2))
def test_pairs_of_rows_and_boxes_are_counted_as_by_a_loop(case):
    """Too many would pass a release in which a box, or a row, has fewer than k others to hide among."""
    k, sizes, rows, back, boxes = case
    holds, behind, used, stray, first = [0] * len(rows), [0] * len(rows), [0] * len(rows), 0, 0
    for size in sizes:
        for place in range(size):
            for step in range(min(k, size)):
                at = first + (place + step) % size
                if all(low <= code <= high for code, (low, high) in zip(rows[at], boxes[first + place], strict=True)):
                    holds[first + place] += 1
                    behind[at] += 1
            used[first + (place - back[first + place]) % size] += 1
            stray += not 0 <= back[first + place] < k
        first += size
    lo, hi = (np.array([[ends[side] for ends in box] for box in boxes], dtype=np.int32) for side in (0, 1))
    start = np.cumsum([0, *sizes]).astype(np.int64)
    codes, steps = np.array(rows, dtype=np.int32), np.array(back, dtype=np.int64)
    found = count_rows(codes, lo=lo, hi=hi, start=start, back=steps, k=k)
    assert found.holds.tolist() == holds
    assert found.behind.tolist() == behind
    assert found.stray == stray + sum(each != 1 for each in used)
