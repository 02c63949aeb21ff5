"""Methods side by side: the figures are those of releases, runs are kept, and what refuses is a row."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
import coterie.comparison.runs
import coterie.engines.memory.source
import coterie.evaluation.before_after
import coterie.table.encode
from coterie.api.compare import method_names
from coterie.comparison.finished import read_kept
from coterie.comparison.runs import duration
from coterie.errors import Cancelled, ConfigError, DataError
from coterie.files.tables import table_hash
from coterie.methods import all_methods

rng = np.random.default_rng(3)
PEOPLE = pa.table(
    {
        "age": rng.integers(20, 60, 80),
        "zip": rng.choice(["02138", "02139", "02141"], 80),
        "ill": rng.choice(["flu", "pox", "gout"], 80),
    }
)
SETTINGS = {"quasi": ["age", "zip"], "sensitive": ["ill"], "hierarchies": {"zip": coterie.prefixes()}, "queries": 40}
FEW = {"methods": ["mondrian", "kmembers"], "k": [2, 5]}


def same(one, two):
    """Rows without their times."""
    return [{name: value for name, value in vars(row).items() if "seconds" not in name} for row in one.rows] == [
        {name: value for name, value in vars(row).items() if "seconds" not in name} for row in two.rows
    ]


def test_figures_are_those_of_the_releases():
    found = coterie.compare(PEOPLE, **SETTINGS, **FEW)
    assert [(row.method, row.k) for row in found.rows] == [
        ("mondrian", 2),
        ("kmembers", 2),
        ("mondrian", 5),
        ("kmembers", 5),
    ]
    settings = {name: value for name, value in SETTINGS.items() if name != "queries"}
    for row in found.rows:
        release = coterie.anonymize(PEOPLE, **settings, method=row.method, k=row.k)
        for name in ("gcp", "groups", "smallest", "largest", "suppressed", "bound", "loss_over_bound"):
            assert getattr(row, name) == pytest.approx(release.measures[name]), name
        risk = release.risk.after.prosecutor
        assert (row.risk_highest, row.risk_average, row.risk_above) == (risk.highest, risk.average, risk.share_above)
        measured = coterie.measure(PEOPLE, release.frame, config=release.config, queries=40)
        assert row.query_error == pytest.approx(measured["query_error_median"])
        assert row.query_error_p95 == pytest.approx(measured["query_error_p95"])
        assert row.status == "done"
        assert 0 < row.seconds < row.seconds_in_all
    assert found.finished
    assert [row.k for row in found.best()] == [2, 5]
    assert all(row.gcp == min(other.gcp for other in found.rows if other.k == row.k) for row in found.best())


def test_every_method_can_be_compared():
    found = coterie.compare(PEOPLE, **SETTINGS, k=3)
    assert [row.method for row in found.rows] == [name for name in all_methods() if name != "auto"]
    assert all((row.gcp is None) == bool(row.reason) for row in found.rows)
    done = {row.method for row in found.rows if row.status == "done"}
    assert done >= {"bottom-up", "cb", "compact", "gccg", "kaca", "kmembers", "mondrian", "nh", "top-down"}
    per_row = next(row for row in found.rows if row.method == "nh")
    assert per_row.bound is per_row.loss_over_bound is None
    assert per_row.risk_highest == pytest.approx(1 / 3)


def test_what_refuses_is_a_row_with_its_reason():
    found = coterie.compare(PEOPLE, **SETTINGS, methods="mondrian,nh", k=[3, 500], privacy=["none", "l-diversity:2"])
    told = {(row.method, row.k, row.privacy): row for row in found.rows}
    assert len(told) == 8
    assert told["mondrian", 3, "distinct 2-diversity"].smallest >= 3
    assert told["nh", 3, ""].status == "done"
    assert "one by one" in told["nh", 3, "distinct 2-diversity"].reason
    assert "Groups of 500 rows cannot be made" in told["mondrian", 500, ""].reason
    assert told["mondrian", 500, ""].gcp is None
    assert "4 refused" not in repr(found)
    assert "5 refused" in repr(found)


def test_too_little_memory_is_a_reason_too_and_tried_again(tmp_path, monkeypatch):
    def hungry(*_, **__):
        raise MemoryError

    settings = {**SETTINGS, "methods": "mondrian", "results": tmp_path / "runs.jsonl"}
    with monkeypatch.context() as patched:
        patched.setattr(coterie.comparison.runs, "make_release", hungry)
        row = coterie.compare(PEOPLE, **settings, k=3).rows[0]
    assert (row.status, row.gcp) == ("refused", None)
    assert "memory" in row.reason
    assert coterie.compare(PEOPLE, **settings, k=[3, 500]).rows[0].status == "done"
    # Another reason holds whenever one asks.
    assert coterie.compare(PEOPLE, **settings, k=500).resumed == 1


def test_the_table_is_encoded_once(monkeypatch):
    calls = []
    encode = coterie.table.encode.encode

    def counted(*arguments):
        calls.append(arguments)
        return encode(*arguments)

    for module in (coterie.engines.memory.source, coterie.evaluation.before_after):
        monkeypatch.setattr(module, "encode", counted)
    coterie.compare(PEOPLE, **SETTINGS, **FEW, privacy=["none", "l-diversity:2"])
    assert len(calls) == 1


def test_promises_that_are_kept_together():
    both = coterie.compare(
        PEOPLE, **SETTINGS, methods="mondrian", k=3, privacy=["l-diversity:2+t-closeness:0.4", "none"]
    )
    listed = coterie.compare(
        PEOPLE,
        **SETTINGS,
        methods="mondrian",
        k=3,
        privacy=[[coterie.LDiversity(2), coterie.TCloseness("0.4")], []],
    )
    assert same(both, listed)
    assert [row.privacy.count("+") for row in both.rows] == [1, 0]
    usual = coterie.compare(PEOPLE, config={"privacy": ["l-diversity:2"]}, **SETTINGS, methods="mondrian", k=3)
    assert [row.privacy for row in usual.rows] == ["distinct 2-diversity"]


def test_a_method_may_be_compared_with_itself():
    found = coterie.compare(PEOPLE, **SETTINGS, methods=["compact:effort=fast", "compact", "kmembers"], k=3)
    assert [row.method for row in found.rows] == ["compact:effort=fast", "compact", "kmembers"]
    # The options of the configuration are those of its method.
    mine = coterie.compare(
        PEOPLE, **SETTINGS, methods="kmembers", k=3, method="kmembers", options={"seeding": "random"}
    )
    own = coterie.compare(PEOPLE, **SETTINGS, methods="kmembers:seeding=random", k=3)
    assert mine.rows[0].gcp == own.rows[0].gcp
    # The same run twice is one run.
    assert len(coterie.compare(PEOPLE, **SETTINGS, methods="mondrian,mondrian", k=[3, 3]).rows) == 1


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"methods": "mondriaan"}, "no method 'mondriaan'"),
        ({"methods": "compact:fast"}, "NAME=VALUE"),
        ({"methods": "compact:effort=none"}, "effort"),
        ({"methods": []}, "at least one"),
        ({"k": []}, "at least one"),
        ({"k": 0}, "k"),
        ({"queries": -1}, "0 or more"),
        ({"privacy": "l-diversity:2:age"}, "not in sensitive"),
        ({"privacy": "l-diversty:2"}, "did you mean l-diversity"),
        ({"quasi": ["agee"]}, "agee"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else "",
)
def test_what_is_wrong_is_said_before_any_run(wrong, told, monkeypatch):
    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr(coterie.comparison.runs, "make_release", never)
    with pytest.raises(ConfigError, match=told):
        coterie.compare(PEOPLE, **{**SETTINGS, **wrong})


def forbid_runs(monkeypatch):
    def never(*_, **__):
        raise AssertionError("a finished run was made again")

    monkeypatch.setattr(coterie.comparison.runs, "make_release", never)


def test_finished_runs_are_kept(tmp_path, monkeypatch):
    kept = tmp_path / "runs.jsonl"
    first = coterie.compare(PEOPLE, **SETTINGS, **FEW, results=kept)
    assert (first.resumed, len(read_kept(kept))) == (0, 4)
    more = coterie.compare(PEOPLE, **SETTINGS, methods=["mondrian", "kmembers", "cb"], k=[2, 5], results=kept)
    assert (more.resumed, len(more.rows), len(read_kept(kept))) == (4, 6, 6)
    with monkeypatch.context() as patched:
        forbid_runs(patched)
        again = coterie.compare(PEOPLE, **SETTINGS, **FEW, results=kept, threads=1, author="somebody else")
        assert again.rows == first.rows
        assert again.resumed == 4
        with pytest.raises(AssertionError, match="made again"):
            coterie.compare(PEOPLE, **SETTINGS, **FEW, results=kept, fresh=True)
    assert same(coterie.compare(PEOPLE, **SETTINGS, **FEW, results=kept, fresh=True), first)


@pytest.mark.parametrize(
    "change",
    [{"seed": 1}, {"weights": {"age": 2}}, {"queries": 41}, {"data": "other"}, {"hierarchies": {}}, {"sensitive": []}],
    ids=str,
)
def test_what_changes_figures_makes_new_runs(tmp_path, change):
    kept = tmp_path / "runs.jsonl"
    settings = {"data": PEOPLE, **SETTINGS, "methods": "mondrian", "k": 3, "results": kept}
    coterie.compare(**settings)
    if "data" in change:
        ages = PEOPLE["age"].to_numpy().copy()
        ages[11] += 1
        change = {"data": PEOPLE.set_column(0, "age", pa.array(ages))}
    assert coterie.compare(**{**settings, **change}).resumed == 0
    assert len(read_kept(kept)) == 2


def test_runs_that_had_other_figures_are_made_again(tmp_path, monkeypatch):
    settings = {**SETTINGS, "methods": "mondrian", "k": 3, "results": tmp_path / "runs.jsonl"}
    with monkeypatch.context() as older:
        older.setattr(coterie.comparison.finished, "_FIELDS", coterie.comparison.finished._FIELDS - {"cpu_seconds"})
        coterie.compare(PEOPLE, **settings)
    again = coterie.compare(PEOPLE, **settings)
    assert again.resumed == 0
    assert again.rows[0].cpu_seconds is not None


def test_another_population_makes_new_runs(tmp_path):
    population = tmp_path / "all.csv"
    pa.csv.write_csv(pa.concat_tables([PEOPLE, PEOPLE]), population)
    settings = {**SETTINGS, "methods": "mondrian", "k": 3, "results": tmp_path / "runs.jsonl"}
    model = f"k-map:4:{population}"
    assert coterie.compare(PEOPLE, **settings, privacy=model).resumed == 0
    assert coterie.compare(PEOPLE, **settings, privacy=model).resumed == 1
    pa.csv.write_csv(pa.concat_tables([PEOPLE, PEOPLE, PEOPLE]), population)
    assert coterie.compare(PEOPLE, **settings, privacy=model).resumed == 0


def test_a_file_that_holds_no_runs_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("remember the milk\n")
    with pytest.raises(DataError, match="is not a results file"):
        coterie.compare(PEOPLE, **SETTINGS, **FEW, results=path)
    assert path.read_text() == "remember the milk\n"


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 79))
def test_the_hash_of_a_table_is_of_its_cells(cuts, row):
    pieces, start = [], 0
    for size in cuts:
        pieces.append(PEOPLE.slice(start, size))
        start += size
    cut = pa.concat_tables([*pieces, PEOPLE.slice(start)])
    assert table_hash(cut) == table_hash(PEOPLE)
    other = PEOPLE["ill"].to_pylist()
    other[row] = "cold"
    assert table_hash(PEOPLE.set_column(2, "ill", pa.array(other))) != table_hash(PEOPLE)
    assert table_hash(PEOPLE.rename_columns(["age", "zip", "disease"])) != table_hash(PEOPLE)


def interrupt_after(monkeypatch, runs, error=KeyboardInterrupt):
    make, made = coterie.comparison.runs.make_release, []

    def stopped(*arguments, **named):
        if len(made) == runs:
            raise error
        made.append(1)
        return make(*arguments, **named)

    monkeypatch.setattr(coterie.comparison.runs, "make_release", stopped)


def test_stopping_keeps_what_is_finished(tmp_path, monkeypatch):
    kept = tmp_path / "runs.jsonl"
    with monkeypatch.context() as patched:
        interrupt_after(patched, 2)
        with pytest.raises(Cancelled, match=r"2 of 4 runs are finished and kept in .*runs\.jsonl") as stopped:
            coterie.compare(PEOPLE, **SETTINGS, **FEW, results=kept)
    assert len(stopped.value.finished.rows) == 2
    assert not stopped.value.finished.finished
    found = coterie.compare(PEOPLE, **SETTINGS, **FEW, results=kept)
    assert (found.resumed, len(found.rows)) == (2, 4)
    asked = []

    def enough():
        asked.append(1)
        return True

    with pytest.raises(Cancelled, match="0 of 4 runs are finished"):
        coterie.compare(PEOPLE, **SETTINGS, **FEW, cancelled=enough)


def test_progress_says_what_runs_and_how_long_it_may_take():
    told = []
    coterie.compare(PEOPLE, **SETTINGS, **FEW, progress=lambda *step: told.append(step))
    assert [step[1:] for step in told] == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert told[0][0] == "compare: mondrian, k = 2"
    assert told[3][0].startswith("compare: kmembers, k = 5, about ")
    assert told[3][0].endswith(" left")
    assert [duration(each) for each in (0.1, 45, 600, 9000)] == ["1 s", "45 s", "10 min", "2.5 h"]


def test_a_comparison_is_written_and_drawn(tmp_path):
    found = coterie.compare(PEOPLE, **SETTINGS, methods="mondrian,nh", k=[2, 5], privacy=["none", "l-diversity:2"])
    assert isinstance(found.frame, pa.Table)
    framed = coterie.compare(PEOPLE.to_pandas(), **SETTINGS, methods="mondrian", k=2)
    assert isinstance(framed.frame, pd.DataFrame)
    assert framed.frame.loc[0, "gcp"] == found.rows[0].gcp
    found.write(tmp_path / "table.csv")
    found.write(tmp_path / "table.parquet")
    found.write(tmp_path / "table.json")
    assert pa.csv.read_csv(tmp_path / "table.csv").num_rows == 8
    assert pa.parquet.read_table(tmp_path / "table.parquet").equals(found.arrow)
    values = json.loads((tmp_path / "table.json").read_text())
    assert values["rows"][0]["gcp"] == found.rows[0].gcp
    with pytest.raises(ConfigError, match="exists already"):
        found.write(tmp_path / "table.json")
    written = found.plot(tmp_path / "plot.svg")
    assert [path.name for path in written] == [
        "plot-risk.svg",
        "plot-loss.svg",
        "plot-risk-2.svg",
        "plot-loss-2.svg",
    ]
    assert "mondrian" in written[0].read_text()
    assert "2-diversity" in written[2].read_text()
    (risk, _) = coterie.compare(PEOPLE, **SETTINGS, methods="mondrian", k=2).plot(tmp_path / "plot.png")
    assert risk.read_bytes().startswith(b"\x89PNG")
    nothing = coterie.compare(PEOPLE, **SETTINGS, methods="mondrian", k=500)
    with pytest.raises(ConfigError, match="nothing to draw"):
        nothing.plot(tmp_path / "none.svg")


def test_without_queries_there_is_no_error_of_them():
    row = coterie.compare(PEOPLE, **{**SETTINGS, "queries": 0}, methods="mondrian", k=3).rows[0]
    assert row.query_error is row.query_error_p95 is None
    assert row.gcp is not None


def test_rows_that_were_left_out_count_as_lost():
    table = PEOPLE.set_column(0, "age", pa.array([None if i % 9 == 0 else i for i in range(80)]))
    row = coterie.compare(table, **SETTINGS, methods="mondrian", k=3, missing="suppress").rows[0]
    assert row.suppressed == 9
    assert row.query_error is not None


def test_all_means_every_method_but_auto():
    assert list(method_names("all")) == [name for name in all_methods() if name != "auto"]
    assert list(method_names(" mondrian , auto,")) == ["mondrian", "auto"]
