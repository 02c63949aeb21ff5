"""Compare the output of two versions, byte by byte: `python scripts/compare_releases.py [REVISION]`.

For changes that must not change any result, such as moving or renaming code. A set of commands runs with the version of
REVISION (HEAD by default) and with the working tree; releases, mappings, reports, provenance and printed
output must be equal. Times, temporary folders and coterie's own version are ignored.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROWS = 1500
METHODS = ("auto", "bottom-up", "cb", "compact", "gccg", "incognito", "kaca", "kmembers", "mondrian", "nh", "top-down")
QUASI = "age,education,marital-status,sex,race,hours-per-week"
ROLES = ("--quasi", QUASI, "--sensitive", "occupation", "--drop")
REST = "workclass,relationship,native-country,salary-class,education-num,fnlwgt,capital-gain,capital-loss,part"
MODELS = (
    "l-diversity:3:occupation",
    "l-diversity:2:occupation:entropy",
    "l-diversity:2:occupation:frequency",
    "t-closeness:0.4:occupation",
    "alpha-k:0.6:occupation",
    "beta-likeness:3:occupation",
    "delta-disclosure:2.5:occupation",
)
# What differs from run to run.
NOISE = (
    (re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?[\d.+:Z]*( UTC)?"), b"<time>"),
    (re.compile(rb"\d[\d.,]*( |\xc2\xa0)?(ms|s|seconds?|minutes?|min)\b"), b"<seconds>"),
    (re.compile(rb"\"seconds\": *[\d.e-]+"), b"<seconds>"),
    (re.compile(rb"seconds = [\d.e-]+"), b"<seconds>"),
    (re.compile(rb"\"seconds\": \{[^}]*\}"), b"<seconds>"),
    (re.compile(rb"<seconds>: [a-z ]+ \d.*"), b"<phases>"),
    (re.compile(rb"(?m)^[^\n]*\xe2\x80\xa6\n"), b""),  # a step that takes longer than two seconds says so: "group …"
    (re.compile(rb"(clip|[mp])[0-9a-f]{10,}|coterie-[0-9a-f]{8}"), b"<mark>"),
)


def cases() -> Iterator[tuple[str, list[str]]]:
    """Return names and commands; they run in a folder with people.csv, which has an id besides Adult's columns."""
    roles = [*ROLES, f"{REST},person"]
    roles += ["--hierarchy", "education=education.csv", "--hierarchy", "marital-status=marital-status.csv"]
    plain = ["anonymize", "people.csv", *roles, "-k", "5"]
    # Without a key, nh draws which row becomes which from the operating system.
    keyed = {"nh": ["--option", "key=known to both versions"]}
    for method in METHODS:
        words = [*plain, "--method", method, *keyed.get(method, [])]
        yield f"method-{method}", [*words, "-o", "out.csv", "--mapping", "mapping.csv"]
    for effort in ("fast", "thorough"):
        yield f"effort-{effort}", [*plain, "--option", f"effort={effort}", "-o", "out.csv"]
    yield "refined", [*plain, "--method", "mondrian", "--refine", "-o", "out.csv"]
    for model in MODELS:
        for method in ("compact", "mondrian"):
            yield f"model-{model}-{method}", [*plain, "--method", method, "--privacy", model, "-o", "out.csv"]
    people = [*ROLES, REST, "--entity", "person"]
    yield "people", ["anonymize", "people.csv", *people, "-k", "4", "-o", "out.csv"]
    yield "k-map", [*plain, "--privacy", "k-map:8:people.csv", "-o", "out.csv"]
    for suffix in ("parquet", "feather", "csv.gz"):
        yield f"format-{suffix}", [*plain, "-o", f"out.{suffix}"]
    yield "database", [*plain, "-o", "sqlite:///out.db#people"]
    for form in ("bounds", "mean", "median"):
        yield f"form-{form}", [*plain, "--publish", f"age={form}", "-o", "out.csv"]
    rules = ("--hierarchy", "age=intervals:5,10,20", "--hierarchy", "race=flat")
    yield "rules", [*plain, *rules, "-o", "out.csv"]
    blocks = ["--engine", "duckdb", "--block-rows", "400"]
    for method in ("compact", "mondrian", "nh"):
        words = [*plain, *blocks, "--method", method, *keyed.get(method, [])]
        yield f"blocks-{method}", [*words, "-o", "out.csv", "--mapping", "mapping.csv"]
    for model in MODELS[:4]:
        yield f"blocks-{model}", [*plain, *blocks, "--privacy", model, "-o", "out.parquet"]
    yield "report", [*plain, "-o", "out.csv", "--report", "r.json", "--report", "r.html"]
    yield "report-external", [*plain, "-o", "out.csv", "--report", "r.json", "--report-variant", "external"]
    yield "json", [*plain, "-o", "out.csv", "--json"]
    yield "init", ["init", "people.csv", "-o", "coterie.toml"]
    yield "explain", ["explain", "people.csv", *roles, "-k", "5", "--row", "3"]
    yield "risk", ["risk", "people.csv", "--quasi", "age,education,sex", "--json"]
    yield "undecided", ["anonymize", "people.csv", "--quasi", "age", "-o", "out.csv"]
    yield "misspelt", [*plain, "--method", "compct", "-o", "out.csv"]
    yield "too-large", ["anonymize", "people.csv", *roles, "-k", "5000", "-o", "out.csv"]
    for words in ((), ("anonymize",), ("verify",), ("compare",), ("methods",), ("hierarchy", "build")):
        yield f"help-{'-'.join(words)}", [*words, "--help"]
    after = ["--quasi", QUASI]
    yield "then-verify", ["verify", "made.csv", *after, "-k", "5", "--json"]
    yield "then-measure", ["measure", "people.csv", "made.csv", *after, "--queries", "20", "--json"]
    yield "then-attack", ["attack", "people.csv", "made.csv", *after, "--json"]
    yield "compare", ["compare", "people.csv", *roles, "--methods", "compact,mondrian", "--ks", "3,6", "--json"]


def people() -> list[list[str]]:
    """Return the rows of people.csv: Adult's first rows, some of one person each, with some empty cells."""
    import pyarrow.parquet as pq

    table = pq.read_table(ROOT / "src/coterie/datasets/adult.parquet").slice(0, ROWS)
    rows = [[*table.column_names, "person"]]
    for number, row in enumerate(zip(*(column.to_pylist() for column in table.columns), strict=True)):
        cells = ["" if value is None else str(value) for value in row]
        if number % 50 == 0:
            cells[0] = ""
        rows.append([*cells, f"p{number * 7 // 10}"])
    return rows


# One process for all commands of a version: starting Python and loading kernels takes longer than most of them.
PROGRAM = """
import contextlib, json, os, sys, traceback
from coterie import cli
main = getattr(cli, "main", None)
if main is None:
    from coterie.cli.app import main
for folder, words in json.load(sys.stdin):
    os.chdir(folder)
    if "made.csv" in words:
        os.link("../method-compact/out.csv", "made.csv")
    with open("stdout", "w") as out, open("stderr", "w") as err:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words)
            except SystemExit as stop:
                code = stop.code
            except Exception:
                code = traceback.print_exc()
    with open("exit", "w") as file:
        file.write(f"{code}\\n")
"""


def run(source: Path, folder: Path, threads: str, only: str) -> None:
    """Run the commands with one version's source, each in its own folder, and save the output."""
    env = os.environ | {"PYTHONPATH": str(source), "COLUMNS": "100", "COTERIE_THREADS": threads}
    rows, asked = people(), []
    for name, words in chosen(only):
        place = folder / re.sub(r"[^\w.-]", "_", name)
        place.mkdir(parents=True)
        with (place / "people.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        for column in ("education", "marital-status"):
            shutil.copy(ROOT / f"src/coterie/datasets/adult/{column}.csv", place)
        asked.append((str(place.resolve()), words))
    subprocess.run([sys.executable, "-c", PROGRAM], input=json.dumps(asked), text=True, env=env, check=True)


def chosen(only: str) -> list[tuple[str, list[str]]]:
    """Return the commands whose names match a pattern, and the one that made what they read."""
    found = [(name, words) for name, words in cases() if re.search(only, name)]
    if any("made.csv" in words for _, words in found):
        found = list(dict([each for each in cases() if each[0] == "method-compact"] + found).items())
    return found


def calm(content: bytes, folder: Path) -> bytes:
    """Return a file without what differs from run to run."""
    content = content.replace(str(folder).encode(), b"<folder>")
    for pattern, word in NOISE:
        content = pattern.sub(word, content)
    return content


def differences(before: Path, after: Path, pattern: str = "*") -> list[str]:
    """Return files that are in only one folder, or not equal."""
    names = {path.relative_to(root) for root in (before, after) for path in root.rglob(pattern) if path.is_file()}
    found = []
    for name in sorted(names):
        pair = [root / name for root in (before, after)]
        if not all(path.is_file() for path in pair):
            found.append(f"{name}: only {'before' if pair[0].is_file() else 'after'}")
        elif name.suffix not in (".db",) and calm(pair[0].read_bytes(), before) != calm(pair[1].read_bytes(), after):
            found.append(f"{name}: not equal")
    return found


def main() -> int:
    """Compare, and report the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", default="HEAD")
    parser.add_argument("--folder", type=Path, help="keep the files here; what is there already is not made again")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--only", default="", help="a regular expression: only commands whose names match it")
    parser.add_argument("--files", default="*", help="only files like this are compared: out.csv")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = args.folder or Path(made)
        before, after, old = folder / "before", folder / "after", folder / "source"
        if not before.is_dir():
            old.mkdir(parents=True)
            archive = subprocess.run(
                ["git", "archive", args.revision, "src"], cwd=ROOT, check=True, capture_output=True
            )
            subprocess.run(["tar", "-x", "-C", old], input=archive.stdout, check=True)
            run(old / "src", before, args.threads, args.only)
        shutil.rmtree(after, ignore_errors=True)
        run(ROOT / "src", after, args.threads, args.only)
        found = differences(before, after, args.files)
        count = len(chosen(args.only))
        sys.stdout.write("".join(f"{line}\n" for line in found))
        sys.stdout.write(f"{count} commands, {len(found)} files differ\n")
        return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
