"""What new users ran into: refused or warned of in Python, on the command line, in the report and on the page.

Every case goes through all faces, and what they say is compared word by word.
"""

from __future__ import annotations

import html
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from web_cases import Place, send, wait

import coterie
from coterie.cli.app import main
from coterie.errors import CoterieError
from coterie.web.projects.routes import open_path
from coterie.web.table_summary import summary_of

ROWS = 240
DRAW = np.random.default_rng(7)
AGE = DRAW.integers(20, 60, ROWS)
ZIP = DRAW.integers(10000, 10020, ROWS)
NAMES = [f"{first} {last}" for first in ("Ada", "Ben", "Cleo", "Dora") for last in ("Moss", "Field", "Stone")]


def table(**columns: object) -> str:
    return pd.DataFrame({"age": AGE, "zip": ZIP, **columns}).to_csv(index=False)


def plain(text: str) -> str:
    """The words of a page or of a terminal, however they are set."""
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", text, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", "", text)).replace("`", "")
    return re.sub(r"\s+", " ", text)


BASE = {"quasi": ["age", "zip"], "method": "mondrian", "k": 12}
WARNED = {
    "a column kept beside the quasi-identifiers": (
        table(lon=DRAW.normal(11.5, 0.1, ROWS).round(5)),
        BASE | {"keep": ["lon"]},
        "singling-out",
        "Make `lon` a quasi-identifier",
    ),
    "several rows a person": (
        table(subject_id=np.arange(ROWS) // 12),
        BASE | {"identifiers": ["subject_id"]},
        "singling-out",
        'set entity = "subject_id"',
    ),
    "groups that share one sensitive value": (
        table(ill=np.where(AGE < 40, "flu", "gout")),
        BASE | {"sensitive": ["ill"]},
        "inference",
        '"l-diversity:2:ill"',
    ),
    "a k that cannot meet the threshold": (table(), BASE | {"k": 10}, "singling-out", "k = 12 meets 0.09"),
}


@pytest.mark.parametrize("case", WARNED)
def test_the_same_words_are_a_warning_on_every_face(tmp_path, monkeypatch, capsys, case):
    monkeypatch.chdir(tmp_path)
    text, settings, name, advice = WARNED[case]
    place = Place(tmp_path, text.encode())
    config = coterie.Config(**settings)
    Path("coterie.toml").write_text(config.to_toml())

    release = coterie.anonymize("table.csv", config=config)
    question = release.verdict.questions[name]
    assert question.state in ("warn", "fail")
    assert release.verdict.state == question.state
    assert any(advice in each for each in question.advice)

    words = [plain(each) for each in (*question.evidence, *question.advice)]
    assert main(["anonymize", "table.csv", "-c", "coterie.toml", "-o", "out.csv", "--report", "report.html"]) == 0
    shown = capsys.readouterr()
    faces = {"command line": shown.out + shown.err, "report": Path("report.html").read_text(encoding="utf-8")}
    place.run(**settings)
    faces["page"] = place.get("/0001").text
    for face, said in faces.items():
        missing = [each for each in words if each not in plain(said)]
        assert not missing, (face, missing)
        assert question.state in plain(said).lower(), face
    assert main(["anonymize", "table.csv", "-c", "coterie.toml", "-o", "strict.csv", "--strict"]) == 1


def test_the_default_k_meets_the_default_threshold(tmp_path):
    (tmp_path / "table.csv").write_text(table())
    release = coterie.anonymize(tmp_path / "table.csv", quasi=["age", "zip"], method="mondrian")
    assert release.verdict.questions["singling-out"].state == "pass"


REFUSED = {
    "a column without a role": (
        table(name=[NAMES[at % 12] for at in range(ROWS)]),
        'quasi = ["age", "zip"]\nmethod = "mondrian"\n',
        "keep = ",
    ),
    "no header": ("".join(f"{age},{zip_},flu\n" for age, zip_ in zip(AGE, ZIP, strict=True)), "", "header = false"),
    "a line above the header": ("An extract,,\n" + table(ill="flu"), "", "skip_rows = 1"),
    "nested JSON": ('{"age": 33, "of": {"name": "Ada Moss"}}\n' * 30, "", "nested values"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_same_words_refuse_on_every_face(tmp_path, files, app, client, monkeypatch, capsys, case):
    monkeypatch.chdir(files)
    text, settings, part = REFUSED[case]
    (files / "table.csv").write_text(text)
    (files / "coterie.toml").write_text(settings or 'quasi = ["age"]\n')
    with pytest.raises(CoterieError) as caught:
        coterie.anonymize("table.csv", config="coterie.toml")
    error = caught.value
    said = [str(error).removesuffix(error.hint).strip(), error.hint]
    assert part in str(error)
    assert not any(name in str(error) for name in (*NAMES, "extract"))

    assert main(["anonymize", "table.csv", "-c", "coterie.toml", "-o", "out.csv"]) == error.exit_code
    terminal = capsys.readouterr().err
    assert not Path("out.csv").exists()

    project = open_path(app, files / "table.csv")
    wait(app, project.folder / "inspect")
    if settings:
        client.post(f"{project.url}/configuration", data={"text": settings})
        page = send(client, f"{project.url}/run", data={"method": "mondrian", "action": "run"}).text
    else:
        assert summary_of(project) is None
        page = client.get(f"{project.url}/data").text
        # The lines to paste are for files and flags; on the page, the sentence leads to the screen that decides.
    for face, shown in (("command line", terminal), ("page", page)):
        for sentence in said[:1] if face == "page" and settings else said:
            # A path is told as it was given, and the page has its own.
            told = plain(sentence).removeprefix("table.csv").rstrip(".")
            assert told in plain(shown), (face, sentence)
    assert not settings or f'href="{project.url}/roles"' in page


def test_init_says_the_same_on_every_face(tmp_path, monkeypatch, capsys):
    """Whole numbers as floats, repeated ids and the index that pandas writes: the same TOML from all three."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(
        {
            "schooling": np.where(np.arange(ROWS) % 9, DRAW.integers(6, 20, ROWS), np.nan),
            "income": np.where(np.arange(ROWS) % 7, DRAW.integers(900, 9000, ROWS), np.nan),
            "patient_id": np.arange(ROWS) // 3,
            "lat": DRAW.normal(48.1, 0.1, ROWS).round(4),
            "long": DRAW.normal(11.5, 0.1, ROWS).round(4),
        }
    )
    frame.to_csv("table.csv")  # with its index, which has no name
    suggestion = coterie.suggest("table.csv")
    assert main(["init", "table.csv", "-o", "-", "--quiet"]) == 0
    assert capsys.readouterr().out == suggestion.toml
    place = Place(tmp_path, Path("table.csv").read_bytes())
    values = tomllib.loads(Path(place.project.config_path).read_text())
    known = tomllib.loads(suggestion.toml)
    assert values == known
    assert known["entity"] == "patient_id"
    assert set(known["identifiers"]) == {"", "patient_id", "lat", "long"}
    assert known["keep"] == []
    roles = {each.name: (each.role, each.reason) for each in suggestion.columns}
    for column in summary_of(place.project).columns:
        assert (column.role, column.reason) == roles[column.name]


def test_the_index_stays_behind(tmp_path):
    frame = pd.DataFrame({"age": AGE, "zip": ZIP}, index=pd.Index([f"p{at}" for at in range(ROWS)], name="patient_id"))
    release = coterie.anonymize(frame, **BASE)
    assert list(release.frame.index) == list(range(ROWS))
    release.write(tmp_path / "out.csv")
    release.report(tmp_path / "report.html")
    assert "patient_id" not in (tmp_path / "out.csv").read_text() + (tmp_path / "report.html").read_text()
    assert list(coterie.anonymize(frame, **BASE, keep_index=True).frame.index) == list(frame.index)
