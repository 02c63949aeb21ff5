"""Changes to a hierarchy: each gives a tree that can still be read as one, or a reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.errors import HierarchyError
from coterie.hierarchies.files import csv_text
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.web.hierarchies import edit
from coterie.web.hierarchies import edit_tree as trees

MAPPING = {"High": {"Graduate": ["Masters", "PhD"], "Undergraduate": ["Bachelors"]}, "Low": ["11th", "12th"]}


@pytest.fixture
def tree():
    return trees.from_whole(Hierarchy.from_mapping(MAPPING).tree)


def node(tree, label):
    found = [each for each, name in tree.labels.items() if name == label]
    assert len(found) == 1
    return found[0]


def nested(tree, at=trees.TOP):
    """The tree as the obvious nested dict: groups are dicts, values None."""
    return {
        tree.labels[each]: nested(tree, each) if each in tree.children else None for each in tree.children.get(at, ())
    }


def test_a_tree_comes_back_from_its_rows(tree):
    assert Hierarchy.from_rows(trees.rows(tree)) == Hierarchy.from_mapping(MAPPING)


def test_a_tree_comes_back_from_json(tree):
    assert trees.from_plain(json.loads(json.dumps(trees.to_plain(tree)))) == tree


@pytest.mark.parametrize(
    "broken",
    [{}, {"nodes": [], "next": 1}, {"nodes": [[0, -1, False, "*"]], "next": 1}, {"nodes": [[0, -1, True]], "next": 1}],
    ids=["nothing", "empty", "no-group", "short"],
)
def test_json_that_is_no_tree_is_refused(broken):
    with pytest.raises((KeyError, ValueError, TypeError)):
        trees.from_plain(broken)


def test_flat(tree):
    made = trees.flat_tree(["b", "a", "b"])
    assert nested(made) == {"b": None, "a": None}
    assert trees.rows(made) == [["b", "*"], ["a", "*"]]


def test_a_group_is_added_empty_and_left_out_of_the_rows(tree):
    made = edit.add_group(tree, "New", under=node(tree, "Low"))
    assert nested(made.tree)["Low"] == {"11th": None, "12th": None, "New": {}}
    assert trees.empty_groups(made.tree) == [made.node]
    assert trees.rows(made.tree) == trees.rows(tree)


def test_values_are_added(tree):
    grown = edit.add_values(tree, ["10th", "9th"], under=node(tree, "Low"))
    assert list(nested(grown)["Low"]) == ["11th", "12th", "10th", "9th"]
    with pytest.raises(HierarchyError, match="is already in the tree"):
        edit.add_values(grown, ["Masters"])


def test_a_value_may_bear_the_name_of_its_group_and_must_stay_there(tree):
    grown = edit.add_values(tree, ["Low"], under=node(tree, "Low"))
    again = Hierarchy.from_rows(trees.rows(grown))
    assert "Low" in again.tree.leaf_of
    assert "Low" in again.tree.inner_labels
    value = next(each for each in grown.values if grown.labels[each] == "Low")
    with pytest.raises(HierarchyError, match="also the name of a group"):
        edit.move(grown, [value], to=trees.TOP)
    with pytest.raises(HierarchyError, match="also the name of a group"):
        edit.move(grown, [value], to=node(tree, "Graduate"))
    # The group moves with what it holds, and can be taken away: then the name is the value's alone.
    group = grown.parent[value]
    moved = edit.move(grown, [group], to=node(tree, "High"))
    assert set(nested(moved)["High"]) == {"Graduate", "Undergraduate", "Low"}
    assert "Low" in nested(edit.delete(grown, group))


def test_rename(tree):
    changed = edit.rename(tree, node(tree, "Low"), "School")
    assert list(nested(changed)) == ["High", "School"]
    assert edit.rename(tree, trees.TOP, "Any").labels[trees.TOP] == "Any"
    assert edit.rename(tree, node(tree, "Low"), "Low") is tree
    for label, fault in (("High", "already"), ("  ", "empty"), ("x" * 501, "longer")):
        with pytest.raises(HierarchyError, match=fault):
            edit.rename(tree, node(tree, "Low"), label)


def test_move_keeps_the_order_and_takes_a_branch_once(tree):
    low = node(tree, "Low")
    chosen = [node(tree, label) for label in ("PhD", "Graduate", "Masters", "Bachelors")]
    moved = edit.move(tree, chosen, to=low)
    expected = {"11th": None, "12th": None, "Graduate": {"Masters": None, "PhD": None}, "Bachelors": None}
    assert nested(moved) == {"High": {"Undergraduate": {}}, "Low": expected}


@pytest.mark.parametrize(
    ("what", "to", "fault"),
    [
        (["High"], "Graduate", "into itself"),
        (["High"], "High", "into itself"),
        (["11th"], "PhD", "is a value"),
        ([], "Low", "select"),
        (["*"], "Low", "root"),
    ],
    ids=["beneath", "itself", "value", "nothing", "root"],
)
def test_moves_that_cannot_be(tree, what, to, fault):
    with pytest.raises(HierarchyError, match=fault):
        edit.move(tree, [node(tree, label) for label in what], to=node(tree, to))


def test_a_node_that_is_gone_is_said_to_be(tree):
    for attempt in (
        lambda: edit.delete(tree, 99),
        lambda: edit.rename(tree, 99, "x"),
        lambda: edit.move(tree, [99], to=trees.TOP),
        lambda: edit.add_group(tree, "x", under=99),
    ):
        with pytest.raises(HierarchyError, match="no longer exists"):
            attempt()


def test_gather_puts_the_group_where_the_first_stood(tree):
    made = edit.gather(tree, [node(tree, "12th"), node(tree, "Bachelors")], "Mixed")
    assert nested(made.tree) == {
        "High": {
            "Graduate": {"Masters": None, "PhD": None},
            "Undergraduate": {"Mixed": {"Bachelors": None, "12th": None}},
        },
        "Low": {"11th": None},
    }
    assert made.tree.labels[made.node] == "Mixed"


def test_a_level_goes_between(tree):
    made = edit.add_level(tree, "People")
    assert nested(made.tree) == {"People": nested(tree)}
    empty = edit.add_group(tree, "Empty")
    assert nested(edit.add_level(empty.tree, "Within", under=empty.node).tree)["Empty"] == {"Within": {}}


def test_delete_sends_children_up_in_place(tree):
    gone = edit.delete(tree, node(tree, "High"))
    assert list(nested(gone)) == ["Graduate", "Undergraduate", "Low"]
    assert list(nested(edit.delete(gone, node(gone, "11th")))["Low"]) == ["12th"]
    with pytest.raises(HierarchyError, match="root"):
        edit.delete(tree, trees.TOP)


def test_merge(tree):
    joined = edit.merge(tree, [node(tree, "Graduate"), node(tree, "Undergraduate")], into=node(tree, "Undergraduate"))
    assert nested(joined)["High"] == {"Undergraduate": {"Bachelors": None, "Masters": None, "PhD": None}}
    into_itself = edit.merge(tree, [node(tree, "Graduate")], into=node(tree, "High"))
    assert list(nested(into_itself)["High"]) == ["Undergraduate", "Masters", "PhD"]
    with pytest.raises(HierarchyError, match="contains"):
        edit.merge(tree, [node(tree, "High")], into=node(tree, "Graduate"))
    with pytest.raises(HierarchyError, match="at least one"):
        edit.merge(tree, [node(tree, "Low")], into=node(tree, "Low"))


def test_shift_stops_at_the_ends(tree):
    eleven = node(tree, "11th")
    assert list(nested(edit.shift(tree, eleven, 1))["Low"]) == ["12th", "11th"]
    assert edit.shift(tree, eleven, -3) == tree
    assert edit.shift(tree, trees.TOP, 1) is tree


def test_the_tree_that_was_given_is_never_changed(tree):
    before = trees.to_plain(tree)
    edit.move(tree, [node(tree, "PhD")], to=node(tree, "Low"))
    edit.delete(tree, node(tree, "High"))
    edit.gather(tree, [node(tree, "PhD")], "x")
    assert trees.to_plain(tree) == before


LABELS = st.sampled_from(["High", "Low", "Graduate", "PhD", "11th", "A", "B", "C", "D;", '"', "E "])
CHANGES = st.lists(st.tuples(st.sampled_from("gvrmntdsl"), st.integers(0, 14), st.integers(0, 14), LABELS), max_size=12)


@given(CHANGES)
def test_whatever_is_done_the_rows_are_a_tree_with_the_same_paths(changes):
    """Any way of changes leaves rows that are read again as the same tree (but for empty groups)."""
    tree = trees.from_whole(Hierarchy.from_mapping(MAPPING).tree)
    for change, one, other, label in changes:
        try:
            tree = _changed(tree, change, one, other, label)
        except HierarchyError as error:
            assert str(error)
    assert sorted(trees.walk(tree)) == sorted(tree.labels)
    assert all(each in tree.children[above] for each, above in tree.parent.items())
    paths = trees.rows(tree)
    if not paths:
        return
    again = Hierarchy.from_rows(paths)
    read = {label: again.tree.path(leaf) for label, leaf in again.tree.leaf_of.items()}
    # "Low" alone in "Low" is "Low": a hierarchy says no more.
    alone = {row[0]: row[1:] if row[:1] == row[1:2] and _alone(tree, row[0]) else row for row in paths}
    assert read == alone
    assert csv_text(paths).count("\n") == len(paths)


def _alone(tree, label):
    group = next(each for each in tree.children if tree.labels[each] == label)
    return sum(group in tree.path(value) for value in tree.values) == 1


def _changed(tree, change, one, other, label):
    return {
        "g": lambda: edit.add_group(tree, label, under=one).tree,
        "v": lambda: edit.add_values(tree, [label], under=one),
        "r": lambda: edit.rename(tree, one, label),
        "m": lambda: edit.move(tree, [one, other], to=max(one - other, 0)),
        "n": lambda: edit.gather(tree, [one, other], label).tree,
        "t": lambda: edit.merge(tree, [one], into=other),
        "d": lambda: edit.delete(tree, one),
        "s": lambda: edit.shift(tree, one, other - 7),
        "l": lambda: edit.add_level(tree, label, under=one).tree,
    }[change]()
