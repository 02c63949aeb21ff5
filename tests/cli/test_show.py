"""Progress bars and tables."""

from __future__ import annotations

import io
import sys
import time

import pytest

from coterie.cli import show as cli_show
from coterie.cli.show import ProgressBar, Voice


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(cli_show, "PATIENCE", 0.01)


def test_short_runs_show_nothing(monkeypatch):
    monkeypatch.setattr(cli_show, "PATIENCE", 3600)  # on a busy machine two seconds are soon over
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr(sys, "stderr", stream)
        with ProgressBar() as progress:
            progress("grouping", 1, 2)
        assert stream.getvalue() == ""


def test_long_runs_show_a_bar_on_a_terminal(monkeypatch, impatient):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with ProgressBar() as progress:
        progress("reading", 0, 0)
        time.sleep(0.05)
        progress("grouping", 1, 4)
        progress("grouping", 2, 4)
        progress("publishing", 1, 1)
    text = stream.getvalue()
    assert "grouping" in text or "publishing" in text
    assert "%" in text


def test_long_runs_print_lines_elsewhere(monkeypatch, impatient):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    started = ProgressBar()
    started("grouping", 1, 4)
    with started as progress:
        # The step is silent from here on; a timer speaks for it.
        deadline = time.monotonic() + 60
        while not stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        progress("grouping", 2, 4)
    assert stream.getvalue() == "grouping 25 % …\n"


def test_quiet_runs_never_speak(monkeypatch, impatient):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar(quiet=True) as progress:
        time.sleep(0.03)
        progress("grouping", 1, 4)
    Voice(quiet=True).note("hello")
    assert stream.getvalue() == ""


def test_a_bar_does_not_swallow_errors(monkeypatch, impatient):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ValueError, match="inside"), ProgressBar() as progress:
        time.sleep(0.03)
        progress("grouping", 1, 4)
        raise ValueError("inside")


def test_voice_goes_to_standard_error_when_the_release_goes_to_standard_output(capsys):
    Voice(output="-").say("hello [b]x[/b] :smile:")
    Voice(output="out.csv").say("hello")
    assert capsys.readouterr() == ("hello\n", "hello [b]x[/b] :smile:\n")


def test_tables_print_names_as_they_are_and_keep_lines_whole(capsys):
    Voice().table(["column", "n"], [["[red]a[/red]", "1"], ["b" * 100, "12"]], numbers=["n"])
    out = capsys.readouterr().out
    assert "[red]a[/red]" in out
    assert "b" * 100 in out
    assert len(out.rstrip("\n").splitlines()) == 4
