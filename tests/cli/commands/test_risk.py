"""`coterie risk`, and the hints of `coterie init`, from start to finish."""

import json

import numpy as np
import pytest

from coterie.cli.app import main
from coterie.suggesting.hipaa import SAFE_HARBOR, safe_harbor

rng = np.random.default_rng(4)
PEOPLE = "who,age,zip,ill\n" + "".join(
    f"Zebulon{i // 2},{rng.integers(20, 60)},0{rng.integers(2138, 2144)},{rng.choice(['flu', 'pox', 'gout'])}\n"
    for i in range(60)
)
FLAGS = ["--quasi", "age,zip", "--hierarchy", "zip=prefixes"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path


def run(capsys, *arguments, code=0):
    assert main(arguments) == code
    shown = capsys.readouterr()
    return shown.out if code == 0 else shown.err


def test_risk_before_and_after(folder, capsys):
    release = [
        "anonymize",
        "people.csv",
        *FLAGS,
        "--identifier",
        "who",
        "--keep",
        "ill",
        "-k",
        "5",
        "--method",
        "mondrian",
    ]
    run(capsys, *release, "-o", "out.csv")
    out = run(capsys, "risk", "people.csv", "out.csv", "-c", "out.coterie.toml", "--fraction", "0.01")
    for part in (
        "before",
        "after",
        "prosecutor: highest risk",
        "journalist",
        "marketer",
        "Medicines Agency",
        "age + zip",
    ):
        assert part in out
    assert "Zebulon" not in out
    values = json.loads(run(capsys, "risk", "people.csv", "out.csv", "-c", "out.coterie.toml", "--json"))
    assert values["before"]["prosecutor"]["highest"] == 1.0
    assert values["after"]["prosecutor"]["highest"] <= 0.2
    assert {tuple(each["columns"]) for each in values["columns"]} == {("age",), ("zip",)}
    assert values["before"]["journalist"] is None


def test_risk_against_a_population_and_of_people(folder, capsys):
    values = json.loads(run(capsys, "risk", "people.csv", *FLAGS, "--population", "people.csv", "--json"))
    assert values["journalist"] == values["prosecutor"]
    assert values["population"] == 60
    values = json.loads(run(capsys, "risk", "people.csv", *FLAGS, "--entity", "who", "--threshold", "cms", "--json"))
    assert values["counted"] == "people"
    assert values["threshold"]["value"] == pytest.approx(1 / 11)
    assert "groups are counted in: people" in run(capsys, "risk", "people.csv", *FLAGS, "--entity", "who")


def test_what_risk_refuses(folder, capsys):
    assert "threshold" in run(capsys, "risk", "people.csv", *FLAGS, "--threshold", "much", code=2)
    assert "fraction" in run(capsys, "risk", "people.csv", *FLAGS, "--fraction", "2", code=2)
    both = ["--fraction", "0.1", "--population", "people.csv"]
    assert "give only one of them" in run(capsys, "risk", "people.csv", *FLAGS, *both, code=2)
    assert "at least one quasi-identifier" in run(capsys, "risk", "people.csv", code=2)
    (folder / "other.csv").write_text("age\n30\n")
    assert "the population has no column 'zip'" in run(
        capsys, "risk", "people.csv", *FLAGS, "--population", "other.csv", code=2
    )


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("Patient Name", "A"),
        ("ZIP_CODE", "B"),
        ("dateOfBirth", "C"),
        ("AGE", "C"),
        ("phone2", "D"),
        ("Fax", "E"),
        ("e-mail", "F"),
        ("SSN", "G"),
        ("mrn", "H"),
        ("Medicare number", "I"),
        ("account_number", "J"),
        ("Licence number", "K"),
        ("licence plate", "L"),
        ("device id", "M"),
        ("website", "N"),
        ("ip_address", "O"),
        ("fingerprint", "P"),
        ("photo", "Q"),
        ("customer_id", "R"),
        ("disease", None),
        ("income", None),
    ],
)
def test_safe_harbor_by_name(name, letter):
    found = safe_harbor(name)
    assert (None if found is None else found.letter) == letter


def test_safe_harbor_has_all_eighteen():
    assert "".join(dict.fromkeys(entry.letter for entry in SAFE_HARBOR.values())) == "ABCDEFGHIJKLMNOPQR"


def test_init_marks_them_as_comments(folder, capsys):
    (folder / "visits.csv").write_text(PEOPLE.replace("who,", "patient_id,"))
    out = run(capsys, "init", "visits.csv", "-o", "-")
    assert "#   zip         (B) places smaller than a state" in out
    assert "#   patient_id  (R) any other unique number or code: remove" in out
    assert '\nentity = "patient_id"\n' in out
    assert "Zebulon" not in out
    (folder / "plain.csv").write_text("income,disease\n1,a\n2,b\n")
    assert "Safe Harbor" not in run(capsys, "init", "plain.csv", "-o", "-")
