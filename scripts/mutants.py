"""Mutation testing: plant small faults one at a time; a test that reaches the place must fail.

    python scripts/mutants.py                     all files of TARGETS
    python scripts/mutants.py verification/rows   some of them
    python scripts/mutants.py --changed           only lines that differ from the commit MUTANTS_BASE; none without it

A fault is one change of the syntax tree: a reversed comparison, `and` for `or`, a number plus one, a removed check.
First all tests of a file run once to record the lines that each of them reaches. Then every fault is tried in
its own process, forked from one that has loaded the large libraries, by the tests that reach its line, the
fastest first; the first failure ends it. The file itself is never written: the process gets another source.

A surviving fault is a hole in the tests, or has no visible effect. The latter are listed with the reason
in tests/mutants.toml; any other survivor, and any reason for a fault that is gone or caught, exits with code 1.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from mutants_run import Trial, covered, first_failure

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "coterie"
REASONS = ROOT / "tests" / "mutants.toml"
SLOWEST = 40.0
"""seconds that a fault may take beyond what its tests take without it: endless loops are noticed, too"""

# What is worth it: whether a promise holds, what is published, and files that appear whole or not at all.
TARGETS = {
    "verification/*.py": ("tests/verification",),
    "privacy/*.py": ("tests/privacy",),
    "publishing/*.py": ("tests/publishing",),
    "values/notation.py": ("tests/values/test_notation.py", "tests/publishing", "tests/verification/test_verify.py"),
    "files/[do][oeu]*.py": (
        "tests/files/test_door.py",
        "tests/files/test_destinations.py",
        "tests/files/test_output.py",
    ),
    "files/frames.py": ("tests/files/test_frames.py", "tests/files/test_door.py"),
}

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_TWINS = {"min": "max", "max": "min", "all": "any", "any": "all", "minimum": "maximum", "maximum": "minimum"}
_TYPES = ("annotation", "returns", "type_params", "decorator_list")


class Mutant(NamedTuple):
    """One possible fault."""

    file: str
    """below src/coterie"""
    name: str
    """the same as long as the function is: `judge.py rows_fault: <= for < (2)`"""
    lines: range
    """where it stands"""
    source: str


def mutants_of(path: Path) -> list[Mutant]:
    """Return every fault of a file, in line order."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    file = path.relative_to(SOURCE).as_posix()
    found, seen = [], dict[str, int]()
    for where, node, replacement, what in _changes(tree):
        base = f"{file} {where}: {what}"
        seen[base] = seen.get(base, 0) + 1
        name = base if seen[base] == 1 else f"{base} ({seen[base]})"
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        found.append(Mutant(file, name, lines, _replaced(tree, node, replacement)))
    return found


def _changes(tree: ast.Module) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.AST, str]]:
    """Yield (function, node, replacement, description)."""

    def walk(node: ast.AST, where: str) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.AST, str]]:
        for field, value in ast.iter_fields(node):
            if field in _TYPES:
                continue
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST) or _is_docstring(child) or _is_for_types(child):
                    continue
                inner = where
                if isinstance(child, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                    inner = child.name if where == "module" else f"{where}.{child.name}"
                if isinstance(child, ast.expr | ast.stmt):
                    for replacement, what in _faults(child):
                        yield inner, child, replacement, what
                yield from walk(child, inner)

    yield from walk(tree, "module")


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_for_types(node: ast.AST) -> bool:
    """Return whether a statement is only for type checkers or imports, or a message, which tests need not repeat."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    return isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr) or (
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )


def _faults(node: ast.expr | ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    """Yield the replacements of a node."""
    if isinstance(node, ast.Compare):
        for at, sign in enumerate(node.ops):
            if (other := _COMPARISONS.get(type(sign))) is not None:
                signs = [*node.ops[:at], other(), *node.ops[at + 1 :]]
                yield ast.Compare(node.left, signs, node.comparators), f"{other.__name__} for {type(sign).__name__}"
    elif isinstance(node, ast.BoolOp):
        other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other_op, node.values), f"{type(other_op).__name__} for {type(node.op).__name__}"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        yield node.operand, f"without {type(node.op).__name__}"
    elif isinstance(node, ast.BinOp) and (sign := _ARITHMETIC.get(type(node.op))) is not None:
        if not any(isinstance(side, ast.JoinedStr) for side in (node.left, node.right)):
            yield ast.BinOp(node.left, sign(), node.right), f"{sign.__name__} for {type(node.op).__name__}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value), f"{not node.value} for {node.value}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1), f"{node.value + 1} for {node.value}"
    elif isinstance(node, ast.Call):
        yield from _other_call(node)
    elif isinstance(node, ast.Raise | ast.Expr | ast.Continue | ast.Break):
        yield ast.Pass(), f"without {ast.unparse(node).splitlines()[0][:50]}"
    elif isinstance(node, ast.IfExp):
        yield node.body, "always the first"
        yield node.orelse, "always the second"


def _other_call(node: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if (twin := _TWINS.get(name)) is not None:
        call = copy.deepcopy(node)
        if isinstance(call.func, ast.Attribute):
            call.func.attr = twin
        elif isinstance(call.func, ast.Name):
            call.func.id = twin
        yield call, f"{twin} for {name}"


def _replaced(tree: ast.Module, node: ast.AST, replacement: ast.AST) -> str:
    """Return the source with one node replaced, keeping line numbers where possible."""

    class Replace(ast.NodeTransformer):
        def visit(self, each: ast.AST) -> ast.AST:
            if each is node:
                return ast.copy_location(replacement, node)
            fields = {}
            for field, value in ast.iter_fields(each):
                if isinstance(value, list):
                    fields[field] = [self.visit(one) if isinstance(one, ast.AST) else one for one in value]
                else:
                    fields[field] = self.visit(value) if isinstance(value, ast.AST) else value
            return ast.copy_location(type(each)(**fields), each)

    return ast.unparse(ast.fix_missing_locations(Replace().visit(tree)))


def changed_lines(base: str) -> dict[str, set[int]]:
    """Return file below src/coterie → its lines that differ from a commit."""
    asked = ["git", "-C", str(ROOT), "diff", "--unified=0", "--no-color", base, "--", "src/coterie"]
    found: dict[str, set[int]] = {}
    file = ""
    for line in subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith("+++ "):
            file = line[4:].removeprefix("b/src/coterie/")
        elif line.startswith("@@"):
            start, _, many = line.split(" ")[2].removeprefix("+").partition(",")
            found.setdefault(file, set()).update(range(int(start), int(start) + int(many or 1)))
    return found


def tests_of(file: str) -> tuple[str, tuple[str, ...]]:
    """Return the files that share these tests, and the tests."""
    return next((pattern, tests) for pattern, tests in TARGETS.items() if fnmatch(file, pattern))


class Result(NamedTuple):
    """The result of a file."""

    tried: int
    survivors: list[str]
    left: int
    """faults for which there was no time"""


def try_file(file: str, wanted: Callable[[Mutant], bool], *, jobs: int, until: float) -> Result:
    """Plant the selected faults of a file, one after another."""
    path = SOURCE / file
    mutants = [each for each in mutants_of(path) if wanted(each)]
    if not mutants:
        return Result(0, [], 0)
    module = "coterie." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    pattern, wanted_tests = tests_of(file)
    tests, failed = covered(sorted(SOURCE.glob(pattern)), wanted_tests)
    if failed:
        sys.exit(f"{file}: tests fail without any fault: {', '.join(failed[:3])}")

    def survives(mutant: Mutant) -> bool | None:
        if time.monotonic() > until:
            return None
        reached = sorted((test for test in tests if test.reaches(path, mutant.lines)), key=lambda test: test.seconds)
        limit = SLOWEST + 5 * sum(test.seconds for test in reached)
        return not reached or not first_failure(Trial(module, mutant.source), [test.name for test in reached], limit)

    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(survives, mutants))
    survivors = [mutant.name for mutant, survived in zip(mutants, found, strict=True) if survived]
    return Result(sum(each is not None for each in found), survivors, found.count(None))


def main(arguments: Sequence[str] | None = None) -> int:
    """Try faults; return 0 if every survivor has a reason."""
    parser = argparse.ArgumentParser(description="Plant small faults and see whether tests notice.")
    parser.add_argument("files", nargs="*", help="such as verification/rows; all when left out")
    parser.add_argument("--changed", action="store_true", help="only lines that differ from MUTANTS_BASE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=24 * 60.0, help="stop then, and say what was left out")
    options = parser.parse_args(arguments)
    os.environ.setdefault("HYPOTHESIS_PROFILE", "mutants")
    until = time.monotonic() + 60 * options.minutes
    found = sorted(path.relative_to(SOURCE).as_posix() for pattern in TARGETS for path in SOURCE.glob(pattern))
    files = [file for file in found if not options.files or any(file.startswith(each) for each in options.files)]
    base = os.environ.get("MUTANTS_BASE", "")
    if options.changed and not base:
        print("No faults are planted: MUTANTS_BASE names no commit to compare with.")
        return 0
    lines = changed_lines(base) if options.changed else None
    reasons: dict[str, str] = tomllib.loads(REASONS.read_text(encoding="utf-8")) if REASONS.exists() else {}
    tried, left, holes, stale = 0, 0, [], []
    for file in files:
        if lines is not None and file not in lines:
            continue

        def wanted(mutant: Mutant, file: str = file) -> bool:
            return lines is None or not lines[file].isdisjoint(mutant.lines)

        result = try_file(file, wanted, jobs=options.jobs, until=until)
        tried, left = tried + result.tried, left + result.left
        holes += [name for name in result.survivors if name not in reasons]
        if lines is None and not result.left:
            stale += [name for name in reasons if name.startswith(f"{file} ") and name not in result.survivors]
        print(f"{file}: {result.tried} faults, {len(result.survivors)} unnoticed", flush=True)
        for name in result.survivors:
            print(f"  {'(has a reason) ' if name in reasons else ''}{name}", flush=True)
    for name in stale:
        print(f"has a reason in {REASONS.name}, but is gone or noticed: {name}")
    print(f"{tried} faults tried, {len(holes)} unnoticed without a reason" + (f", {left} not tried" if left else ""))
    return 1 if holes or stale else 0


if __name__ == "__main__":
    sys.exit(main())
