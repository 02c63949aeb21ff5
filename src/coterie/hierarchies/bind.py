"""Bind hierarchies to the values of a column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coterie.arrays import Integers
from coterie.hierarchies.hierarchy import BoundHierarchy, Hierarchy
from coterie.hierarchies.whole import ROOT, WholeTree, grow_sorted
from coterie.values.plain import plain_array
from coterie.values.scalars import Misfits, is_number, is_text, number_text, texts
from coterie.wording import count_of

if TYPE_CHECKING:
    from coterie.hierarchies.rules import HierarchyRule


def bind(
    form: WholeTree | HierarchyRule,
    values: pa.Array,
    *,
    counts: Integers,
    column: str,
    missing: bool,
    show_values: bool,
) -> BoundHierarchy:
    """Find each value's leaf in an explicit tree, or in the one that a rule defines over these values."""
    values = plain_array(values)
    if values.null_count:
        raise ValueError("A hierarchy is bound to values without nulls; drop them and pass missing=True.")
    names = texts(values, column=column)
    misfits = Misfits(names, counts=counts, column=column, show_values=show_values)
    if isinstance(form, WholeTree):
        leaves = find_leaves(form, values, names=names)
        note_misfits(form, leaves, inner=form.inner_labels, misfits=misfits)
        misfits.raise_any()
        found = np.asarray(leaves, dtype=np.int64)
        bound, codes = form.restrict(found, missing=missing)
        return BoundHierarchy(bound, codes[found])
    ways = form.ways(values, names, misfits=misfits)
    rooted = [place for place, way in enumerate(ways) if way.labels[0] == ROOT and len(way.labels) > 1]
    misfits.add(rooted, f"is {ROOT}, the label of the root", f"are {ROOT}, the label of the root")
    misfits.raise_any()
    order = sorted(range(len(ways)), key=lambda place: ways[place].key)
    tree, grown = grow_sorted(ways[place].labels for place in order)
    bound, codes = tree.restrict(missing=missing)
    result = np.empty(len(ways), dtype=np.int32)
    result[order] = codes[grown]
    return BoundHierarchy(bound, result)


def find_leaves(tree: WholeTree, values: pa.Array, *, names: Sequence[str]) -> list[int | None]:
    """Return the leaf of each value, matched by text; numbers, dates and booleans also match in other spellings."""
    leaf_of = tree.leaf_of
    leaves = [leaf_of.get(name) for name in names]
    lost = [place for place, leaf in enumerate(leaves) if leaf is None]
    if not lost:
        return leaves
    kind = values.type
    if is_number(kind):
        # "17.0" and "017" in the file are the number 17 to a column of numbers.
        by_number: dict[str | None, int] = {}
        for label, leaf in leaf_of.items():
            by_number.setdefault(number_text(label), leaf)
        by_number.pop(None, None)
        for place in lost:
            leaves[place] = by_number.get(names[place])
    else:
        for place in lost:
            spellings = _other_spellings(names[place], kind)
            leaves[place] = next((leaf_of[text] for text in spellings if text in leaf_of), None)
    return leaves


def _other_spellings(name: str, kind: pa.DataType) -> Iterator[str]:
    if pa.types.is_boolean(kind):
        yield from (name.capitalize(), name.upper())
    elif pa.types.is_timestamp(kind):
        yield name.replace(" ", "T")
        if name.endswith(" 00:00:00"):
            yield name.removesuffix(" 00:00:00")
    elif is_text(kind) and "." in name and not name.startswith("0"):
        # A column of whole numbers with gaps is often written as 17.0.
        text = number_text(name)
        if text is not None and "." not in text:
            yield text


def note_misfits(tree: WholeTree, leaves: Sequence[int | None], *, inner: Collection[str], misfits: Misfits) -> None:
    """Count the values without a leaf: those that name an inner node, and those missing from the hierarchy."""
    names = misfits.names
    lost = [place for place, leaf in enumerate(leaves) if leaf is None]
    groups = [place for place in lost if names[place] in inner]
    unknown = [place for place in lost if names[place] not in inner]
    spaced = sum(names[place].strip() in tree.leaf_of for place in unknown)
    hint = "add the missing rows to the hierarchy"
    if spaced:
        hint += f", or remove the spaces around {count_of(spaced, 'value')} of the data, which would then fit"
    misfits.add(unknown, "is missing from the hierarchy", "are missing from the hierarchy", hint=hint)
    misfits.add(
        groups,
        "is the label of a group, not a value: the data are already generalized in part",
        "are labels of groups, not values: the data are already generalized in part",
        hint="give the original values, or a row in the hierarchy that starts with the label",
    )


def tree_paths(hierarchy: Hierarchy, values: Any) -> list[list[str]]:  # noqa: ANN401 - any array of values
    """Return the path from each value to the root, in depth-first order; values may repeat and may be null."""
    distinct = plain_array(values).drop_null().unique()
    tree, codes = hierarchy.bind(distinct, counts=np.ones(len(distinct), dtype=np.int64), column="")
    # The file must have a value as spelled in the data, which may differ from the hierarchy.
    written = dict(zip(codes.tolist(), texts(distinct, column=""), strict=True))
    whole = WholeTree(tree.labels, tuple(tree.parent.tolist()))
    return [[written[code], *whole.path(int(tree.parent[node]))] for code, node in enumerate(tree.leaf_node.tolist())]
