"""Names that a terminal obeys, or that turn the text around them, are shown escaped at every face."""

from __future__ import annotations

import re
import warnings

import pyarrow as pa
import pytest
from pyarrow import parquet

import coterie
from coterie.cli.app import main
from coterie.cli.show import ProgressBar
from coterie.errors import ConfigError, CoterieWarning, DataError
from coterie.wording import visible

NAME = "\x1b[31mred\u202e"
SHOWN = r"\x1b[31mred\u202e"
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")
ROLES = ["--quasi", f"{NAME},age", "--sensitive", f"ill {NAME}", "-k", "3"]
COMMANDS = {
    "init": (["init", "people.parquet"], 0),
    "anonymize": (["anonymize", "people.parquet", *ROLES, "-o", "new.parquet", "--report", "new.html"], 0),
    "blocks": (["anonymize", "people.parquet", *ROLES, "-o", "b.parquet", "--engine", "blocks"], 0),
    "json": (["anonymize", "people.parquet", *ROLES, "-o", "json.parquet", "--json"], 0),
    "verify": (["verify", "out.parquet", *ROLES, "--privacy", "l-diversity:2"], 0),
    "verify fails": (["verify", "people.parquet", *ROLES], 1),
    "measure": (
        [
            "measure",
            "people.parquet",
            "out.parquet",
            *ROLES,
            "--queries",
            "5",
            "--distributions",
            "--target",
            f"ill {NAME}",
        ],
        0,
    ),
    "explain": (["explain", "people.parquet", *ROLES, "--row", "3", "--what-if", "--show-values"], 0),
    "compare": (["compare", "people.parquet", *ROLES[:-1], "2", "--methods", "mondrian", "--plot", "plot.svg"], 0),
    "risk": (["risk", "people.parquet", "out.parquet", "--quasi", f"{NAME},age"], 0),
    "attack": (["attack", "out.parquet", "--known", "people.parquet", *ROLES, "--show"], 0),
    "hierarchy check": (["hierarchy", "check", "tree.csv", "--data", "people.parquet", "--column", NAME], 3),
    "hierarchy show": (["hierarchy", "show", "tree.csv"], 0),
    "hierarchy build": (
        ["hierarchy", "build", "people.parquet", "--column", NAME, "--intervals", "5", "-o", "built.csv"],
        0,
    ),
    "no such column": (["anonymize", "people.parquet", "--quasi", f"no {NAME}", "-o", "x.csv"], 2),
    "infeasible": (["anonymize", "people.parquet", *ROLES[:-1], "300", "-o", "x.csv"], 4),
    "no such file": (["anonymize", f"{NAME}.csv", *ROLES, "-o", "x.csv"], 3),
    "usage": (["anonymize", f"--{NAME}"], 2),
    "no role": (["anonymize", "people.parquet", "--quasi", "age", "-o", "x.csv"], 2),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hidden")
    ill = ["a" if i % 2 else NAME for i in range(60)]
    people = {NAME: [20 + i % 7 for i in range(60)], "age": [30 + i % 11 for i in range(60)], f"ill {NAME}": ill}
    parquet.write_table(pa.table(people), folder / "people.parquet")  # text with such signs is no CSV
    (folder / "tree.csv").write_text(f"1;{NAME};*\n2;{NAME};*\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["anonymize", "people.parquet", *ROLES, "-o", "out.parquet", "--quiet"]) == 0
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_prints_or_writes_a_hidden_sign(folder, monkeypatch, capsys, name):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("coterie.cli.show.PATIENCE", 0.0)  # progress is shown at once
    before = set(folder.rglob("*"))
    words, code = COMMANDS[name]
    assert main(words) == code
    printed = capsys.readouterr()
    said = printed.out + printed.err
    assert HIDDEN.search(said) is None, visible(said)
    if name not in ("compare", "usage", "infeasible"):
        assert SHOWN in said.replace("\\\\", "\\").replace("\\u001b", r"\x1b"), said
    for path in set(folder.rglob("*")) - before:
        if path.suffix in (".html", ".svg", ".toml", ".jsonl"):
            assert HIDDEN.search(path.read_text()) is None, path


def test_progress_shows_names_escaped(capsys, monkeypatch):
    monkeypatch.setattr("coterie.cli.show.PATIENCE", 3600.0)
    with ProgressBar() as progress:
        monkeypatch.setattr("coterie.cli.show.PATIENCE", -1.0)
        progress(f"encode: {NAME}", 1, 2)
    said = capsys.readouterr().err
    assert SHOWN in said
    assert HIDDEN.search(said) is None


def test_results_and_errors_show_names_escaped_and_data_keep_them(folder):
    release = coterie.anonymize(folder / "people.parquet", quasi=[NAME, "age"], sensitive=[f"ill {NAME}"], k=3)
    faces = [release.verification, release.verdict]
    texts = [str(each) for each in faces] + [each._repr_html_() for each in (*faces, release, release.measures)]
    assert all(HIDDEN.search(text) is None for text in texts)
    assert SHOWN in texts[0]
    assert NAME in release.arrow.column_names
    with pytest.raises(ConfigError) as refused:
        coterie.anonymize(folder / "people.parquet", quasi=[f"{NAME}?"], k=3)
    assert HIDDEN.search(str(refused.value)) is None
    assert str(DataError(NAME, hint=NAME)) == f"{SHOWN}. {SHOWN}"
    with pytest.warns(CoterieWarning) as told:
        warnings.warn(NAME, CoterieWarning, stacklevel=1)
    assert str(told[0].message) == SHOWN


def test_what_people_write_stays_as_it_is():
    assert visible("a\tb\nעברית العربية 👩‍👩‍👧 ‎") == "a\tb\nעברית العربية 👩‍👩‍👧 ‎"
    assert visible("\x00\x07\x9b\u2066") == r"\x00\x07\x9b\u2066"
