"""Test an installed coterie in an empty folder, following README: scripts/test_wheel.py runs this in each environment.

    python try_installed.py README.md readme            commands, exit codes, console blocks and snippets
    python try_installed.py README.md extras db,web,…   the extras' libraries are installed and used

It needs only coterie and Python itself.
"""

from __future__ import annotations

import csv
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(sys.executable).parent
# Extra → modules that must load with it.
BROUGHT = {
    "db": ("adbc_driver_manager", "adbc_driver_postgresql"),
    "excel": ("fastexcel",),
    "exact": ("scipy.optimize",),
    "ml": ("sklearn.linear_model", "coterie.evaluation.learning"),
    "spark": ("pyspark.sql", "coterie.spark"),
    "web": ("starlette.applications", "uvicorn", "tomlkit", "coterie.web.app"),
}


def blocks(readme: str, language: str) -> list[str]:
    """Return the code blocks of a language."""
    found = re.findall(rf"```{language}\n(.*?)```", readme, re.DOTALL)
    assert found, f"README has no {language} block"
    return found


def tables(readme: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return README's first table as rows before and rows after, each with its header first."""
    lines = [line for line in readme.splitlines() if line.startswith("|")]
    shown = lines[: next(at for at, line in enumerate(lines) if line.startswith("| Fay")) + 1]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown if not line.startswith("|---")]
    arrow = cells[0].index("→")
    return [row[:arrow] for row in cells], [row[arrow + 1 :] for row in cells]


def people(readme: str) -> None:
    """Write README's people to people.csv in this folder."""
    before, _ = tables(readme)
    with Path("people.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(before)


def shell(line: str, *, expected: int = 0) -> str:
    """Run a line in a shell in which `coterie` is the one of this environment, and return its output."""
    env = os.environ | {"PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == expected, f"{line!r} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def try_commands(version: str) -> None:
    """Test help, version, and the exit codes in docs/errors.md."""
    assert "anonymize" in shell("coterie --help")
    assert "--quasi" in shell("coterie anonymize --help")
    assert shell("coterie --version").strip() == f"coterie {version}"
    assert "mondrian" in shell("coterie methods")
    shell("coterie --no-such-option", expected=2)
    shell("coterie anonymize people.csv --nonsense", expected=2)
    shell("coterie no-such-command", expected=2)
    shell("coterie verify no-such-file.csv -k 2", expected=3)
    shell("coterie verify people.csv --quasi age,zip -k 2", expected=1)
    all_roles = "--quasi age,zip,education --sensitive disease --identifier name"
    shell(f"coterie anonymize people.csv {all_roles} -k 100 -o never.csv", expected=4)
    assert not Path("never.csv").exists()
    shell("coterie methods --json | head -n 1")


def try_readme(readme: str) -> None:
    """Run all snippets, then all console blocks, as written."""
    import coterie

    people(readme)
    try_commands(coterie.__version__)
    _, (head, *rows) = tables(readme)
    names: dict[str, object] = {}
    first, *others = blocks(readme, "python")
    exec(compile(first, "README.md", "exec"), names)
    release = names["release"]
    assert isinstance(release, coterie.Release)
    assert release.frame.column_names == head
    assert [list(row.values()) for row in release.frame.to_pylist()] == rows
    assert f"{release.measures['gcp']:.3f}" == re.search(r"# ([\d.]+): information loss", first)[1]
    assert release.verification.k == int(re.search(r"# (\d+): recounted", first)[1])
    for code in others:
        exec(compile(code, "README.md", "exec"), names)
    for line in (line for block in blocks(readme, "console") for line in block.splitlines()):
        if line.startswith("$ "):
            shell(line.removeprefix("$ "))
    assert json.loads(shell("coterie verify out.csv -c coterie.toml -k 3 --json"))["passed"] is True
    published = list(csv.reader(Path("out.csv").read_text(encoding="utf-8").splitlines()))
    assert published[0] == head, published[0]
    assert len(published) == 1 + len(rows), len(published)


def try_extras(readme: str, extras: list[str]) -> None:
    """Check that each extra's libraries load, and use them if that is quick."""
    import coterie

    people(readme)
    for module in [name for extra in extras for name in BROUGHT[extra]]:
        importlib.import_module(module)
    roles = {"quasi": ["age", "zip"], "sensitive": ["education", "disease"], "identifiers": ["name"], "k": 3}
    if "exact" in extras:
        assert coterie.anonymize("people.csv", method="optimal", **roles).verification.k >= 3
    if "web" in extras:
        assert "--port" in shell("coterie serve --help")


def main() -> int:
    """Run the checks named on the command line."""
    readme = Path(sys.argv[1]).read_text(encoding="utf-8")
    if sys.argv[2] == "readme":
        try_readme(readme)
    else:
        try_extras(readme, sys.argv[3].split(","))
    return 0


if __name__ == "__main__":
    sys.exit(main())
