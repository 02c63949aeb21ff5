"""Texts use one set of terms, and results that people look at are tables: in a notebook, and as frames."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import coterie
from coterie.cli.app import as_options
from coterie.wording import Tabular

SOURCE = Path(coterie.__file__).parent
ROWS = 24
TABLE = pa.table({"age": [20 + i % 12 for i in range(ROWS)], "<ill>": ["a<b" if i % 2 else "c" for i in range(ROWS)]})
SETTINGS = {"quasi": ["age"], "sensitive": ["<ill>"]}


@pytest.fixture(scope="module")
def results() -> dict[str, Tabular]:
    release = coterie.anonymize(TABLE, **SETTINGS, k=3, method="mondrian")
    return {
        "Verification": release.verification,
        "Verdict": release.verdict,
        "Measures": release.measures,
        "Risk": coterie.risk(TABLE, quasi=["age"]),
        "Attack": coterie.attack(release.frame, TABLE, config=release.config),
        "Comparison": coterie.compare(TABLE, **SETTINGS, methods="mondrian", k=[2, 3], queries=0),
    }


@pytest.mark.parametrize("name", ["Verification", "Verdict", "Measures", "Risk", "Attack", "Comparison"])
def test_a_result_is_a_frame_and_a_table(results, name):
    found = results[name]
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == len(found.records()) > 0
    assert list(frame.columns) == list(found.records()[0])
    shown = found._repr_html_()
    assert f"<caption>{name}</caption>" in shown
    assert shown.count("<tr>") == len(frame) + 1
    assert "<ill>" not in shown  # names of columns are data to a page
    assert "a<b" not in shown


def test_what_is_shown_is_what_was_found(results):
    measures = results["Measures"]
    assert (
        dict(zip(measures.to_frame()["measure"], measures.to_frame()["value"], strict=True))["gcp"] == measures["gcp"]
    )
    assert results["Verification"].to_frame()["passed"].all()
    risk = results["Risk"].to_frame().set_index("attacker")
    assert risk.loc["prosecutor", "highest"] == results["Risk"].prosecutor.highest


def test_messages_speak_python_and_the_command_line_its_own_language(tmp_path):
    release = coterie.anonymize(TABLE, **SETTINGS, k=3, method="mondrian")
    (tmp_path / "out.csv").write_text("")
    with pytest.raises(coterie.ConfigError, match="force=True") as caught:
        release.write(tmp_path / "out.csv")
    assert "--force" in as_options(str(caught.value))
    assert as_options("use keep_index=True") == "use --keep-index"


# Home-made terms and translated phrases, with what to write instead: user-facing text uses the field's terms.
BANNED = {
    r"cannot be had": "infeasible, or not available",
    r"found by itself": "detected",
    r"take(?:n)? away": "download, or remove",
    r"may hold values of the data": "may contain data values",
    r"made-up": "synthetic",
    r"\banew\b": "again",
    r"\bmend(?:s|ed)?\b": "fix",
    r"are no (?:values|group)\b": "are not …",
    r"a value of (?:its|their) own": "a separate value",
    r"fault of coterie": "bug in coterie",
}
# One spelling in prose: British -our and -re, but -ize, as in the API.
AMERICAN = re.compile(r"\b(?:colored|neighbors?|neighboring|behavior|centers?|favor|labeled|canceled)\b")
PROSE = re.compile(r"\b\w+(?:alise|alised|ising|isation|nymise|nymised)\b", re.IGNORECASE)


def source_strings():
    """Every text in the source but docstrings, and the templates without their tags."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                yield f"{path.name}:{node.lineno}", node.value
    for path in [*SOURCE.rglob("templates/*.html"), *SOURCE.rglob("templates/*.jinja")]:
        yield path.name, re.sub(r"<[^>]*>|{#.*?#}", " ", path.read_text(encoding="utf-8"))


def test_texts_use_the_terms_of_the_field_and_one_spelling():
    found = [
        f"{place}: {match[0]!r}, write {instead}"
        for place, text in source_strings()
        for pattern, instead in BANNED.items()
        if " " in text and (match := re.search(pattern, text))
    ]
    found += [
        f"{place}: {match[0]!r}"
        for place, text in source_strings()
        if " " in text and "|" not in text and (match := AMERICAN.search(text) or PROSE.search(text))
    ]
    assert not found, "\n".join(found)


def test_functions_say_what_they_do():
    """Ruff's D401 refuses many nouns; this one the words that begin a noun clause."""
    nouns = {"How", "What", "Where", "Which", "Why", "One", "Every", "All", "Rows", "Row", "Its", "Told"}
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
                marks = " ".join(map(ast.unparse, node.decorator_list))
                if text.split()[0] in nouns and "property" not in marks:
                    found.append(f"{path.name}:{node.lineno}: {text.splitlines()[0]}")
    assert not found, "\n".join(found)
