"""The small faults that mutants.py plants: a turned comparison, `and` for `or`, a number plus one, a check left out."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parent.parent / "src" / "coterie"

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
# Whether lengths are compared and copies allowed: nothing depends on it while the program is right.
_SWITCHES = ("strict", "zero_copy_only")


class Mutant(NamedTuple):
    """One possible fault."""

    file: str
    """below src/coterie"""
    name: str
    """the same as long as the function is: `judge.py rows_fault: <= for < (2)`"""
    lines: range
    """where it stands"""
    tree: ast.Module
    node: ast.AST
    replacement: ast.AST

    @property
    def module(self) -> str:
        """The module that it is planted into."""
        return "coterie." + self.file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")

    @property
    def function(self) -> str:
        """The function or class that it stands in."""
        return self.name.removeprefix(f"{self.file} ").partition(":")[0]

    @property
    def source(self) -> str:
        """The file with the fault."""
        return _replaced(self.tree, self.node, self.replacement)

    @property
    def rank(self) -> str:
        """A number by which samples are drawn: the same everywhere, whatever other faults there are."""
        return hashlib.sha256(self.name.encode()).hexdigest()


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
        found.append(Mutant(file, name, lines, tree, node, replacement))
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
                if isinstance(child, ast.keyword) and child.arg in _SWITCHES:
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
