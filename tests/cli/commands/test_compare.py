"""`coterie compare` and `coterie explain`, from start to finish."""

import json

import pyarrow.csv
import pytest
from api.test_compare import PEOPLE, interrupt_after

from coterie.cli.app import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(PEOPLE, "people.csv")
    return tmp_path


FLAGS = ["people.csv", "--quasi", "age,zip", "--sensitive", "ill", "--hierarchy", "zip=prefixes", "--queries", "20"]


def test_the_command_line(folder, capsys):
    asked = ["compare", *FLAGS, "--methods", "mondrian,nh", "-k", "2,5,100", "-o", "out.csv", "--plot", "out.svg"]
    assert main(asked) == 0
    out = capsys.readouterr().out
    for part in (
        "÷ bound",
        "average risk",
        "query error",
        "lowest loss at k = 2: ",
        "refused: mondrian at k = 100, nh",
    ):
        assert part in out
    assert "6 runs, kept in people.compare.jsonl. Wrote out.csv, out-risk.svg, out-loss.svg." in out
    text = (folder / "people.compare.jsonl").read_text()
    assert not any(cell in text for cell in ("02138", "flu", "gout"))
    assert main([*asked, "--force", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert [row["k"] for row in values["rows"]] == [2, 2, 5, 5, 100, 100]
    assert main([*asked, "--force"]) == 0
    assert "6 of them from an earlier call" in capsys.readouterr().out
    assert main(["compare", *FLAGS, "--methods", "mondrian", "-k", "3", "--privacy", "l-diversity:2"]) == 0
    assert "distinct 2-diversity" in capsys.readouterr().out


def test_the_lowest_loss_is_compared_with_the_least_possible(folder, capsys):
    assert main(["compare", *FLAGS, "--methods", "compact", "-k", "2", "--json"]) == 0
    ratio = json.loads(capsys.readouterr().out)["rows"][0]["loss_over_bound"]
    assert 1 <= ratio < 2
    assert main(["compare", *FLAGS, "--methods", "compact", "-k", "2"]) == 0
    percent = int(-(-(ratio - 1) // 0.01))
    assert f", within {percent} % of the least possible loss)" in capsys.readouterr().out


def test_ctrl_c_on_the_command_line(folder, capsys, monkeypatch):
    asked = ["compare", *FLAGS, "--methods", "mondrian,kmembers", "-k", "2,5"]
    with monkeypatch.context() as patched:
        interrupt_after(patched, 3)
        assert main(asked) == 130
    shown = capsys.readouterr()
    assert "Stopped: 3 of 4 runs are finished and kept in people.compare.jsonl; the same call resumes" in shown.err
    assert "lowest loss at k = 2" in shown.out
    assert main(asked) == 0
    assert "4 runs, 3 of them from an earlier call" in capsys.readouterr().out


def test_what_the_command_line_refuses(folder, capsys):
    for more, reason in (
        (["-k", "two"], "must be whole numbers"),
        (["-k", "0"], "must be whole numbers"),
        (["-o", "people.csv"], "is the input itself"),
        (["-o", "out.doc"], "cannot write"),
        (["--plot", "out.gif"], "must end in .svg, .png, .pdf"),
        (["--methods", "best"], "there is no method 'best'"),
    ):
        assert main(["compare", *FLAGS, *more]) == 2
        assert reason in capsys.readouterr().err
    assert not (folder / "people.compare.jsonl").exists()


def test_explain_on_the_command_line(folder, capsys):
    asked = ["explain", *FLAGS[:-2], "--method", "mondrian", "-k", "4"]
    assert main([*asked, "--row", "3", "--what-if-k", "8", "--what-if-drop", "zip"]) == 0
    out = capsys.readouterr().out
    for part in (
        "share of the loss",
        "Row 3, group",
        "least cost",
        "nearest row",
        "k = 8",
        "without zip",
        "effort fast",
    ):
        assert part in out
    assert "without age" not in out
    assert not any(cell in out for cell in ("02138", "02139", "02141"))
    assert main([*asked, "--row", "3", "--show-values"]) == 0
    assert str(PEOPLE["zip"][3]) in capsys.readouterr().out
    assert main([*asked, "--row", "3", "--row", "4", "--what-if", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert [row["row"] for row in values["rows"]] == [3, 4]
    assert [each["change"] for each in values["what_if"]["changes"]] == ["k = 2", "k = 8", "without age", "without zip"]
    assert main([*asked, "--row", "80"]) == 2
    assert "position from 0 to 79" in capsys.readouterr().err
    assert main(["explain", *FLAGS[:-2], "--method", "nh", "-k", "4", "--row", "0"]) == 0
    assert "which one is secret" in capsys.readouterr().out
