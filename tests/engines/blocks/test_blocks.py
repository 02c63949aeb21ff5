"""Blocks against the twin that goes row by row and leaf by leaf, and whatever the sample was like."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from block_cases import config_of
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_blocks

from coterie.engines import cuts
from coterie.engines.block import anonymize_block
from coterie.engines.blocks.spill import Spill, SpilledRows
from coterie.engines.cuts import BY_ROW, CutTree, in_sample, plant, sample_share
from coterie.engines.leaves import LeafCounts, join_leaves
from coterie.table.codebook import CountedValues, make_codebook
from coterie.values.plain import plain_array

DEPTH = 4


@st.composite
def trees(draw, leaves=None, depth=0):
    """A twin's tree with leaves numbered from left to right."""
    counter = leaves if leaves is not None else iter(range(10**6))
    if depth == DEPTH or draw(st.integers(0, 3)) == 0:
        return next(counter)
    attribute = draw(st.sampled_from([0, 1, None]))
    cut = draw(st.integers(0, 9))
    left = draw(trees(counter, depth + 1))
    return (attribute, cut, left, draw(trees(counter, depth + 1)))


def flat(tree):
    """The twin's tree as arrays, children side by side."""
    attribute, cut, left, leaf = [0], [0], [-1], [-1]
    waiting = [(0, tree)]
    while waiting:
        at, node = waiting.pop()
        if isinstance(node, int):
            leaf[at] = node
            continue
        attribute[at], cut[at], left[at] = BY_ROW if node[0] is None else node[0], node[1], len(left)
        for side in node[2:]:
            waiting.append((len(left), side))
            for column, blank in ((attribute, 0), (cut, 0), (left, -1), (leaf, -1)):
                column.append(blank)
    kinds = (np.int32, np.int64, np.int32, np.int32)
    return CutTree(
        *(np.array(each, dtype=kind) for each, kind in zip((attribute, cut, left, leaf), kinds, strict=True))
    )


def book_of(table, config):
    counted = {}
    for name in (*config.quasi, *config.sensitive):
        cells = plain_array(table.column(name))
        found = pc.value_counts(cells.drop_null())
        counted[name] = CountedValues(found.field("values"), found.field("counts").to_numpy(), cells.null_count)
    return make_codebook(config, counted, rows=table.num_rows, all_rows=table.num_rows)


@given(trees(), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_rows_fall_into_the_same_leaves_as_one_by_one(tree, rows):
    codes = np.array([row[:2] for row in rows], dtype=np.int32).reshape(len(rows), 2)
    numbers = np.array([row[2] for row in rows], dtype=np.int64)
    found = flat(tree).leaf_of(codes, numbers)
    assert found.tolist() == [naive_blocks.leaf_of(tree, row[:2], row[2]) for row in rows]


@given(st.lists(st.integers(0, 2**62), max_size=50), st.floats(0, 1))
def test_the_sample_is_the_same_as_one_by_one(rows, share):
    found = in_sample(np.array(rows, dtype=np.int64), share)
    assert found.tolist() == [naive_blocks.in_sample(row, share) for row in rows]


def test_the_sample_is_as_large_as_it_should_be_whatever_the_stride():
    for stride in (1, 2, 64, 1000):
        taken = in_sample(np.arange(100_000) * stride, 0.1).sum()
        assert 9_500 < taken < 10_500
    assert sample_share(100) == 1.0
    assert sample_share(10 * cuts.SAMPLE) == 0.1


@given(trees(), st.data())
def test_small_blocks_are_joined_as_leaf_by_leaf(tree, data):
    leaves = naive_blocks.leaves_of(tree)
    rows = data.draw(st.lists(st.integers(0, 30), min_size=len(leaves), max_size=len(leaves)))
    table = pa.table({"age": [1] * max(sum(rows), 1), "disease": ["x"] * max(sum(rows), 1)})
    config = config_of(quasi=["age"], hierarchies={}, identifiers=(), sensitive=["disease"])
    book = book_of(table, config)
    counts = LeafCounts(len(leaves), book)
    counts.rows[:] = rows
    plan = join_leaves(flat(tree), counts, book, most=100)
    twin = naive_blocks.blocks_of(tree, rows, min(2 * config.k, book.rows))
    assert [np.flatnonzero(plan.block_of_leaf == block).tolist() for block in range(plan.blocks)] == [
        sorted(block) for block in twin
    ]
    assert plan.sizes.tolist() == [sum(rows[leaf] for leaf in block) for block in twin]


@given(trees(), trees(), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30), st.data())
def test_a_leaf_that_is_cut_again_keeps_the_others_as_they_are(tree, subtree, rows, data):
    leaf = data.draw(st.sampled_from(naive_blocks.leaves_of(tree)))
    whole, codes = flat(tree), np.array(rows, dtype=np.int32).reshape(len(rows), 2)
    numbers = np.arange(len(rows), dtype=np.int64)
    before, inner = whole.leaf_of(codes, numbers), flat(subtree).leaf_of(codes, numbers)
    after = whole.replace_leaf(leaf, flat(subtree)).leaf_of(codes, numbers)
    expected = np.where(inner == 0, leaf, inner + whole.leaves - 1)
    assert after.tolist() == np.where(before == leaf, expected, before).tolist()


ADVERSARIAL = {
    "sorted": lambda n: [(i, i % 7) for i in range(n)],
    "one giant tie": lambda n: [(3, 3)] * (n - 3) + [(0, 0), (9, 9), (5, 1)],
    "all the same": lambda n: [(1, 1)] * n,
    "two ties": lambda n: [(1, 1)] * (n // 2) + [(8, 8)] * (n - n // 2),
    "all different": lambda n: [(i, n - i) for i in range(n)],
    "a few rare values": lambda n: [(0, 0)] * (n - n // 10) + [(i + 1, i % 3) for i in range(n // 10)],
}


@pytest.mark.parametrize("kind", ADVERSARIAL)
@pytest.mark.parametrize("most", [25, 80])
def test_no_block_is_too_small_and_none_much_too_large(kind, most, tmp_path, monkeypatch):
    """The sample has a dozen rows: most values of the table are not among them."""
    monkeypatch.setattr(cuts, "SAMPLE", 12)
    rows = ADVERSARIAL[kind](500)
    table = pa.table({"x": [row[0] for row in rows], "y": [row[1] for row in rows], "disease": ["flu"] * len(rows)})
    config = config_of(quasi=["x", "y"], hierarchies={}, identifiers=(), k=5)
    book = book_of(table, config)
    coded = book.encode(table, np.arange(table.num_rows))
    numbers = np.arange(len(rows), dtype=np.int64)
    chosen = in_sample(numbers, sample_share(len(rows)))
    assert 0 < chosen.sum() < 40
    tree = plant(coded.codes[chosen], numbers[chosen], book, expected=len(rows), most=most)
    spill = Spill(tmp_path, book)
    leaf = tree.leaf_of(coded.codes, numbers)
    spill.add(leaf, SpilledRows(numbers, coded.codes, coded.sensitive))
    spill.flush()
    counts = LeafCounts(tree.leaves, book)
    counts.add(leaf, coded.sensitive)
    tree, counts = spill.fit(tree, counts, most=most)
    assert counts.rows.max() <= most
    assert counts.rows.sum() == len(rows)
    plan = join_leaves(tree, counts, book, most=most)
    assert plan.sizes.min() >= 2 * config.k
    block = plan.block_of(coded.codes, numbers)
    assert np.bincount(block).tolist() == plan.sizes.tolist()
    for number in range(plan.blocks):
        held = spill.read(np.flatnonzero(plan.block_of_leaf == number).tolist())
        assert held.numbers.tolist() == np.flatnonzero(block == number).tolist()
        assert (held.codes == coded.codes[held.numbers]).all()
        result = anonymize_block(held.codes, held.sensitive, plan, number, rows=held.numbers)
        assert np.bincount(result.group).min() >= config.k


@settings(max_examples=25)
@given(st.data())
def test_leaves_of_a_planted_tree_hold_the_sample(data):
    n = data.draw(st.integers(2, 80))
    rows = data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=n, max_size=n))
    most = data.draw(st.integers(1, 60))
    table = pa.table({"x": [row[0] for row in rows], "y": [row[1] for row in rows]})
    config = config_of(quasi=["x", "y"], hierarchies={}, identifiers=(), sensitive=(), k=2)
    book = book_of(table, config)
    codes, numbers = book.encode(table, np.arange(n)).codes, np.arange(n, dtype=np.int64)
    tree = plant(codes, numbers, book, expected=n, most=most)
    sizes = np.bincount(tree.leaf_of(codes, numbers), minlength=tree.leaves)
    assert sizes.max() <= max(most, 1)
    assert sizes.min() >= 1
    assert sorted(tree.order()[0].tolist()) == list(range(tree.leaves))
