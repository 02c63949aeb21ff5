"""Incognito: minimal nodes against exhaustive search, the best of them, suppression, levels, what is published."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_incognito
from tables import number_domain, tables, tree_domain

import coterie
from coterie.errors import Cancelled, ConfigError
from coterie.hierarchies.levels import levels_of
from coterie.methods import Run, find_method
from coterie.methods._lattice import Lattice, minimal
from coterie.methods.incognito import IncognitoOptions, _share_of
from coterie.privacy import LDiversity
from coterie.publishing.publish import publish, read_boxes
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.table import Table
from coterie.verification.verify import verify_table

incognito = find_method("incognito")

small_tables = tables(max_rows=30, max_attributes=3)


def minimal_nodes(table, k, *, number_levels=4, suppress_at_most=0.0, run=None):
    """Return every minimal k-anonymous combination of levels: [nodes, d], heights above the values, ascending."""
    lattice = Lattice(table, number_levels=number_levels)
    allowed = _share_of(suppress_at_most, table.rows)
    found = np.argwhere(minimal(lattice.anonymous(k, allowed=allowed, run=run or Run())))
    heights = [np.asarray(levels.heights)[found[:, j]] for j, levels in enumerate(lattice.levels)]
    return np.column_stack(heights)


def share_of(allowed, table):
    """A share that allows this many rows to be suppressed; a float of allowed ÷ rows might fall just short of it."""
    return min((allowed + 0.5) / table.rows, 0.99) if allowed else 0.0


def groups_of(grouping):
    return [np.flatnonzero(grouping.labels == group).tolist() for group in range(grouping.groups)]


@given(small_tables, st.integers(1, 4), st.integers(0, 3), st.integers(0, 5))
def test_minimal_nodes_are_those_of_an_exhaustive_search(drawn, k, number_levels, allowed):
    table, plain = drawn
    k, allowed = min(k, table.rows), min(allowed, table.rows - 1)
    found = minimal_nodes(table, k, number_levels=number_levels, suppress_at_most=share_of(allowed, table))
    rows, attributes = plain.rows, plain.attributes
    expected = naive_incognito.minimal_nodes(rows, attributes, k, number_levels=number_levels, allowed=allowed)
    assert found.tolist() == [list(node) for node in expected]


@given(
    small_tables,
    st.integers(1, 4),
    st.sampled_from(["ncp", "height", "distortion", "discernability"]),
    st.sampled_from([0, 0, 1, 4]),
    st.sampled_from(["present", "hierarchy"]),
)
def test_no_choice_of_levels_has_less_loss(drawn, k, loss, allowed, leaf_counts):
    table, plain = replace(drawn[0], leaf_counts=leaf_counts), drawn[1]
    k, allowed = min(k, table.rows), min(allowed, table.rows - 1)
    options = IncognitoOptions(loss=loss, suppress_at_most=share_of(allowed, table), number_levels=2)
    found = groups_of(incognito.run(table, k, options))
    rows, attributes = plain.rows, plain.attributes
    possible = naive_incognito.anonymous_nodes(rows, attributes, k, number_levels=2, allowed=allowed)
    ways = {"measure": loss, "number_levels": 2, "leaf_counts": leaf_counts}
    losses = {node: naive_incognito.loss(rows, attributes, node, k, **ways) for node in possible}
    best = [node for node in possible if losses[node] <= min(losses.values()) + 1e-9]
    assert found in [naive_incognito.groups(rows, attributes, node, k, 2)[0] for node in best]


@given(small_tables, st.integers(1, 3), st.integers(2, 3), st.sampled_from([0, 0, 3]), st.data())
def test_the_best_of_those_that_are_l_diverse(drawn, k, l_wanted, allowed, data):
    table, plain = drawn
    k, allowed = min(k, table.rows), min(allowed, table.rows - 1)
    diseases = data.draw(st.lists(st.integers(0, 3), min_size=table.rows, max_size=table.rows))
    codes = np.asarray(diseases, dtype=np.int32).reshape(-1, 1)
    disease = tree_domain("disease", [None, 0, 0, 0, 0], [1, 2, 3, 4])
    table = Table(table.codes, table.domains, codes, (disease,))
    options = IncognitoOptions(suppress_at_most=share_of(allowed, table), number_levels=2)
    made = incognito.run(table, k, options, Run(privacy=(LDiversity(l_wanted),)))
    rows, attributes = plain.rows, plain.attributes
    losses = {}
    for node in naive_incognito.anonymous_nodes(rows, attributes, k, number_levels=2, allowed=allowed):
        groups, _ = naive_incognito.groups(rows, attributes, node, k, 2)
        if all(len({diseases[row] for row in group}) >= l_wanted for group in groups):
            losses[node] = naive_incognito.loss(rows, attributes, node, k, measure="ncp", number_levels=2)
    if losses:
        best = [node for node, loss in losses.items() if loss <= min(losses.values()) + 1e-9]
        assert groups_of(made) in [naive_incognito.groups(rows, attributes, node, k, 2)[0] for node in best]
    else:  # what no grouping can keep is refused elsewhere
        assert made.groups == 1


@given(small_tables, st.integers(1, 4), st.floats(0, 0.5))
def test_boxes_hold_their_rows_and_groups_have_k(drawn, k, share):
    table, _ = drawn
    k = min(k, table.rows)
    made = incognito.run(table, k, IncognitoOptions(suppress_at_most=share))
    assert made.groups == 0 or made.sizes.min() >= k
    assert np.count_nonzero(made.suppressed) <= share * table.rows + 1e-9
    kept = ~made.suppressed
    lo, hi, nodes = made.lo[made.labels[kept]], made.hi[made.labels[kept]], made.nodes[made.labels[kept]]
    assert ((lo <= table.codes[kept]) & (table.codes[kept] <= hi)).all()
    for j, domain in enumerate(table.domains):
        if domain.tree is None:
            assert (nodes[:, j] == -1).all()
        else:
            assert (domain.tree.first[nodes[:, j]] == lo[:, j]).all()
            assert (domain.tree.last[nodes[:, j]] == hi[:, j]).all()


@given(small_tables, st.integers(0, 5))
def test_intervals_of_a_level_lie_inside_those_above(drawn, number_levels):
    for domain in drawn[0].domains:
        levels = levels_of(domain, number_levels=number_levels)
        every = np.arange(domain.size)
        assert (levels.first[0] == every).all()
        assert (levels.last[0] == every).all()
        assert (levels.first[-1] == 0).all()
        assert (levels.last[-1] == domain.size - 1).all()
        assert (np.diff(levels.first, axis=0) <= 0).all()
        assert (np.diff(levels.last, axis=0) >= 0).all()
        for first, last in zip(levels.first, levels.last, strict=True):
            assert (first[first] == first).all()
            assert (last[first] == last).all()


def random_table(rows, seed=0):
    rng = np.random.default_rng(seed)
    domains = (
        number_domain("age", list(range(40))),
        tree_domain("place", [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8], [2, 3, 4, 6, 7, 9, 10]),
        tree_domain("sex", [None, 0, 0], [1, 2]),
        tree_domain("same", [None, 0], [1]),
        tree_domain("job", [None, 0, 1, 1, 0, 4, 4, 4], [2, 3, 5, 6, 7]),
    )
    cells = [rng.binomial(39, 0.4, rows), rng.integers(0, 7, rows), rng.integers(0, 2, rows)]
    cells += [np.zeros(rows, dtype=np.int64), rng.binomial(4, 0.3, rows)]
    return Table(np.ascontiguousarray(np.column_stack(cells).astype(np.int32)), domains)


def test_threads_change_nothing():
    table = random_table(500)
    one = minimal_nodes(table, 5)
    assert (one == minimal_nodes(table, 5, run=Run(threads=4))).all()
    made, again = incognito.run(table, 5), incognito.run(table, 5, None, Run(threads=4))
    assert (made.labels == again.labels).all()


def test_few_nodes_are_counted():
    lattice = Lattice(random_table(500), number_levels=4)
    found = lattice.anonymous(5, allowed=0, run=Run())
    assert lattice.attributes == (0, 1, 2, 4)
    assert found.shape == lattice.shape == (6, 3, 2, 1, 3)
    in_all_subsets = 7 * 4 * 3 * 4 - 1
    assert 0 < lattice.counted < in_all_subsets / 2


def test_rows_that_need_more_than_one_word():
    # 9 attributes of 300 values take 9 bits each: 81 bits.
    rng = np.random.default_rng(0)
    domains = tuple(tree_domain(f"q{j}", [None] + [0] * 300, range(1, 301)) for j in range(9))
    codes = np.repeat(rng.integers(0, 300, (40, 9)), 3, axis=0).astype(np.int32)
    codes[:, 7:] = rng.integers(0, 300, (120, 2))
    table = Table(codes, domains)
    assert minimal_nodes(table, 3).tolist() == [[0, 0, 0, 0, 0, 0, 0, 1, 1]]
    assert incognito.run(table, 3).groups == 40


def test_too_many_levels_are_refused():
    domains = tuple(tree_domain(f"q{j}", [None, 0, 0], [1, 2]) for j in range(18))
    codes = np.random.default_rng(0).integers(0, 2, (50, 18)).astype(np.int32)
    with pytest.raises(ConfigError, match="18 columns make 387,420,489 combinations"):
        incognito.run(Table(codes, domains), 2)


def test_a_stopped_run_stops():
    with pytest.raises(Cancelled):
        incognito.run(random_table(100), 5, None, Run(threads=2, cancelled=lambda: True))


def test_progress_and_notes_say_what_was_done():
    told = []
    run = Run(progress=lambda *step: told.append(step))
    incognito.run(random_table(500), 5, None, run)
    assert told[-1] == ("searching levels", 15, 15)
    assert "same 0 of 0" in run.notes[0]
    assert run.notes[0].endswith("minimal for this k.")


def release(columns, **settings):
    """Publish columns by incognito."""
    original = pa.table(columns)
    config = Config(quasi=original.column_names, method="incognito", **settings)
    encoded = encode(original, config)
    made = incognito.run(encoded.table, config.k, config.method_options())
    published = publish(original, encoded.table, made, config, rows=encoded.rows)
    assert verify_table(published.table, quasi=config.quasi, k=config.k, roots=published.roots).passed
    return published.table.to_pydict()


@given(small_tables, st.integers(1, 4), st.sampled_from([0, 3]))
def test_published_cells_are_read_back_as_the_levels_chosen(drawn, k, allowed):
    table, _ = drawn
    k = min(k, table.rows)
    made = incognito.run(table, k, IncognitoOptions(suppress_at_most=share_of(min(allowed, table.rows - 1), table)))
    names = [domain.name for domain in table.domains]
    columns = {domain.name: domain.values.take(pa.array(table.codes[:, j])) for j, domain in enumerate(table.domains)}
    config = Config(quasi=names, k=k, suppressed="remove")
    published = publish(pa.table(columns), table, made, config)
    assert verify_table(published.table, quasi=names, k=k, roots=published.roots).passed
    group = made.labels[published.kept]
    for j, domain in enumerate(table.domains):
        read = read_boxes(published.table.column(domain.name), domain)
        assert not read.unread.any()
        assert (read.lo == made.lo[group, j]).all()
        assert (read.hi == made.hi[group, j]).all()
        if domain.tree is not None:
            cells = published.table.column(domain.name).to_pylist()
            assert [cell or "" for cell in cells] == [domain.tree.labels[node] for node in made.nodes[group, j]]


def test_the_patients_of_the_paper():
    # Figures 1 and 2: birth date (2 levels), sex (2), zip code (3); Example 3.1 for the pairs.
    birth = tree_domain("birth", [None, 0, 0, 0], [1, 2, 3])
    sex = tree_domain("sex", [None, 0, 0], [1, 2])
    zips = tree_domain("zip", [None, 0, 1, 1, 0, 4, 4], [2, 5, 6])  # 53710 occurs in the hierarchy only
    rows = [[0, 0, 0], [1, 1, 0], [2, 0, 2], [0, 0, 2], [1, 1, 1], [2, 1, 1]]
    codes = np.asarray(rows, dtype=np.int32)
    assert minimal_nodes(Table(codes, (birth, sex, zips)), 2).tolist() == [[0, 1, 2], [1, 0, 2], [1, 1, 0]]
    assert minimal_nodes(Table(codes[:, 1:].copy(), (sex, zips)), 2).tolist() == [[0, 2], [1, 0]]


PLACES = {"north": {"Bergen": ["a", "b"], "Hamar": ["c"]}, "south": {"Rom": ["d", "e"], "Bari": ["f"]}}


def test_a_column_is_published_at_one_level_throughout():
    found = release({"place": ["a", "b", "c", "c", "d", "e", "f", "f"]}, hierarchies={"place": PLACES}, k=2)
    # "Hamar" and "Bari" each stand for one present value, and are still published.
    assert found["place"] == ["Bergen"] * 2 + ["Hamar"] * 2 + ["Rom"] * 2 + ["Bari"] * 2


def test_labels_count_by_their_leaves_as_they_do_in_the_measures():
    """Both "town" at its first level and "job" at its only one are 2-anonymous; the labels of towns say far less."""
    towns = {place: [f"{place}{number}" for number in range(20)] for place in "AB"} | {"C": ["C0", "C1"]}
    jobs = {"P": ["p", "q"], "Q": [f"Q{number}" for number in range(90)]}
    cells = [(town, job) for town in ("A0", "B0") for job in "pq" for _ in range(3)]
    cells += [(town, job) for town in ("C0", "C1") for job in "pq"]
    table = pa.table({"town": [town for town, _ in cells], "job": [job for _, job in cells]})
    settings = {"quasi": ["town", "job"], "hierarchies": {"town": towns, "job": jobs}, "k": 2}
    whole = coterie.anonymize(table, method="incognito", leaf_counts="hierarchy", **settings)
    assert set(whole.arrow["job"].to_pylist()) == {"P"}
    assert whole.arrow["town"].to_pylist() == table["town"].to_pylist()
    assert whole.measures["gcp"] == pytest.approx(2 / 92 / 2)
    present = coterie.anonymize(table, method="incognito", leaf_counts="present", **settings)
    assert set(present.arrow["town"].to_pylist()) == {"A", "B", "C"}  # only C0 and C1 count as changed


def test_values_stay_where_nothing_has_to_change():
    assert release({"place": ["a", "a", "c", "c"]}, hierarchies={"place": PLACES}, k=2)["place"] == ["a", "a", "c", "c"]


def test_a_flat_column_is_published_as_it_is_or_not_at_all():
    found = release({"colour": ["red", "blue", "red", "green"], "n": [1, 1, 2, 2]}, k=2)
    assert found["colour"] == ["*"] * 4
    assert found["n"] == [1, 1, 2, 2]


def test_numbers_without_a_hierarchy_become_equal_intervals():
    found = release({"n": [0, 1, 5, 7, 8, 9, 15, 16]}, k=2)
    assert found["n"] == ["[0-1]"] * 2 + ["[5-7]"] * 2 + ["[8-9]"] * 2 + ["[15-16]"] * 2
    coarse = release({"n": [0, 1, 5, 7, 8, 9, 15, 16]}, k=2, options={"number_levels": 0})
    assert coarse["n"] == ["[0-16]"] * 8


def test_missing_values_stay_apart_below_the_root():
    found = release({"place": ["a", "b", None, None]}, hierarchies={"place": PLACES}, k=2)
    assert found["place"] == ["Bergen", "Bergen", None, None]
    joined = release({"place": ["a", "b", "a", None]}, hierarchies={"place": PLACES}, k=2)
    assert joined["place"] == ["*"] * 4


def test_rows_in_small_groups_may_be_suppressed():
    columns = {"place": ["a", "a", "a", "c", "c", "c", "f", "d", "d", "d"]}
    with_all = release(columns, hierarchies={"place": PLACES}, k=2)
    assert with_all["place"] == ["north"] * 6 + ["south"] * 4
    without = release(columns, hierarchies={"place": PLACES}, k=2, options={"suppress_at_most": 0.1})
    assert without["place"] == ["a"] * 3 + ["c"] * 3 + ["d"] * 3
