"""The commands, from start to finish."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import coterie
from coterie.cli.app import main
from coterie.settings.config import Config

PEOPLE = "name,age,zip,job,disease\n" + "".join(
    f"Zebulon{i},{20 + i * 7 % 50},{2138 + i % 4:05},{'baker' if i % 2 else 'cook'},{'flu' if i % 3 else 'pox'}\n"
    for i in range(40)
)
FLAGS = [
    "--quasi",
    "age,zip,job",
    "--sensitive",
    "disease",
    "--identifier",
    "name",
    "-k",
    "4",
    "--hierarchy",
    "zip=prefixes",
]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path


def done(*arguments: str, capsys) -> tuple[str, str]:
    assert main(arguments) == 0, capsys.readouterr().err
    captured = capsys.readouterr()
    return captured.out, captured.err


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_version_and_help(capsys):
    assert done("--version", capsys=capsys)[0] == f"coterie {coterie.__version__}\n"
    out, _ = done("--help", capsys=capsys)
    for command in ("init", "anonymize", "verify", "measure", "hierarchy", "methods", "demo"):
        assert command in out
        assert "Usage: coterie" in done(command, "--help", capsys=capsys)[0]


def test_anonymize_verify_measure(folder, capsys):
    out, _ = done("anonymize", "people.csv", *FLAGS, "-o", "out.csv", capsys=capsys)
    for part in ("40 published", "GCP", "promises      pass", "age", "zip", "job", "Wrote out.csv"):
        assert part in out
    released = rows(Path("out.csv").read_text())
    assert list(released[0]) == ["age", "zip", "job", "disease"]
    assert [row["disease"] for row in released] == [row["disease"] for row in rows(PEOPLE)]

    out, _ = done("verify", "out.csv", "--quasi", "age,zip,job", "-k", "4", capsys=capsys)
    assert "promises      pass" in out
    out, _ = done("verify", "out.csv", "-c", "out.coterie.toml", "--json", capsys=capsys)
    found = json.loads(out)
    assert found["passed"]
    assert found["k"] >= 4

    out, _ = done("measure", "people.csv", "out.csv", "-c", "out.coterie.toml", "--json", capsys=capsys)
    measures = json.loads(out)
    assert 0 < measures["gcp"] < 1
    assert measures["outside"] == 0
    assert set(measures["attributes"]) == {"age", "zip", "job"}
    out, _ = done("measure", "people.csv", "out.csv", "-c", "out.coterie.toml", capsys=capsys)
    assert "discernability" in out


def test_a_broken_promise_is_exit_code_one(folder, capsys):
    assert main(["verify", "people.csv", "--quasi", "age,zip", "-k", "4"]) == 1
    captured = capsys.readouterr()
    assert "FAIL" in captured.out
    assert captured.err == ""
    assert main(["verify", "people.csv", "--quasi", "age,zip", "-k", "4", "--quiet"]) == 1
    assert capsys.readouterr() == ("", "")


def test_verify_without_a_promise_tells_k(folder, capsys):
    out, _ = done("verify", "people.csv", "--quasi", "job", capsys=capsys)
    assert "20-anonymous" in out


def test_what_stands_beside_a_release_makes_it_again(folder, capsys):
    done(
        "anonymize",
        "people.csv",
        *FLAGS,
        "--seed",
        "3",
        "--method",
        "kmembers",
        "--option",
        "seeding=random",
        "-o",
        "out.csv",
        capsys=capsys,
    )
    values = tomllib.loads(Path("out.coterie.toml").read_text())
    provenance = values["provenance"]
    texts = {str(value) for value in provenance.values()}
    assert hashlib.sha256(Path("out.csv").read_bytes()).hexdigest() in texts
    # The hash of a small input lets others try who was in it: it is not written beside a release.
    assert hashlib.sha256(Path("people.csv").read_bytes()).hexdigest() not in texts
    assert coterie.__version__ in texts
    assert values["seed"] == 3
    done("anonymize", "people.csv", "-c", "out.coterie.toml", "-o", "again.csv", capsys=capsys)
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()


def test_standard_output_holds_the_release_alone(folder, capfdbinary):
    assert main(["anonymize", "people.csv", *FLAGS, "-o", "-"]) == 0
    captured = capfdbinary.readouterr()
    assert len(rows(captured.out.decode())) == 40
    assert b"GCP" in captured.err
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_standard_input(folder):
    command = [sys.executable, "-m", "coterie.cli", "anonymize", "-", *FLAGS, "-o", "-", "--quiet"]
    run = subprocess.run(command, input=PEOPLE.encode(), capture_output=True, check=True)
    assert len(rows(run.stdout.decode())) == 40
    assert b"error" not in run.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        f"anonymize people.csv {' '.join(FLAGS)} -o - --quiet",  # by coterie
        "methods",  # by Rich
        "methods --json",  # by Typer
        "--help",
    ],
)
def test_a_closed_pipe_ends_quietly(folder, arguments):
    command = f"({sys.executable} -m coterie.cli {arguments}; echo $? > code) | true"
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert Path("code").read_text().strip() in ("0", "141")


def test_the_summary_as_json(folder, capsys):
    out, _ = done("anonymize", "people.csv", *FLAGS, "-o", "out.csv", "--json", "--report", "r.html", capsys=capsys)
    found = json.loads(out)
    assert (found["k"], found["method"], found["engine"], found["seed"]) == (4, "auto", "memory", 0)
    assert found["verification"]["passed"] is True
    assert found["verification"]["k"] >= 4
    assert 0 < found["measures"]["gcp"] < 1
    assert set(found["measures"]["attributes"]) == set(found["verification"]["quasi"])
    assert (found["output"], found["provenance"], found["reports"]) == ("out.csv", "out.coterie.toml", ["r.html"])
    assert all(Path(name).exists() for name in ("out.csv", "out.coterie.toml", "r.html"))
    again = json.loads(done("anonymize", "people.csv", *FLAGS, "--dry-run", "--json", capsys=capsys)[0])
    assert again["output"] is None
    assert again["measures"] == found["measures"]


def test_the_summary_of_blocks_as_json(folder, capsys):
    words = ["--engine", "blocks", "--block-rows", "20", "--json"]
    found = json.loads(done("anonymize", "people.csv", *FLAGS, "-o", "out.csv", *words, capsys=capsys)[0])
    assert found["engine"] == "blocks"
    assert found["verification"]["passed"] is True
    assert found["output"] == "out.csv"


def test_the_summary_and_the_release_do_not_share_standard_output(folder, capsys):
    assert main(["anonymize", "people.csv", *FLAGS, "-o", "-", "--json"]) == 2
    assert "standard output" in capsys.readouterr().err


def test_dry_run_writes_nothing(folder, capsys):
    out, _ = done("anonymize", "people.csv", *FLAGS, "--dry-run", capsys=capsys)
    assert "nothing was written" in out
    assert "GCP" in out
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_quiet_says_nothing(folder, capsys):
    assert done("anonymize", "people.csv", *FLAGS, "-o", "out.csv", "--quiet", capsys=capsys) == ("", "")


def test_force_overwrites(folder, capsys):
    Path("out.csv").write_text("mine")
    done("anonymize", "people.csv", *FLAGS, "-o", "out.csv", "--force", capsys=capsys)
    assert Path("out.csv").read_text().startswith("age,")


def test_names_with_commas_brackets_and_quotes(folder, capsys):
    odd = 'income, [b]"yearly"[/b]'
    with Path("odd.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([odd, "x"])
        writer.writerows([[i % 10, "y"] for i in range(40)])
    quoted = '"' + odd.replace('"', '""') + '"'
    out, _ = done("anonymize", "odd.csv", "--quasi", quoted, "--keep", "x", "-k", "5", "-o", "out.csv", capsys=capsys)
    assert odd in out
    assert list(rows(Path("out.csv").read_text())[0]) == [odd, "x"]


def test_init_writes_what_anonymize_reads(folder, capsys):
    out, _ = done("init", "people.csv", capsys=capsys)
    assert "Wrote coterie.toml" in out
    text = Path("coterie.toml").read_text()
    assert "Zebulon" not in text + out
    config = Config.from_toml("coterie.toml")
    assert (config.quasi, config.sensitive, config.identifiers) == (("age", "zip", "job"), ("disease",), ("name",))
    done("anonymize", "people.csv", "-c", "coterie.toml", "-o", "out.csv", capsys=capsys)
    done("verify", "out.csv", "-c", "coterie.toml", capsys=capsys)
    done("measure", "people.csv", "out.csv", "-c", "coterie.toml", capsys=capsys)


def test_init_keeps_how_the_file_was_read(folder, capsys):
    Path("odd.txt").write_text("age;sex\n" + "".join(f"{20 + i};{'m' if i % 2 else '?'}\n" for i in range(40)))
    done("init", "odd.txt", "--delimiter", ";", "-o", "odd.toml", capsys=capsys)
    config = Config.from_toml("odd.toml")
    assert config.delimiter == ";"
    assert config.missing_values == ("", "?")
    done("init", "odd.txt", "-o", "odd.toml", "--force", "--missing-values", ",?", capsys=capsys)
    assert Config.from_toml("odd.toml").missing_values == ("", "?")
    out, err = done("init", "odd.txt", "-o", "-", capsys=capsys)
    assert tomllib.loads(out)["quasi"] == ["age", "sex"]
    assert "age" in err


def test_methods(capsys):
    out, _ = done("methods", capsys=capsys)
    assert "kmembers" in out
    assert "mondrian" in out
    out, _ = done("methods", "kmembers", capsys=capsys)
    for part in ("seeding", "dense-first", "Wang"):
        assert part in out
    everything = json.loads(done("methods", "--json", capsys=capsys)[0])
    assert {method["name"] for method in everything} >= {"kmembers", "mondrian"}
    assert all(option["description"] for method in everything for option in method["options"])


def test_demo(folder, capsys):
    out, _ = done("demo", capsys=capsys)
    for part in ("Before:", "After:", "GCP", "promises      pass", "Wrote out.csv"):
        assert part in out
    released = Path("out.csv").read_bytes()
    assert released.count(b"\n") == 30_163
    # What an earlier demo left is overwritten, and comes out the same.
    again = set()
    for _ in range(2):
        done("demo", "--quiet", "--method", "mondrian", capsys=capsys)
        again.add(Path("out.csv").read_bytes())
    assert len(again) == 1
    assert released not in again
    # A file of somebody else is left alone.
    Path("out.coterie.toml").unlink()
    assert main(["demo"]) == 2
    assert "--force" in capsys.readouterr().err


def test_demo_exports_its_table(folder, capsys):
    done("demo", "--export", "adult.csv", capsys=capsys)
    assert len(rows(Path("adult.csv").read_text())) == 30_162
    done("init", "adult.csv", capsys=capsys)
    assert "age" in Config.from_toml("coterie.toml").quasi


def test_warnings_are_lines(capsys, monkeypatch):
    import warnings

    from coterie.errors import CoterieWarning

    def warned(*_, **__):
        warnings.warn("columns are odd", CoterieWarning, stacklevel=2)
        warnings.warn("Zebulon is foreign", UserWarning, stacklevel=2)
        return {}

    monkeypatch.setattr("coterie.methods.all_methods", warned)
    assert main(["methods", "--json"]) == 0
    assert capsys.readouterr().err == "warning: columns are odd\n"


def test_the_run_that_compiles_says_so(folder, capsys, monkeypatch):
    monkeypatch.setattr("coterie.kernels.missing", lambda method: ("methods.kaca.label_rows",))
    _, err = done("anonymize", "people.csv", *FLAGS, "-o", "out.csv", capsys=capsys)
    assert err.count("compiling (once after installation") == 1
    monkeypatch.setattr("coterie.kernels.missing", lambda method: ())
    _, err = done("anonymize", "people.csv", *FLAGS, "-o", "again.csv", capsys=capsys)
    assert "compiling" not in err


def test_init_without_quasi_identifiers_says_so(folder, capsys):
    Path("readings.csv").write_text("reading\n" + "".join(f"{i % 20 / 7}\n" for i in range(40)))
    _, err = done("init", "readings.csv", capsys=capsys)
    assert err.startswith("warning: no column looks like a quasi-identifier")
    Path("one.csv").write_text("name,age,city\nAnn,3,x\n")
    done("init", "one.csv", "--force", capsys=capsys)
    assert Config.from_toml("coterie.toml").quasi == ("age", "city")
