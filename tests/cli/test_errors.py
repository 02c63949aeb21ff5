"""What goes wrong ends in one line that says what to do, with the documented exit code, and leaves no file behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coterie.cli.app import main

SECRET = "Zebulon"

PEOPLE = "name,age,zip,job,disease\n" + "".join(
    f"{SECRET}{i},{20 + i * 7 % 50},{2138 + i % 4:05},{'baker' if i % 2 else 'cook'},{'flu' if i % 3 else 'pox'}\n"
    for i in range(20)
)
FLAGS = ["--quasi", "age,zip", "-k", "3", "-o", "out.csv"]
OTHERS = ["--drop", "name,job,disease"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path


def refused(arguments: list[str], code: int, *parts: str, capsys) -> str:
    """Run a command that must fail with this code, and return the one line that it prints."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    assert len(errors) == 1
    assert [line for line in lines if line not in errors and not line.startswith("compiling")] == []
    line = errors[0]
    assert "Traceback" not in captured.err
    assert SECRET not in captured.err
    assert not re.search(r"\b(flu|pox|baker|cook|021\d\d)\b", captured.err)
    for part in parts:
        assert part in line, line
    after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert after == before
    return line


def test_k_larger_than_the_table(folder, capsys):
    refused(["anonymize", "people.csv", *FLAGS, *OTHERS, "-k", "21"], 4, "21", "20", capsys=capsys)


@pytest.mark.parametrize("k", ["0", "-3"])
def test_k_below_one(folder, capsys, k):
    refused(["anonymize", "people.csv", *FLAGS, "-k", k], 2, "k: must be at least 1", capsys=capsys)


def test_unknown_column(folder, capsys):
    refused(["anonymize", "people.csv", *FLAGS, "--quasi", "agee"], 2, "'agee'", "did you mean 'age'?", capsys=capsys)


def test_column_in_two_roles(folder, capsys):
    refused(["anonymize", "people.csv", *FLAGS, "--sensitive", "age"], 2, "'age'", "one role", capsys=capsys)


def test_no_quasi_identifiers(folder, capsys):
    refused(["anonymize", "people.csv", "-k", "3", "-o", "out.csv"], 2, "quasi", capsys=capsys)


def test_several_problems_in_one_line(folder, capsys):
    arguments = ["anonymize", "people.csv", *FLAGS, "-k", "0", "--weight", "age=-1", "--method", "mondrain"]
    refused(arguments, 2, "3 problems", "k:", "weights.age:", "did you mean 'mondrian'", capsys=capsys)
    arguments = ["anonymize", "people.csv", *FLAGS, "--quasi", "agee", "--sensitive", "diseas", "--weight", "job=2"]
    arguments += OTHERS
    refused(arguments, 2, "3 problems", "'agee'", "'diseas'", "weights.job", capsys=capsys)


def test_empty_file(folder, capsys):
    Path("empty.csv").touch()
    refused(["anonymize", "empty.csv", *FLAGS], 3, "empty.csv", capsys=capsys)


def test_header_only(folder, capsys):
    Path("header.csv").write_text("age,zip\n")
    refused(["anonymize", "header.csv", *FLAGS], 3, "header.csv", "no rows", capsys=capsys)


def test_duplicate_column_names(folder, capsys):
    Path("twice.csv").write_text("age,zip,age\n1,2,3\n")
    refused(["anonymize", "twice.csv", *FLAGS], 3, "same name", capsys=capsys)


def test_no_such_file(folder, capsys):
    refused(["anonymize", "nobody.csv", *FLAGS], 3, "nobody.csv", capsys=capsys)


def test_unreadable_files(folder, capsys):
    Path("broken.parquet").write_bytes(b"PAR1" + b"\0" * 50 + b"PAR1")
    refused(["anonymize", "broken.parquet", *FLAGS], 3, "broken.parquet", capsys=capsys)
    Path("broken.csv.gz").write_bytes(b"\x1f\x8b" + b"\0" * 50)
    refused(["anonymize", "broken.csv.gz", *FLAGS], 3, "broken.csv.gz", capsys=capsys)
    Path("ragged.csv").write_text(f"age,zip\n1,2\n3,4,{SECRET}\n" * 3)
    refused(["anonymize", "ragged.csv", *FLAGS], 3, "ragged.csv", capsys=capsys)
    refused(["anonymize", ".", *FLAGS], 3, capsys=capsys)


def test_hierarchy_with_two_parents(folder, capsys):
    Path("job.csv").write_text("baker;Food;*\ncook;Food;*\nbaker;Craft;*\n")
    arguments = ["anonymize", "people.csv", *FLAGS, "--quasi", "job", "--hierarchy", "job=job.csv"]
    assert main(arguments) == 3
    err = capsys.readouterr().err
    assert "two parents" in err
    assert "hierarchies.job" in err
    assert len(err.splitlines()) == 1
    assert not Path("out.csv").exists()


def test_hierarchy_with_a_cycle(folder, capsys):
    Path("c.toml").write_text('quasi = ["job"]\nk = 3\n[hierarchies]\njob = "job.csv"\n')
    Path("job.csv").write_text("low;A;B;*\nhigh;B;A;*\n")
    refused(["anonymize", "people.csv", "-c", "c.toml", "-o", "out.csv"], 3, "hierarchies.job", "cycle", capsys=capsys)


def test_hierarchy_without_some_values(folder, capsys):
    Path("zip.csv").write_text("99999;999**;*\n")
    arguments = ["anonymize", "people.csv", *FLAGS, *OTHERS, "--hierarchy", "zip=zip.csv"]
    refused(arguments, 3, "zip: 4 values (20 rows)", capsys=capsys)


def test_number_column_with_text_in_it(folder, capsys):
    rows = "".join(f"{20 + i % 40},x\n" for i in range(200)) + f"{SECRET},x\n"
    Path("mixed.csv").write_text("age,zip\n" + rows)
    refused(["anonymize", "mixed.csv", *FLAGS], 3, "'age'", "1", "missing_values", capsys=capsys)
    arguments = ["anonymize", "people.csv", *FLAGS, "--quasi", "job", "--drop", "name,disease", "--type", "job=number"]
    refused(arguments, 3, "'job'", capsys=capsys)


def test_output_that_exists(folder, capsys):
    Path("out.csv").write_text("mine")
    refused(["anonymize", "people.csv", *FLAGS], 2, "out.csv", "--force", capsys=capsys)
    Path("coterie.toml").write_text("k = 1\n")
    refused(["init", "people.csv"], 2, "coterie.toml", "--force", capsys=capsys)


def test_output_that_cannot_be(folder, capsys):
    flags = FLAGS[:-2]
    refused(["anonymize", "people.csv", *flags], 2, "output", "--dry-run", capsys=capsys)
    refused(["anonymize", "people.csv", *flags, "-o", "people.csv", "--force"], 2, "input itself", capsys=capsys)
    refused(["anonymize", "people.csv", *flags, "-o", "nowhere/out.csv"], 2, "nowhere", capsys=capsys)
    refused(["anonymize", "people.csv", *flags, "-o", "out.docx"], 2, ".parquet", capsys=capsys)


def test_configuration_file(folder, capsys):
    refused(["anonymize", "people.csv", "-c", "none.toml", "-o", "out.csv"], 2, "none.toml", capsys=capsys)
    Path("c.toml").write_text('quasi = ["age"\nk = 3\n')
    refused(["anonymize", "people.csv", "-c", "c.toml", "-o", "out.csv"], 2, "c.toml", "line 2", capsys=capsys)
    Path("c.toml").write_text('quasi = ["age"]\nkk = 3\n[weigths]\nage = 1\n')
    arguments = ["anonymize", "people.csv", "-c", "c.toml", "-o", "out.csv"]
    refused(arguments, 2, "did you mean 'k'?", "did you mean 'weights'?", capsys=capsys)


def test_usage(folder, capsys):
    refused(["anonymize"], 2, "FILE", "coterie anonymize --help", capsys=capsys)
    refused(["anonymise", "people.csv"], 2, "anonymize", capsys=capsys)
    refused(["anonymize", "people.csv", "-k", "many"], 2, "-k", capsys=capsys)
    refused(["anonymize", "people.csv", "--quazi", "age"], 2, "--quazi", capsys=capsys)
    refused(["methods", "nope"], 2, "nope", capsys=capsys)


def test_missing_values_as_an_error(folder, capsys):
    Path("holes.csv").write_text(PEOPLE + f"{SECRET},,02138,cook,flu\n")
    refused(["anonymize", "holes.csv", *FLAGS, *OTHERS, "--missing", "error"], 3, "age (1)", capsys=capsys)


def test_verify_and_measure_name_what_is_missing(folder, capsys):
    refused(["verify", "people.csv", "--quasi", "agee", "-k", "3"], 2, "'agee'", capsys=capsys)
    refused(["verify", "people.csv", "-k", "3"], 2, "quasi", capsys=capsys)
    refused(["measure", "people.csv", "nobody.csv", "--quasi", "age"], 3, "nobody.csv", capsys=capsys)


def test_unexpected_faults_show_no_values(folder, capsys, monkeypatch):
    def broken(*_, **__):
        raise KeyError(SECRET)

    monkeypatch.setattr("coterie.files.tables.read", broken)
    line = refused(["init", "people.csv"], 70, "KeyError", "test_errors.py", capsys=capsys)
    assert "--debug" in line
    assert main(["--debug", "init", "people.csv"]) == 70
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "may contain data values" in err


def test_interrupted(folder, capsys, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("coterie.files.tables.read", stopped)
    refused(["init", "people.csv"], 130, "stopped", capsys=capsys)


def test_debug_by_environment(folder, capsys, monkeypatch):
    monkeypatch.setenv("COTERIE_DEBUG", "1")
    assert main(["init", "nobody.csv"]) == 3
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["hierarchy"]])
def test_a_group_of_commands_by_itself_shows_its_help(words, capsys):
    assert main(words) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(" ".join(["Usage: coterie", *words]))
    assert shown.err == ""
