"""The process of a command: what it loads, and how it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

RUN = "import sys; sys.argv = ['coterie', *{arguments}]\nfrom coterie.cli import app as cli\n"


def process(tmp_path, code):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "".join(f"{20 + i % 9},{'fm'[i % 2]}\n" for i in range(60)))
    return path


@pytest.mark.parametrize(
    ("library", "used"), [("pandas", "DataFrame({'a': [1]}).shape[0]"), ("scipy.linalg", "det([[1]])")]
)
def test_commands_do_without_what_others_get(tmp_path, people, library, used):
    pytest.importorskip(library)
    arguments = ["anonymize", str(people), "--quasi", "age,sex", "-k", "2", "-o", "out.csv", "-q"]
    code = RUN.format(arguments=arguments) + (
        "def leave(code):\n"
        f"    print('loaded' if {library!r} in sys.modules else 'left out')\n"
        f"    import {library} as library\n"
        f"    print(code, int(library.{used}))\n"
        "cli.leave = leave\n"
        "cli.console()\n"
    )
    done = process(tmp_path, code)
    assert done.stdout.splitlines()[-2:] == ["left out", "0 1"], done.stderr


def test_what_is_left_to_the_end_is_done_and_printed(tmp_path):
    code = RUN.format(arguments=["--version"]) + (
        "import atexit, tempfile, pathlib\n"
        "folder = tempfile.TemporaryDirectory(dir='.')\n"
        "atexit.register(lambda: pathlib.Path('ended').write_text('yes'))\n"
        "cli.console()\n"
    )
    done = process(tmp_path, code)
    assert (done.returncode, done.stdout.startswith("coterie")) == (0, True)
    assert [path.name for path in tmp_path.iterdir()] == ["ended"]


@pytest.mark.parametrize(("arguments", "expected"), [(["verify", "nothing.csv", "-k", "2"], 3), (["nonsense"], 2)])
def test_the_exit_code_of_a_command_is_that_of_the_process(tmp_path, arguments, expected):
    done = process(tmp_path, RUN.format(arguments=arguments) + "cli.console()")
    assert done.returncode == expected
    assert done.stderr.startswith(("error", "usage")) or "Usage" in done.stderr
