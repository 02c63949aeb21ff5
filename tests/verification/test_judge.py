"""The judge on bare counts: against the definitions, exactly on thresholds, with large numbers, and in pieces."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import naive_privacy
from privacy.test_checks import KINDS, limits, nested, random_trees

from coterie.hierarchies.hierarchy import Hierarchy
from coterie.verification.cells import ROOM, ColumnCells, equal_rows
from coterie.verification.counts import CellCounts, ClassValues, SizeCounts
from coterie.verification.exact import compare, entropy_reaches, log_exceeds
from coterie.verification.judge import judge, judge_counts, rule_of
from coterie.verification.promises import promise_of
from coterie.verification.sensitive import sensitive_of

TITLED = {"title": "", "on": None, "counts": "values", "kind": "basic", "c": None, "k": None, "distance": "equal"}


def promise(model):
    """A promise from the oracle's description of it."""
    fields = TITLED | ({"kind": "distinct"} if model["model"] == "l-diversity" else {}) | model
    return promise_of(SimpleNamespace(name=model["model"], **fields), "s")


def counted(labels, values, parents, times):
    """Counts of classes and the table, each row counted so many times."""
    found, rows = np.unique(values, return_counts=True)
    hierarchies = {}
    if parents is not None:
        (root,) = [node for node, parent in parents.items() if parent is None]
        hierarchies = {"s": Hierarchy.from_mapping(nested(parents, root), root=root)}
    config = SimpleNamespace(hierarchies=hierarchies, types={"s": "number"})
    table = sensitive_of("s", CellCounts(pa.array(map(str, found)), rows * times, 0), config)
    value = table.find(pa.array(map(str, values)))
    pairs = ClassValues.count(labels, value, values=len(table.totals), rows=np.full(len(labels), times))
    return pairs, table


@st.composite
def cases(draw, model):
    """Classes, values and a model, whose limit is quite often what the first class has."""
    m = draw(st.integers(1, 6))
    classes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=40))
    _, labels = np.unique(classes, return_inverse=True)
    values = draw(st.lists(st.integers(0, m - 1), min_size=len(labels), max_size=len(labels)))
    present = sorted(set(values))
    parents = draw(random_trees(present)) if model.get("distance") == "hierarchical" else None
    model = model | limits(draw, model, labels, values, present, parents)
    group = sorted(np.unique([v for v, at in zip(values, labels, strict=True) if at == 0], return_counts=True)[1])
    if model.get("kind") == "recursive" and (tail := sum(group[::-1][model["l"] - 1 :])) and draw(st.booleans()):
        model["c"] = Fraction(int(group[-1]), int(tail))  # on the threshold, where it does not hold
    return labels, values, present, parents, model


@pytest.mark.parametrize("kind", KINDS[1:], ids=lambda model: "-".join(model.values()))
@pytest.mark.parametrize("times", [1, 10**7])
@given(data=st.data())
def test_decisions_are_those_of_the_definitions(kind, times, data):
    """Only shares matter, so that a table of many more rows, whose products need long numbers, is decided alike."""
    labels, values, present, parents, model = data.draw(cases(kind))
    expected = naive_privacy.breaks(model, labels, values, order=present, parents=parents)
    pairs, table = counted(labels, values, parents, times)
    promised = promise(model)
    kept = rule_of(promised).keeps(pairs, table, promised)
    assert set(np.flatnonzero(~kept)) == expected
    found = judge(promised, pairs, table)
    assert (found.failing, found.rows) == (len(expected), times * sum(label in expected for label in labels))


@pytest.mark.parametrize("kind", KINDS[1:], ids=lambda model: "-".join(model.values()))
@given(data=st.data())
def test_classes_may_be_judged_in_pieces(kind, data):
    labels, values, _, parents, model = data.draw(cases(kind))
    pairs, table = counted(labels, values, parents, 1)
    promised = promise(model)
    whole = judge(promised, pairs, table)
    cut = data.draw(st.integers(0, len(pairs.sizes) - 1))
    joined = None
    for part in (pairs.of < cut, pairs.of >= cut):
        if part.any():
            piece = ClassValues(pairs.of[part] - pairs.of[part][0], pairs.value[part], pairs.rows[part])
            finding = judge(promised, piece, table)
            joined = finding if joined is None else joined.joined(finding, higher=rule_of(promised).higher)
    assert joined._replace(worst=0) == whole._replace(worst=0)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=1), st.integers(1, 9))
def test_rows_and_people_are_counted_down_to_the_last(classes, k):
    counts, times = (np.array(each) for each in zip(*classes, strict=True))
    found = judge_counts(k, counts, counts, classes=times)
    few = [(count, often) for count, often in zip(counts, times, strict=True) if count < k]
    assert (found.failing, found.rows) == (sum(o for _, o in few), sum(c * o for c, o in few))
    assert found.figure == min(counts)


@pytest.mark.parametrize(
    ("counts", "limit", "kept"),
    [
        ((1, 1, 1), 3, True),
        ((4, 1, 1, 1, 1), 4, True),  # two bits without being even
        ((4, 1, 1, 1, 1), Fraction(4 * 10**12 + 1, 10**12), False),
        ((4 * 10**5 + 1, 10**5, 10**5, 10**5, 10**5), 4, False),
        ((2, 1, 1), Fraction("2.8284271247461900976"), True),  # 2√2 = 2.82842712474619009760…
        ((2, 1, 1), Fraction("2.8284271247461900977"), False),
    ],
)
def test_entropy_on_the_edge(counts, limit, kept):
    assert entropy_reaches(counts, Fraction(limit)) is kept


def test_logarithms_on_the_edge():
    e = Fraction("2.71828182845904523536028747135266249775724709369995")
    assert not log_exceeds(e, Fraction(1))
    assert log_exceeds(e + Fraction(1, 10**50), Fraction(1))
    assert not log_exceeds(Fraction(1), Fraction(0))
    assert log_exceeds(Fraction(1), Fraction(-1, 10**99))


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5), st.fractions(-9, 9), st.integers(1, 2**62))
@example([-(2**62) - 1], Fraction(1), 2**62 + 1)  # each fits 64 bits, their difference does not
@example([2**62 + 1], Fraction(-1), 2**62 + 1)
def test_comparisons_never_leave_their_type(left, limit, right):
    signs = compare(np.array(left), limit, np.full(len(left), right))
    assert signs.tolist() == [(each > limit * right) - (each < limit * right) for each in left]


def test_class_figures_leave_suppressed_rows_out():
    counts = SizeCounts(np.array([3, 5, 9]), np.array([4, 1, 2]), np.zeros(3), np.array([False, True, False]), True)
    assert counts.kept(0) == (7, 3, 9, 4 * 9 + 25 + 2 * 81)
    assert counts.kept(5) == (6, 3, 9, 4 * 9 + 2 * 81)
    assert counts.kept(4) == (7, 1, 9, 4 * 9 + 1 + 2 * 81)
    assert counts.below(4) == (12, 4)


def test_many_large_columns_do_not_overflow():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 40, size=(300, 12))
    codes[150:] = codes[:150]
    values = pa.nulls(2**21)
    assert len(values) ** 12 > ROOM
    labels, groups = equal_rows([ColumnCells(values, codes[:, column] * 50_000) for column in range(12)])
    _, expected = np.unique(codes, axis=0, return_inverse=True)
    assert groups == len(np.unique(expected))
    assert len({*zip(labels.tolist(), expected.ravel().tolist(), strict=True)}) == groups
