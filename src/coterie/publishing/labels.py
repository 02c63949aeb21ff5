"""Turn boxes into published values, one quasi-identifier at a time.

A table has many rows, fewer groups, and still fewer distinct published values. So each value is made once, and
groups, then rows, refer to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Float64, Int32, Int64
from coterie.errors import Problem, refuse
from coterie.settings.fields.hierarchies import Publish as Style
from coterie.table.rounding import end_texts
from coterie.values.axis import decimals_of, floats_of
from coterie.values.notation import (
    ROOT,
    SET_LIMIT,
    bound_names,
    interval_texts,
    lone_texts,
    member_texts,
    range_texts,
    set_texts,
    value_texts,
)
from coterie.values.scalars import is_text

if TYPE_CHECKING:
    from coterie.table.domain import Domain
    from coterie.table.grouping import Held

NUMBER_STYLES = ("interval", "bounds", "mean", "median")
TREE_STYLES = ("ancestor", "set")

# The values of each group are marked in a matrix of groups × values with at most this many cells.
TICK_LIMIT = 2**26
# Up to this many possible intervals, marking those that occur is far faster than sorting, however few the groups.
MARKED_PAIRS = 2**16


class Labels(NamedTuple):
    """The published values of one quasi-identifier, and the value of each group."""

    names: tuple[str, ...]
    """the published columns: one, or two for bounds"""
    values: tuple[pa.Array, ...]
    """for each published column: label → value"""
    of_group: Int32
    """group → label"""
    suppressed: int
    """the label of suppressed rows"""
    unchanged: bool
    """whether every group is published with its rows' own values"""
    open_values: Int64 | None = None
    """group → number of values of the column that its set leaves open; None if no sets are published"""
    nodes: Int32 | None = None
    """group → the tree node whose label it is; None for the lowest that covers its values"""

    def of_rows(self, group: Int32) -> Int32:
        """Return row → label, from row → group; −1 is a suppressed row."""
        labels: Int32 = np.append(self.of_group, np.int32(self.suppressed))[group]
        return labels

    def cells(self, group: Int32) -> dict[str, pa.DictionaryArray]:
        """Return published column → cells of rows in these groups; dictionaries list only what the rows hold."""
        label = self.of_rows(group)
        used = np.zeros(len(self.values[0]), dtype=np.bool_)
        used[label] = True
        place = pa.array((np.cumsum(used, dtype=np.int32) - 1)[label], pa.int32())
        values = [each.take(pa.array(np.flatnonzero(used))) for each in self.values]
        return {
            name: pa.DictionaryArray.from_arrays(place, each) for name, each in zip(self.names, values, strict=True)
        }


class Boxes(NamedTuple):
    """One quasi-identifier of a grouping: the rows' codes and groups, and the groups' intervals."""

    domain: Domain
    codes: Int32
    labels: Int32
    lo: Int32
    hi: Int32
    nodes: Int32 | None = None
    """group → the tree node to publish, where the method has chosen one"""
    held: Held | None = None
    """the values in boxes, if these are not just the values of the rows published with them"""

    @property
    def wide(self) -> Bool:
        """Group → whether its interval has more than one code."""
        return self.hi > self.lo

    @property
    def joins_missing(self) -> Bool:
        """Group → whether it has missing values together with others: it is then published as the root."""
        if self.domain.missing < 0:
            return np.zeros(len(self.lo), dtype=np.bool_)
        joined: Bool = self.wide & (self.hi == self.domain.missing)
        return joined


def listed_values(columns: Iterable[Labels]) -> Int64:
    """Return [groups, d] number of values in the published sets; 0 in columns without sets."""
    every = [np.zeros(len(each.of_group)) if each.open_values is None else each.open_values for each in columns]
    return np.column_stack(every).astype(np.int64)


def style_of(domain: Domain, publish: Mapping[str, Style]) -> Style:
    """Return a column's publishing style: the configured one, or the default of its kind."""
    if domain.name in publish:
        return publish[domain.name]
    if domain.kind == "number":
        return "interval"
    return "ancestor" if domain.labelled else "set"


def root_text(domain: Domain, style: Style) -> str:
    """Return the text for any value of the column: the hierarchy's root label, or `*`."""
    if domain.tree is not None and domain.labelled and style == "ancestor":
        return domain.tree.labels[0]
    return ROOT


def roots_of(domains: Sequence[Domain], publish: Mapping[str, Style]) -> dict[str, str]:
    """Return quasi-identifier → the text of a suppressed cell."""
    return {domain.name: root_text(domain, style_of(domain, publish)) for domain in domains}


def check_styles(domains: Sequence[Domain], *, names: Sequence[str], publish: Mapping[str, Style]) -> None:
    """Raise a ConfigError with every style that does not fit its column or the table's names."""
    problems: list[Problem] = []
    for domain in domains:
        style = style_of(domain, publish)
        fitting = (NUMBER_STYLES[:2] if domain.order else NUMBER_STYLES) if domain.kind == "number" else TREE_STYLES
        path = f"publish.{domain.name}"
        if style not in fitting:
            what = "numbers or dates" if domain.kind == "number" else "categories"
            what = f"contains {'ordered categories' if domain.order else what}"
            problems.append(Problem(path, f"the column {what}; it can be published as {' or '.join(fitting)}"))
        elif domain.step is not None and (style not in NUMBER_STYLES[:2] or domain.order or floats_of(domain) is None):
            text = "only intervals of numbers, and bounds, have ends to round; leave it out"
            problems.append(Problem(f"round.{domain.name}", text))
        elif style in ("mean", "median") and floats_of(domain) is None:
            problems.append(Problem(path, f"dates have no {style}; use interval or bounds"))
        elif style == "bounds":
            taken = [name for name in bound_names(domain.name) if name in names]
            problems += [Problem(path, f"the table already has a column {name!r}; rename it") for name in taken]
    refuse(problems)


def label(boxes: Boxes, style: Style) -> Labels:
    """Return the published values of one quasi-identifier in this style."""
    return _STYLES[style](boxes)


def _distinct_intervals(boxes: Boxes) -> tuple[Int32, Int32, Int64]:
    """Return the distinct intervals of all groups, ascending, as (lo, hi); and group → interval."""
    size = max(boxes.domain.size, 1)
    pairs = boxes.lo.astype(np.int64) * size + boxes.hi
    if size * size > max(len(pairs), MARKED_PAIRS):
        distinct, of_group = np.unique(pairs, return_inverse=True)
    else:
        occurs = np.zeros(size * size, dtype=np.bool_)
        occurs[pairs] = True
        distinct, of_group = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[pairs]
    lo, hi = np.divmod(distinct, size)
    return lo.astype(np.int32), hi.astype(np.int32), of_group


def _rounded(boxes: Boxes) -> Labels:
    """Return intervals whose ends are rounded outward; a missing value stays missing."""
    domain = boxes.domain
    lo, hi, of_group = _distinct_intervals(boxes)
    entries: list[str | None] = [None if low == domain.missing else ROOT for low in lo]
    known = np.flatnonzero(hi != domain.missing)
    texts = interval_texts(*(pa.array(each, pa.string()) for each in end_texts(domain, lo[known], hi[known])))
    for at, text in zip(known.tolist(), texts.to_pylist(), strict=True):
        entries[at] = text
    return _distinct_labels(domain.name, pa.array(entries, pa.string()), of_group, pa.scalar(ROOT), unchanged=False)


def _interval(boxes: Boxes) -> Labels:
    if boxes.domain.step is not None:
        return _rounded(boxes)
    texts, ordered = value_texts(boxes.domain), bool(boxes.domain.order)

    def write(lo: Int32, hi: Int32) -> pa.Array:
        return (range_texts if ordered else interval_texts)(texts.take(pa.array(lo)), texts.take(pa.array(hi)))

    return _by_interval(boxes, lone_texts(texts) if ordered else texts, write, ROOT, plain=texts)


def _ancestor(boxes: Boxes) -> Labels:
    tree = boxes.domain.tree
    assert tree is not None
    texts = value_texts(boxes.domain)
    nodes = pa.array(tree.labels, type=pa.string())

    def write(lo: Int32, hi: Int32) -> pa.Array:
        return nodes.take(pa.array(tree.common_ancestor(lo, hi)))

    if boxes.nodes is not None:
        return _by_node(boxes, texts if boxes.domain.labelled else lone_texts(texts), plain=texts)
    if not boxes.domain.labelled:
        return _by_interval(boxes, lone_texts(texts), write, ROOT, plain=texts)
    return _by_interval(boxes, texts, write, tree.labels[0])


def _by_interval(
    boxes: Boxes,
    texts: pa.Array,
    write: Callable[[Int32, Int32], pa.Array],
    root: str,
    *,
    plain: pa.Array | None = None,
) -> Labels:
    """Label the distinct intervals of all groups, each once."""
    lo, hi, of_group = _distinct_intervals(boxes)
    entries = pc.if_else(pa.array(lo == hi), texts.take(pa.array(lo)), write(lo, hi))
    if boxes.domain.missing >= 0:
        entries = pc.if_else(pa.array((lo < hi) & (hi == boxes.domain.missing)), root, entries)
    unchanged = not boxes.wide.any() and (plain is None or texts.equals(plain))
    return _distinct_labels(boxes.domain.name, entries, of_group, pa.scalar(root), unchanged=unchanged)


def _by_node(boxes: Boxes, texts: pa.Array, *, plain: pa.Array) -> Labels:
    """Label the nodes chosen by the method; a leaf is published as its value."""
    tree, nodes = boxes.domain.tree, boxes.nodes
    assert tree is not None
    assert nodes is not None
    distinct, of_group = np.unique(nodes, return_inverse=True)
    is_leaf = tree.leaf_node[tree.first[distinct]] == distinct
    labels = pa.array(tree.labels, type=pa.string()).take(pa.array(distinct))
    entries = pc.if_else(pa.array(is_leaf), texts.take(pa.array(tree.first[distinct])), labels)
    unchanged = bool(is_leaf.all()) and texts.equals(plain)
    return _distinct_labels(boxes.domain.name, entries, of_group, pa.scalar(tree.labels[0]), unchanged=unchanged)


def _set(boxes: Boxes) -> Labels:
    if boxes.nodes is not None and not boxes.domain.labelled:
        return _ancestor(boxes)  # a method that chooses nodes recodes the whole column alike
    texts = value_texts(boxes.domain)
    alone = lone_texts(texts)
    unchanged = not boxes.wide.any() and alone.equals(texts)
    if boxes.held is None:
        group, code, loose = _held_values(boxes)
        counts = np.bincount(group, minlength=len(boxes.lo))
    else:
        (group, code, counts), loose = boxes.held, False
    # A box wider than its rows means that the method recodes the whole column alike.
    as_set = boxes.wide & ~boxes.joins_missing & (counts <= SET_LIMIT) & (not loose)
    chosen = as_set[group]
    offsets = np.concatenate([[0], np.cumsum(np.where(as_set, counts, 0))]).astype(np.int32)
    members = pa.ListArray.from_arrays(pa.array(offsets), member_texts(texts).take(pa.array(code[chosen])))
    entries = pc.if_else(pa.array(boxes.wide), ROOT, alone.take(pa.array(boxes.lo)))
    entries = pc.if_else(pa.array(as_set), set_texts(members), entries)
    every = np.arange(len(boxes.lo))
    labels = _distinct_labels(boxes.domain.name, entries, every, pa.scalar(ROOT), unchanged=unchanged)
    left_open = np.where(as_set, counts, np.where(boxes.wide, boxes.domain.size, 1)).astype(np.int64)
    return labels._replace(open_values=left_open)


def _held_values(boxes: Boxes) -> tuple[Int64, Int64, bool]:
    """Return the distinct (group, code) pairs of the rows, ascending, and whether some box is wider than its rows."""
    groups, size = len(boxes.lo), boxes.domain.size
    rows = boxes.labels >= 0
    pairs = boxes.labels[rows].astype(np.int64) * size + boxes.codes[rows]
    if groups * size <= TICK_LIMIT:
        ticked = np.zeros(groups * size, dtype=np.bool_)
        ticked[pairs] = True
        pairs = np.flatnonzero(ticked)
    else:
        pairs = np.unique(pairs)
    group, code = np.divmod(pairs, max(size, 1))
    starts = np.searchsorted(group, np.arange(groups + 1))
    held = np.flatnonzero(starts[1:] > starts[:-1])
    tight = (code[starts[held]] == boxes.lo[held]) & (code[starts[held + 1] - 1] == boxes.hi[held])
    # A group with missing values is published as `*`, whatever its box.
    tight |= boxes.joins_missing[held]
    return group, code, not tight.all()


def _bounds(boxes: Boxes) -> Labels:
    """Return two columns in the column's own type. They cannot contain `*`: null replaces it."""
    domain = boxes.domain
    pairs = boxes.lo.astype(np.int64) * domain.size + boxes.hi
    if domain.missing >= 0:
        pairs[boxes.hi == domain.missing] = -1
    distinct, index = np.unique(np.append(pairs, -1), return_inverse=True)
    lo, hi = np.divmod(distinct, max(domain.size, 1))
    known = distinct >= 0
    if domain.step is not None:
        ends = _rounded_bounds(domain, lo.astype(np.int32), hi.astype(np.int32), known)
    else:
        ends = [domain.values.take(pa.array(end, mask=~known)) for end in (lo, hi)]
    return Labels(bound_names(domain.name), tuple(ends), index[:-1].astype(np.int32), int(index[-1]), unchanged=False)


def _rounded_bounds(domain: Domain, lo: Int32, hi: Int32, known: Bool) -> list[pa.Array]:
    """Return both ends, rounded outward: whole numbers where column and step are, texts in a column of texts."""
    kind = pa.string() if is_text(domain.values.type) else pa.float64()
    if pa.types.is_integer(domain.values.type) and domain.step == int(domain.step or 0):
        kind = pa.int64()
    ends = [np.full(len(lo), None, dtype=object) for _ in range(2)]
    for end, texts in zip(ends, end_texts(domain, lo[known], hi[known]), strict=True):
        end[known] = texts
    return [pa.array(end.tolist(), pa.string()).cast(kind) for end in ends]


def _mean(boxes: Boxes) -> Labels:
    def centre(values: Float64, rows: Int32, group: Int32) -> Float64:
        # Summing distances from the smallest value keeps digits that large values would lose.
        base = values[0]
        counts = np.maximum(np.bincount(group, minlength=len(boxes.lo)), 1)
        means: Float64 = base + np.bincount(group, weights=values[rows] - base, minlength=len(boxes.lo)) / counts
        return means

    return _centre(boxes, centre)


def _median(boxes: Boxes) -> Labels:
    def centre(values: Float64, rows: Int32, group: Int32) -> Float64:
        ordered = np.sort(group.astype(np.int64) * boxes.domain.size + rows) % boxes.domain.size
        counts = np.bincount(group, minlength=len(boxes.lo))
        start = np.cumsum(counts) - counts
        low = values[ordered[np.minimum(start + np.maximum(counts - 1, 0) // 2, len(ordered) - 1)]]
        high = values[ordered[np.minimum(start + counts // 2, len(ordered) - 1)]]
        medians: Float64 = low + (high - low) / 2
        return medians

    return _centre(boxes, centre)


def _centre(boxes: Boxes, centre: Callable[[Float64, Int32, Int32], Float64]) -> Labels:
    """Return one number per group. A numeric column cannot contain `*`: null replaces it.

    All members of a group but one could work out the last from a mean with all its digits.
    """
    values = floats_of(boxes.domain)
    assert values is not None
    published = values[boxes.lo]
    if boxes.wide.any():
        rows = boxes.labels >= 0
        found = np.round(centre(values, boxes.codes[rows], boxes.labels[rows]), decimals_of(values))
        published = np.where(boxes.wide, np.clip(found, values[boxes.lo], values[boxes.hi]), published)
    unknown = boxes.joins_missing | (boxes.lo == boxes.domain.missing)
    entries = pa.array(published, type=pa.float64(), mask=unknown)
    every = np.arange(len(boxes.lo))
    none = pa.scalar(None, type=pa.float64())
    return _distinct_labels(boxes.domain.name, entries, every, none, unchanged=False)


def _distinct_labels(
    name: str, entries: pa.Array, of_group: Int64, suppressed: pa.Scalar, *, unchanged: bool
) -> Labels:
    """Merge labels with equal values, so that equal labels mean equal published cells."""
    every = pa.concat_arrays([entries, pa.array([suppressed.as_py()], type=entries.type)])
    encoded = every.dictionary_encode(null_encoding="encode")
    index = encoded.indices.to_numpy(zero_copy_only=False)
    return Labels((name,), (encoded.dictionary,), index[of_group].astype(np.int32), int(index[-1]), unchanged)


_Style: TypeAlias = Callable[[Boxes], Labels]
_STYLES: dict[Style, _Style] = {
    "interval": _interval,
    "bounds": _bounds,
    "mean": _mean,
    "median": _median,
    "ancestor": _ancestor,
    "set": _set,
}
