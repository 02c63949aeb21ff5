"""Blocks: where a table is cut, and that compact loses hardly more in them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tables import number_domain, tables

from coterie.datasets import ADULT_QUASI, adult, adult_hierarchies
from coterie.grouping.blocks import Boxes, counted_rows, cut_into_blocks, rows_of
from coterie.grouping.index import build_index
from coterie.kernels.search.costs import box_costs
from coterie.methods import Run, find_method
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.table import Table

NO_BOXES = Boxes(np.zeros((0, 2), dtype=np.int32), np.zeros((0, 2), dtype=np.int32))


def table_of(*columns):
    """A table of whole numbers from 0."""
    domains = [number_domain(f"c{at}", list(range(int(max(column)) + 1))) for at, column in enumerate(columns)]
    return Table(np.ascontiguousarray(np.column_stack(columns).astype(np.int32)), tuple(domains))


def boxes_of(*boxes):
    return Boxes(*(np.array([box[side] for box in boxes], dtype=np.int32) for side in range(2)))


@given(tables(), st.integers(1, 6), st.integers(1, 30), st.data())
def test_blocks_part_the_rows(drawn, k, rows, data):
    table, _ = drawn
    ends = data.draw(st.lists(st.tuples(*[st.integers(0, table.rows - 1)] * 2), max_size=5))
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    one, other = table.codes[pairs[:, 0]], table.codes[pairs[:, 1]]
    index = build_index(table)
    blocks = cut_into_blocks(index, Boxes(np.minimum(one, other), np.maximum(one, other)), k=k, rows=rows)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(table.rows))
    assert len(blocks) == 1 or min(map(len, blocks)) >= 2 * k
    block_of_row = np.empty(table.rows, dtype=np.int64)
    for number, block in enumerate(blocks):
        block_of_row[block] = number
        assert (np.diff(block) > 0).all()
        assert rows_of(table, block).codes.tolist() == table.codes[block].tolist()
    places = len(index.nodes.points)
    assert len(set(zip(index.nodes.position.tolist(), block_of_row.tolist(), strict=True))) == places


def test_a_large_table_is_cut_into_blocks_of_the_size_asked_for():
    rng = np.random.default_rng(1)
    table = table_of(rng.permutation(2000), rng.permutation(2000))
    blocks = cut_into_blocks(build_index(table), NO_BOXES, k=3, rows=300)
    assert 6 < len(blocks) < 14
    assert max(map(len, blocks)) <= 300


def test_places_of_k_equal_rows_do_not_count():
    table = table_of(np.append(np.arange(200), np.full(5000, 7)), np.append(np.arange(200), np.full(5000, 7)))
    index = build_index(table)
    assert counted_rows(index, k=5).sum() == 199
    assert len(cut_into_blocks(index, NO_BOXES, k=5, rows=199)) == 1
    one, other = sorted(map(len, cut_into_blocks(index, NO_BOXES, k=5, rows=110)))
    assert one <= 110 < 5000 < other <= 5110


def test_a_cut_is_where_the_fewest_boxes_straddle():
    x, y = (each.ravel() for each in np.meshgrid(np.arange(40), np.arange(10)))
    index, table = build_index(table_of(x, y)), table_of(x, y)
    along_x = boxes_of(*[((0, at), (39, at)) for at in range(10)])
    for boxes, attribute in ((along_x, 1), (boxes_of(*[((at, 0), (at, 9)) for at in range(40)]), 0)):
        one, other = cut_into_blocks(index, boxes, k=5, rows=200)
        sides = [set(table.codes[rows, attribute].tolist()) for rows in (one, other)]
        assert not sides[0] & sides[1]
    # Between 3 and 4 of y none straddles, and the halves are nearly as large.
    gap = boxes_of(*[((0, low), (39, low + 1)) for low in (0, 1, 2, 4, 5, 6, 7, 8)])
    one, other = cut_into_blocks(index, gap, k=5, rows=300)
    assert [len(one), len(other)] == [160, 240]


def test_slivers_are_not_cut_off_where_a_half_is_hardly_dearer():
    # Most cuts straddle 10 boxes, those near the end 4: by their entropy they would be better than the half.
    x = np.arange(400)
    middle = [((at, 0), (at + 10, 0)) for at in range(60, 390)]
    start = [((at, 0), (at + 4, 0)) for at in range(60)]
    blocks = cut_into_blocks(build_index(table_of(x, 0 * x)), boxes_of(*middle, *start), k=5, rows=200)
    assert sorted(map(len, blocks)) == [200, 200]


def test_large_blocks_are_cut_as_well_where_that_costs_nothing(monkeypatch):
    monkeypatch.setattr("coterie.grouping.blocks.FREE_ROWS", 100)
    x, y = (each.ravel() for each in np.meshgrid(np.arange(2), np.arange(200)))
    index = build_index(table_of(x, y))
    apart = [((at % 2, at), (at % 2, at + 150)) for at in range(50)] * 20
    assert sorted(map(len, cut_into_blocks(index, boxes_of(*apart), k=5, rows=1000))) == [200, 200]
    straddling = [((0, at), (1, at + 150)) for at in range(50)]
    assert len(cut_into_blocks(index, boxes_of(*apart, *straddling), k=5, rows=1000)) == 1
    assert len(cut_into_blocks(index, NO_BOXES, k=5, rows=1000)) == 1


def test_blocks_lose_hardly_more_than_one_piece():
    """On 6,000 rows of Adult, nodes of the index as blocks would lose 8 % more."""
    columns = adult(complete=True, part="train").slice(0, 6000).select(ADULT_QUASI)
    trees = {name: tree for name, tree in adult_hierarchies().items() if name in ADULT_QUASI and name != "age"}
    table = encode(columns, Config(quasi=ADULT_QUASI, hierarchies=trees)).table
    compact = find_method("compact")
    losses = []
    for block_rows in (700, 6000):
        found = compact.run(table, 10, compact.options(effort="fast", block_rows=block_rows), Run())
        assert found.sizes.min() >= 10
        losses.append(float((found.sizes * box_costs(table.costs, found.lo, found.hi)).sum()))
    assert losses[0] < 1.02 * losses[1]
