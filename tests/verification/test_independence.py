"""The judge shares no function with what made the release: looked at while both are at work, and in their imports."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

import coterie
from coterie.engines.blocks import finish, verify
from coterie.engines.memory import run as memory

SOURCE = Path(coterie.__file__).parent

# What both may call, and why.
ALLOWED = (
    "errors.py",  # texts of errors
    "arrays.py",  # names of types
    "wording.py",  # counts as words
    "settings/",  # the configuration is what was asked for: one object, read by both
    "files/",  # a population is read from where it lies, a written release as any file
)

TREE = {"breath": ["flu", "cold"], "joints": {"sore": ["gout", "arthritis"], "bone": ["fracture"]}}
EVERY = [
    "l-diversity:2:ill",
    "l-diversity:1.5:ill:frequency",
    "l-diversity:1.5:ill:entropy",
    "l-diversity:2:ill:recursive:5",
    "t-closeness:0.9:ill",
    "t-closeness:0.9:ill:hierarchical",
    "t-closeness:0.9:pay:ordered",
    "alpha-k:0.9:ill:2",
    "beta-likeness:9:ill",
    "beta-likeness:20:pay:enhanced",
    "delta-disclosure:6:sex",
    "k-anonymity:4",
]


def people(rows=400):
    rng = np.random.default_rng(7)
    return pa.table(
        {
            "age": rng.integers(20, 80, rows),
            "zip": rng.choice(["02138", "02139", "02141", "02142", "10115"], rows),
            "town": rng.choice(["a", "b", "c"], rows),
            "ill": rng.choice(["flu", "cold", "gout", "arthritis", "fracture"], rows),
            "pay": rng.integers(1, 40, rows),
            "sex": rng.choice(["f", "m"], rows),
            "who": rng.integers(0, rows // 2, rows),
        }
    )


class Traced:
    """The functions of coterie that are called before the judge is at work, and those that it calls."""

    def __init__(self):
        self.maker, self.judge, self._into = set(), set(), None
        self._into = self.maker

    def __call__(self, frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            name = str(Path(frame.f_code.co_filename).relative_to(SOURCE))
            self._into.add((name, frame.f_code.co_firstlineno, frame.f_code.co_qualname))

    def judging(self, function):
        def called(*args, **more):
            before, self._into = self._into, self.judge
            try:
                return function(*args, **more)
            finally:
                # What comes after it, measures and reports, is neither.
                self._into = set() if before is self.maker else before

        return called

    def shared(self):
        both = {(name, qualname) for name, _, qualname in self.maker & self.judge}
        return sorted(each for each in both if not each[0].startswith(ALLOWED))


def traced(monkeypatch, *judging, **settings):
    trace = Traced()
    for home, name in judging:
        monkeypatch.setattr(home, name, trace.judging(getattr(home, name)))
    sys.setprofile(trace)
    try:
        made = coterie.anonymize(**settings)
    finally:
        sys.setprofile(None)
    assert made.verification.passed
    assert len(made.verification.checks) > ("privacy" in settings)
    return trace


def settings_for(tmp_path, **more):
    arrow_csv.write_csv(pa.concat_tables([people()] * 2).select(["age", "zip", "town"]), tmp_path / "population.csv")
    return {
        "quasi": ["age", "zip", "town"],
        "sensitive": ["ill", "pay", "sex"],
        "hierarchies": {"zip": coterie.prefixes(), "ill": TREE},
        "k": 4,
        "entity": "who",
        "privacy": [*EVERY, f"k-map:6:{tmp_path / 'population.csv'}"],
        **more,
    }


@pytest.mark.parametrize("method", ["mondrian", "compact"])
def test_every_model_at_once(method, tmp_path, monkeypatch):
    settings = settings_for(tmp_path, method=method)
    trace = traced(monkeypatch, (memory, "check"), data=people(), **settings)
    assert trace.shared() == []
    names = {name for name, _, _ in trace.judge}
    assert {"verification/judge.py", "verification/distances.py", "verification/population.py"} <= names
    assert {"privacy/diversity.py", "privacy/closeness.py", "table/encode.py"} <= {name for name, _, _ in trace.maker}


@pytest.mark.parametrize("model", [*EVERY, "k-map"])
def test_each_model(model, tmp_path, monkeypatch):
    settings = settings_for(tmp_path, method="mondrian", entity=None)
    settings["privacy"] = [each for each in settings["privacy"] if each == model or each.startswith(f"{model}:")]
    table = people().drop_columns(["who"])
    assert traced(monkeypatch, (memory, "check"), data=table, **settings).shared() == []


def test_rows_that_are_published_one_by_one(monkeypatch):
    """But for the codes of the original rows, which the judge is given."""
    settings = {"quasi": ["age", "zip", "town"], "keep": ["ill"], "hierarchies": {"zip": coterie.prefixes()}, "k": 4}
    table = people().select(["age", "zip", "town", "ill"])
    trace = traced(monkeypatch, (memory, "check"), data=table, method="nh", **settings)
    assert trace.shared() == []
    assert ("verification/rows.py", "read_boxes") in {(name, function) for name, _, function in trace.judge}


def test_a_release_that_is_made_in_blocks(tmp_path, monkeypatch):
    arrow_csv.write_csv(people(), tmp_path / "people.csv")
    settings = settings_for(tmp_path, method="mondrian", engine="blocks", output=tmp_path / "out.parquet")
    judging = [(finish, "people_column"), (verify, "verify_file")]
    trace = traced(monkeypatch, *judging, data=tmp_path / "people.csv", **settings)
    assert trace.shared() == []
    assert "verification/duckdb_counts.py" in {name for name, _, _ in trace.judge}


def test_nothing_of_the_maker_is_imported():
    """Also not by way of others, as long as no population is read from a file."""
    modules = [f"coterie.verification.{path.stem}" for path in (SOURCE / "verification").glob("[a-z]*.py")]
    rooms = ("table", "grouping", "methods", "publishing", "kernels", "engines", "privacy", "hierarchies", "measures")
    code = (
        f"import sys, {', '.join(modules)}\n"
        f"bad = [m for m in sys.modules if m.startswith({tuple(f'coterie.{room}' for room in rooms)!r})]\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
