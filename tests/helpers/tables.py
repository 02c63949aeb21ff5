"""Random small tables for the methods: the encoded Table, and the same as plain lists for the slow twins.

Tables have numbers and ragged trees, weights, missing values, values of the hierarchy that no row has, many equal
rows and many ties. `Plain.attributes` is described in `oracles/naive_costs.py`.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from coterie.hierarchies.whole import WholeTree
from coterie.table.domain import Domain
from coterie.table.table import Table


@dataclass(frozen=True)
class Plain:
    """A table as plain lists: row → codes, and what the codes mean."""

    rows: list
    attributes: list


def number_domain(name, values, *, missing=False, weight=1.0):
    """A domain of ascending distinct numbers, with a code for missing values at the end if asked for."""
    numbers = np.asarray(values, dtype=np.float64) - min(values, default=0)
    cells = [*values, None] if missing else list(values)
    return Domain(
        name=name,
        kind="number",
        values=pa.array(cells, type=pa.float64()),
        numbers=np.append(numbers, np.nan) if missing else numbers,
        tree=None,
        missing=len(values) if missing else -1,
        weight=weight,
        labelled=False,
    )


def tree_domain(name, parents, leaves, *, missing=False, weight=1.0):
    """A domain over some leaves of a tree given by parent pointers in depth-first order, labelled n0, n1, …."""
    labels = tuple("*" if node == 0 else f"n{node}" for node in range(len(parents)))
    whole = WholeTree(labels, tuple(-1 if parent is None else parent for parent in parents))
    tree, _ = whole.restrict(leaves, missing=missing)
    cells = [labels[leaf] for leaf in leaves]
    return Domain(
        name=name,
        kind="tree",
        values=pa.array([*cells, None] if missing else cells, type=pa.string()),
        numbers=None,
        tree=tree,
        missing=len(leaves) if missing else -1,
        weight=weight,
        labelled=True,
    )


def plain_attribute(domain):
    """What the twin is given, from a domain whose hierarchy has no values but those present."""
    if domain.tree is None:
        values = [None if value is None else float(value) for value in domain.values.to_pylist()]
        return {"kind": "number", "values": values, "weight": domain.weight}
    parents = [None if parent < 0 else parent for parent in domain.tree.parent.tolist()]
    return {"kind": "tree", "parents": parents, "leaves": domain.tree.leaf_node.tolist(), "weight": domain.weight}


@st.composite
def parent_pointers(draw, max_nodes=14):
    """A ragged tree in depth-first order: node → parent, None for node 0. Nodes with one child come up too."""
    number = draw(st.integers(1, max_nodes))
    chain = [0]  # the path to the last node: a later node hangs from one of these
    parents = [None]
    for node in range(1, number + 1):
        level = draw(st.integers(0, len(chain) - 1))
        parents.append(chain[level])
        chain = [*chain[: level + 1], node]
    return parents


@st.composite
def _attributes(draw, name, weights, missing):
    """A domain, the plain description of it, and how many codes it has."""
    weight = draw(st.sampled_from(weights))
    gaps = draw(missing)
    if draw(st.booleans()):
        values = sorted(draw(st.sets(st.integers(0, 12) | st.integers(0, 100), min_size=1, max_size=8)))
        plain = {"kind": "number", "values": [*values, None] if gaps else values, "weight": weight}
        return number_domain(name, values, missing=gaps, weight=weight), plain
    parents = draw(parent_pointers())
    every = [node for node in range(1, len(parents)) if node not in parents]
    leaves = sorted(draw(st.sets(st.sampled_from(every), min_size=1)))
    plain = {"kind": "tree", "parents": [*parents, 0] if gaps else parents, "weight": weight}
    plain["leaves"] = [*leaves, len(parents)] if gaps else leaves
    return tree_domain(name, parents, leaves, missing=gaps, weight=weight), plain


@st.composite
def tables(draw, *, min_rows=1, max_rows=40, max_attributes=4, weights=(1.0, 1.0, 2.0, 0.5), missing=True):
    """A Table and its Plain twin. A domain may hold codes that no row has."""
    count = draw(st.integers(1, max_attributes))
    gaps = st.booleans() if missing else st.just(False)
    made = [draw(_attributes(f"q{j}", weights, gaps)) for j in range(count)]
    domains = tuple(domain for domain, _ in made)
    cells = [st.integers(0, domain.size - 1) for domain in domains]
    pool = draw(st.lists(st.tuples(*cells), min_size=1, max_size=max_rows))  # few distinct rows make many equal ones
    rows = draw(st.lists(st.sampled_from(pool), min_size=min_rows, max_size=max_rows))
    codes = np.asarray(rows, dtype=np.int32).reshape(len(rows), count)
    return Table(codes, domains), Plain([list(row) for row in rows], [plain for _, plain in made])
