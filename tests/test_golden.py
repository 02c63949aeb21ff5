"""Worked examples of the papers, one readable file each, under golden/.

table = '''csv'''            the original
seeds = [0, 1, 2]            the outcome must be the same for each of these (otherwise: the configuration's seed)
[hierarchies]  [config]      as in a configuration file

[given]                      instead of a method:
groups = [[0, 1], [2, 3]]      these groups are published and measured, or
published = '''csv'''          this table is measured as it stands

[expected]                   any of
groups = [[0, 1], [2, 3]]      row numbers from 0; groups in the order of their first rows
suppressed = [4]               rows without a group
sizes = [2, 3]                 least and greatest number of rows that a group may have
values = '''csv'''             the published columns that are named in it
scores = ["1.8", "0.9"]        gccg's score of each row, in the table's order, to the digits that are printed
[expected.measures]          numbers to the last bit but a few; text such as "0.0876" to the digits that are printed
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import coterie
from coterie.files import tables as io
from coterie.measures.measures import Measures, measure_grouping
from coterie.methods.gccg import grades
from coterie.publishing.publish import publish
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.grouping import Grouping
from coterie.verification.verify import Verification, verify_table

CASES = sorted(Path(__file__).parent.glob("golden/*.toml"))


class Outcome(NamedTuple):
    measures: Measures
    published: pa.Table
    labels: np.ndarray | None = None
    verification: Verification | None = None
    """what the release was verified by, where it is one; otherwise the table's own k counts"""


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_golden(path, tmp_path):
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    assert case.keys() <= {"table", "seeds", "hierarchies", "config", "given", "expected"}
    assert case["expected"].keys() <= {"groups", "suppressed", "sizes", "values", "scores", "measures"}
    assert case["expected"], "a golden case must expect something"
    source = csv_file(tmp_path / "table.csv", case["table"])
    config = Config.from_dict({**case["config"], "hierarchies": case.get("hierarchies", {})})
    if "groups" in case.get("given", {}):
        outcomes = [of_groups(source, config, case["given"]["groups"])]
    elif "given" in case:
        outcomes = [of_published(source, config, csv_file(tmp_path / "out.csv", case["given"]["published"]))]
    else:
        outcomes = [of_method(source, config.replace(seed=seed)) for seed in case.get("seeds", [config.seed])]
    if "scores" in case["expected"]:
        check_scores(source, config, case["expected"]["scores"])
    for outcome in outcomes:
        check(outcome, case["expected"], k=config.k, quasi=config.quasi)


def csv_file(path, text):
    path.write_text(text.strip() + "\n", encoding="utf-8")
    return path


def of_method(source, config):
    release = coterie.anonymize(source, config=config)
    return Outcome(release.measures, release.arrow, release.groups, release.verification)


def of_groups(source, config, groups):
    columns = io.read(source).table
    table = encode(columns, config).table
    labels = np.full(table.rows, -1, dtype=np.int32)
    for number, rows in enumerate(groups):
        labels[rows] = number
    grouping = Grouping.of(table.codes, labels)
    measures = measure_grouping(table, grouping, config)
    return Outcome(measures, publish(columns, table, grouping, config).table, grouping.labels)


def of_published(source, config, published):
    return Outcome(coterie.measure(source, published, config=config), io.read(published).table)


def check_scores(source, config, expected):
    table = encode(io.read(source).table, config).table
    found = grades(table) / table.rows
    assert [f"{score:.{len(text.partition('.')[2])}f}" for score, text in zip(found, expected, strict=True)] == expected


def check(outcome, expected, *, k, quasi):
    verification = outcome.verification
    if verification is None or verification.wanted is not None:  # rows published one by one have their own promise
        verification = verify_table(outcome.published, quasi=quasi, k=k)
    assert verification.passed
    if "groups" in expected:
        labels = outcome.labels if outcome.labels is not None else verification.class_of_row
        found = [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]
        assert sorted(found) == expected["groups"]
    if "suppressed" in expected:
        assert np.flatnonzero(outcome.labels < 0).tolist() == expected["suppressed"]
    if "sizes" in expected:
        least, greatest = expected["sizes"]
        assert least <= outcome.measures["smallest"] <= outcome.measures["largest"] <= greatest
    if "values" in expected:
        header, *rows = (line.split(",") for line in expected["values"].strip().splitlines())
        columns = [outcome.published.column(name).cast(pa.string()).fill_null("").to_pylist() for name in header]
        assert [list(cells) for cells in zip(*columns, strict=True)] == rows
    for name, value in expected.get("measures", {}).items():
        if isinstance(value, str):
            digits = len(value.partition(".")[2])
            assert f"{outcome.measures[name]:.{digits}f}" == value, name
        else:
            assert outcome.measures[name] == pytest.approx(value, rel=1e-12), name


def test_there_are_cases():
    assert len(CASES) >= 10
