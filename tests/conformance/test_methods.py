"""What every registered method promises. A new method is tested here on the day it appears."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_cases import METHODS, MOST_ROWS, NAMES, cut, group, mixed_table, option_sets
from tables import number_domain, tables, tree_domain

import coterie
from coterie.errors import InfeasibleError
from coterie.measures.measures import measure_boxes
from coterie.table.table import Table

# Few examples each: the twins of the methods try many.
few = settings(max_examples=15)
every_method = pytest.mark.parametrize("name", NAMES)


def check(name, table, k, grouping):
    """A grouping is whole, keeps k, and holds every row; nothing is suppressed unless that was asked for."""
    assert grouping.labels.dtype == grouping.lo.dtype == grouping.hi.dtype == np.int32
    assert len(grouping.labels) == table.rows
    assert np.unique(grouping.labels).tolist() == list(range(grouping.groups))
    assert grouping.lo.shape == grouping.hi.shape == (grouping.groups, table.attributes)
    assert grouping.sizes.min() >= k
    for shown in (grouping, getattr(grouping, "published", grouping)):
        assert (shown.lo <= shown.hi).all()
        assert (shown.lo[shown.labels] <= table.codes).all()
        assert (table.codes <= shown.hi[shown.labels]).all()
    assert (grouping.lo >= 0).all()
    assert (grouping.hi < [domain.size for domain in table.domains]).all()
    if METHODS[name].recoding == "global":
        check_global(table, grouping)


def check_global(table, grouping):
    """A value is published as one and the same wherever it stands."""
    lo, hi = grouping.lo[grouping.labels], grouping.hi[grouping.labels]
    for j in range(table.attributes):
        shown = set(zip(table.codes[:, j].tolist(), lo[:, j].tolist(), hi[:, j].tolist(), strict=True))
        assert len(shown) == len(np.unique(table.codes[:, j]))


def loss(table, grouping):
    shown = getattr(grouping, "published", grouping)
    return measure_boxes(table.domains, lo=shown.lo, hi=shown.hi, labels=shown.labels, k=1)["gcp"]


@every_method
@few
@given(tables(max_rows=30), st.integers(1, 5), st.integers(0, 2))
def test_every_row_is_in_a_group_of_k_and_inside_its_box(name, drawn, k, seed):
    table = cut(name, drawn[0])
    k = min(k, table.rows)
    before = table.codes.copy()
    grouping = group(name, table, k, seed=seed)
    check(name, table, k, grouping)
    assert (table.codes == before).all()


@every_method
def test_the_same_seed_gives_the_same_groups_on_any_number_of_threads(name):
    table = cut(name, mixed_table(300))
    k = 5 if table.rows == 300 else 2
    first = group(name, table, k, seed=7)
    check(name, table, k, first)
    for threads in (1, 8):
        again = group(name, cut(name, mixed_table(300)), k, seed=7, threads=threads)
        assert (again.labels == first.labels).all()
        assert (again.lo == first.lo).all()
        assert (again.hi == first.hi).all()


@every_method
def test_every_choice_of_options(name):
    table = cut(name, mixed_table(80, seed=1))
    for options in option_sets(name):
        check(name, table, 4, group(name, table, 4, options))


@every_method
def test_more_rows_than_there_are_cannot_be_had(name):
    with pytest.raises(InfeasibleError) as caught:
        coterie.anonymize(pa.table({"x": [1, 2, 3]}), quasi=["x"], k=4, method=name)
    assert (caught.value.wanted, caught.value.possible) == (4, 3)


@every_method
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_as_many_rows_as_k_are_one_group(name, rows):
    grouping = group(name, mixed_table(rows), rows)
    assert grouping.labels.tolist() == [0] * rows


@every_method
@pytest.mark.parametrize(("rows", "k"), [(5, 1), (12, 3), (50, 7)])
def test_equal_rows_lose_nothing(name, rows, k):
    mixed = mixed_table(50)
    table = Table(np.repeat(mixed.codes[:1], rows, axis=0), mixed.domains)
    grouping = group(name, table, k)
    check(name, table, k, grouping)
    assert loss(table, grouping) == 0


@every_method
def test_groups_of_one_row_need_nothing_generalised(name):
    table = cut(name, mixed_table(40))
    grouping = group(name, table, 1)
    check(name, table, 1, grouping)
    assert loss(table, grouping) == 0


@every_method
def test_one_column_and_columns_of_one_value(name):
    number, tree = number_domain("x", [1, 2, 5, 9]), tree_domain("y", [None, 0, 1, 1, 0], [2, 3, 4])
    one_number, one_label = number_domain("x", [3]), tree_domain("y", [None, 0, 1], [2])
    all_missing = number_domain("z", [], missing=True)
    codes = np.random.default_rng(0).integers(0, 3, (MOST_ROWS.get(name, 30), 1)).astype(np.int32)
    for domain in (number, tree):
        table = Table(codes, (domain,))
        check(name, table, 4, group(name, table, 4))
    same = np.zeros_like(codes)
    for domain in (one_number, one_label, all_missing):
        alone, beside = Table(same, (domain,)), Table(np.hstack([same, codes]), (domain, number))
        assert loss(alone, group(name, alone, 4)) == 0
        check(name, beside, 4, group(name, beside, 4))


@every_method
def test_sixty_thousand_categories(name):
    """Far more values than a square table holds, flat and in a tree; rows have a few hundred of them."""
    size, rows = 60_000, 400
    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.integers(0, size, rows), rng.integers(0, size, rows)]).astype(np.int32)
    parents, leaves = [None], []
    for branch in range(300):
        parents += [0] + [1 + branch * 201] * 200
        leaves += range(2 + branch * 201, 202 + branch * 201)
    domains = tree_domain("flat", [None] + [0] * size, range(1, size + 1)), tree_domain("tree", parents, leaves)
    table = cut(name, Table(np.ascontiguousarray(codes), domains))
    check(name, table, 4, group(name, table, 4))


@every_method
def test_a_missing_value_joins_others_only_under_the_root(name):
    """An interval that holds the missing code and another costs the whole domain, so that it is published as root."""
    table = cut(name, mixed_table(200, seed=4))
    grouping = group(name, table, 4)
    shown = getattr(grouping, "published", grouping)
    lost = measure_boxes(table.domains, lo=shown.lo, hi=shown.hi, labels=shown.labels, k=4).attributes
    for j, domain in enumerate(table.domains):
        if domain.missing >= 0:
            joined = (shown.hi[:, j] == domain.missing) & (shown.lo[:, j] < domain.missing)
            share = joined[shown.labels].mean()
            assert lost[domain.name].ncp >= share - 1e-12


def test_without_compiling_the_groups_are_the_same():
    code = """
import json, warnings
warnings.simplefilter("ignore")  # NumPy warns when unsigned numbers wrap round, as hashes do
from method_cases import NAMES, cut, group, mixed_table
table = mixed_table(60, seed=2)
print(json.dumps({name: group(name, cut(name, table), 4, seed=1).labels.tolist() for name in NAMES}))
"""
    helpers = Path(__file__).parents[1] / "helpers"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(helpers)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    table = mixed_table(60, seed=2)
    assert plain == {name: group(name, cut(name, table), 4, seed=1).labels.tolist() for name in NAMES}


def test_methods_say_what_they_are():
    for name, method in METHODS.items():
        assert method.name == name
        assert method.summary.endswith(".")
        assert method.paper
        for field, about in method.options.model_fields.items():
            assert about.description, f"option {field} of {name} has no description"


@every_method
def test_a_method_from_a_paper_has_the_papers_options_as_a_preset(name):
    method = METHODS[name]
    if method.paper == "ours":
        assert method.published is None
        return
    options = method.options(preset="paper")
    assert {key: getattr(options, key) for key in method.published} == dict(method.published)
    config = coterie.Config(quasi=["x"], method=name, options={"preset": "paper"})
    assert config.method_options() == options
    assert config.options == {"preset": "paper", **method.published}
    for key in method.published:  # what is given as well goes first
        default = method.options.model_fields[key].get_default()
        assert getattr(method.options(**{"preset": "paper", key: default}), key) == default
