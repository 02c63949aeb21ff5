"""Table: rows as codes, and equal rows taken together."""

import numpy as np
import pytest
from hypothesis import given
from tables import number_domain, tables

import coterie.table.table
from coterie.errors import DataError
from coterie.hierarchies.tree import Tree
from coterie.table.grouping import Grouping, renumber
from coterie.table.table import Table

AGES = number_domain("age", [1, 2, 3])


@pytest.mark.parametrize(
    "codes",
    [
        np.zeros((3, 1), dtype=np.int64),
        np.zeros(3, dtype=np.int32),
        np.zeros((3, 2), dtype=np.int32)[:, ::2],
        np.asfortranarray(np.zeros((3, 2), dtype=np.int32)),
    ],
    ids=["int64", "one dimension", "strided", "column-major"],
)
def test_kernels_are_spared_other_arrays(codes):
    with pytest.raises(TypeError, match="C-contiguous int32 array of two dimensions"):
        Table(codes, (AGES,))


def test_more_rows_than_row_numbers_are_refused(monkeypatch):
    monkeypatch.setattr(coterie.table.table, "ROW_LIMIT", 2)
    with pytest.raises(DataError, match=r"has 3 rows; the limit is 2\. Split it into several files"):
        Table(np.zeros((3, 1), dtype=np.int32), (AGES,))


@given(tables())
def test_distinct_rows_hold_all_rows(drawn):
    table, plain = drawn
    distinct = table.distinct
    assert len(distinct) == len({tuple(row) for row in plain.rows})
    assert (distinct.codes[distinct.of_row] == table.codes).all()
    assert distinct.counts.tolist() == np.bincount(distinct.of_row).tolist()
    assert sorted(distinct.rows.tolist()) == list(range(table.rows))
    for place in range(len(distinct)):
        rows = distinct.rows[distinct.start[place] : distinct.start[place + 1]]
        assert (distinct.of_row[rows] == place).all()
        assert (np.diff(rows) > 0).all()
        assert distinct.first_row[place] == rows[0]
    assert (np.diff(distinct.first_row) > 0).all()
    assert distinct.codes.flags.c_contiguous


@given(tables())
def test_a_table_speaks_of_itself(drawn):
    table, plain = drawn
    assert table.rows == len(plain.rows)
    assert table.attributes == len(plain.attributes)
    assert table.costs is table.costs


def test_groups_are_numbered_by_their_first_rows():
    assert renumber(np.asarray([7, -1, 3, 7, 0, -1])).tolist() == [0, -1, 1, 0, 2, -1]
    assert renumber(np.asarray([-1, -1])).tolist() == [-1, -1]
    codes = np.asarray([[2, 0], [9, 9], [1, 1], [0, 2], [4, 4], [0, 0]], dtype=np.int32)
    grouping = Grouping.of(codes, [7, -1, 3, 7, 0, -1])
    assert grouping.groups == 3
    assert grouping.sizes.tolist() == [2, 1, 1]
    assert grouping.suppressed.tolist() == [False, True, False, False, False, True]
    assert grouping.lo.tolist() == [[0, 0], [1, 1], [4, 4]]
    assert grouping.hi.tolist() == [[2, 2], [1, 1], [4, 4]]
    assert Grouping.of(codes, [-1] * 6).groups == 0


def test_a_tree_of_the_root_alone():
    none = np.zeros(0, dtype=np.int32)
    root = np.zeros(1, dtype=np.int32)
    tree = Tree(("*",), root - 1, root, root - 1, none, root, root, root)
    assert (tree.leaves, tree.nodes, len(tree.gap_node)) == (0, 1, 0)
    assert tree.common_ancestor(none, none).tolist() == []
