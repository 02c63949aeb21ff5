"""Random trees, and the many ways to write one down as rows."""

from hypothesis import strategies as st
from oracles.naive_tree import NaiveTree

PLAIN = "abcdefghij"
ODD = PLAIN + " ;,|\t\"'\r\n\\é日*[]-0123456789.="

# What names a root even where some rows leave it out.
ROOTS = ("*", "***", "Any", "all")


def _labels(alphabet):
    return st.text(alphabet, min_size=1, max_size=5).filter(
        lambda label: label.strip() and label.casefold() not in {"any", "all"} and set(label) != {"*"}
    )


@st.composite
def trees(draw, *, max_nodes=25, alphabet=ODD):
    """A ragged tree: unary nodes, leaves at any depth, now and then a leaf that is named as its parent."""
    number = draw(st.integers(1, max_nodes))
    names = draw(st.lists(_labels(alphabet), min_size=number, max_size=number, unique=True))
    labels = [draw(st.sampled_from(ROOTS)), *names]
    # Late parents make deep trees, early ones wide trees; both should come up.
    deep = draw(st.booleans())
    above = [draw(st.integers(max(0, node - 3) if deep else 0, node - 1)) for node in range(1, number + 1)]
    parents = [None, *above]
    inner = {parent for parent in parents[1:] if parents.count(parent) > 1}
    for parent in sorted(inner):
        # Beside a sibling only: alone under its parent, such a leaf would be the same as its parent.
        leaves = [node for node in range(1, number + 1) if parents[node] == parent and node not in parents]
        if leaves and draw(st.integers(0, 4)) == 0:
            labels[leaves[0]] = labels[parent]
    return NaiveTree(tuple(labels), tuple(parents))


@st.composite
def padded_rows(draw, tree):
    """Rows of a tree as people write them: padded by empty cells or repeated labels, the root left out here and there.

    Returns leaves of the tree and their rows, in a random order.
    """
    leaves = draw(st.permutations(tree.leaves))
    rows = []
    rooted = draw(st.sampled_from(range(len(leaves))))  # one row at least names the root
    for place, leaf in enumerate(leaves):
        row = tree.row(leaf)
        if place != rooted and draw(st.integers(0, 3)) == 0:
            row = row[:-1]
        row = [cell for cell in row for _ in range(draw(st.sampled_from((1, 1, 1, 2))))]
        row += [""] * draw(st.integers(0, 2))
        if len(row) > 2 and draw(st.booleans()):
            row.insert(draw(st.integers(1, len(row) - 1)), " ")
        rows.append(row)
    return leaves, rows
