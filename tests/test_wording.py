"""Texts use one set of terms, and results that people look at are tables: in a notebook, and as frames."""

from __future__ import annotations

import ast
import io
import re
import tokenize
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
    r"\bcannot be had\b": "infeasible, or not available",
    r"\bfound by itself\b": "detected",
    r"\b(?:chosen|opens?|works?) by itself\b": "automatically",
    r"\btaken? away\b": "download, or remove",
    r"\btaken? up again\b": "resume",
    r"\b(?:run|runs|goes|went|go) on (?:where|with it|and gives)\b": "continue, or resume",
    r"\bthe run goes on\b": "continues",
    r"\bunder way\b": "in progress",
    r"\bmay hold values of the data\b": "may contain data values",
    r"\bholds? (?:the |a |no |every )?(?:cells?|values?|numbers?|data|names|texts?|columns?)\b": "contain",
    r"\b[Mm]ade-up\b": "synthetic",
    r"\banew\b": "again",
    r"\bmend(?:s|ed|ing)?\b": "fix, or repair",
    r"\b(?:is|are) no (?:values?|group|numbers?|dates?|tree|address|random sample|spreadsheets?|fault)\b": "not a …",
    r"\b(?:value|column|key|process|page|form|code|class|box(?:es)?|run|folder) of (?:its|their) own\b": "separate",
    r"\bfault of coterie\b": "bug in coterie",
    r"\bstands? (?:beside|there|above|under|in|at|on|right)\b": "is next to, above, under, in, …",
    r"\bbeside (?:the|a|it|them|its|their|what|k|each)\b": "next to, with, in addition to",
    r"\b[Bb]eside (?:it|them) stands?\b": "coterie also writes …",
    r"\btold (?:by|apart|of|in|once)\b": "shown by, distinguished, informed, reported",
    r"\btells? (?:more|little|something|nothing|together)\b": "reveals",
    r"\bwhat (?:it|they|was|others) (?:asks?|asked) for\b": "request",
    r"\basks? for less\b": "relax the guarantee",
    r"\bgiv(?:es?|en|ing) (?:it |them |values |more )?away\b": "reveal",
    r"\bkeeps? (?:every|its|their|all|a|the) (?:promises?|guarantees?)\b": "satisfy",
    r"\bpromises? (?:beyond|about|that)\b": "guarantee",
    r"\b(?:slow|python|plain) twins?\b": "reference implementation, or oracle",
    r"\blinking attack\b": "linkage attack",
    r"\bfits? the memory\b": "fit into memory",
    r"\bthe local page\b": "the web app",
    r"\b[Rr]ecipes?\b": "configuration",
    r"\bthe usual one\b": "the default",
    r"\bdear(?:est|er)?\b": "expensive, or with the highest loss",
    r"\bparted?\b": "split, or separate",
    r"\bheed(?:s|ed)?\b": "take into account",
    r"\bslip of the pen\b": "typo",
    r"\b(?:in|at) (?:the )?place of (?:intervals|rows|people|leaves|a path)\b": "instead of",
    r"\b(?:row|line|value|query|object|class|node|container|method) a (?:line|row|node|class|container|page)\b": "per",
    r"\b(?:as it is now|as it was sent|as they stand)\b": "current, or unchanged",
    r"\bunless said otherwise\b|\bwhen nothing is said\b|\bwhen left out\b": "by default",
    r"\bfrom elsewhere\b": "from another tool, or external",
    r"\b[Oo]nly then is the file given its name\b": "renamed to its final name",
    r"\bclosest common ancestor\b": "lowest common ancestor",
    r"\b(?:so many|as many) rows as\b.{0,40}\bwould do\b": "be enough",
    r"\bby dark\b|\blight and dark by\b": "dark mode",
    r"\bput (?:side by side|methods)\b": "compare",
    r"\bhalls?\b|\brooms\b": "a term of the field",
    r"(?<!on )\bso many (?:rows|columns|cells|places|rounds|distinct)\b": "this many",
    r"\b[Ww]hoever (?:asks|reads|changes|knows|had|held)\b": "anyone who, the caller, the reader",
    r"\bhas had enough\b": "cancellation",
    r"\bworked out\b": "computed, or applied",
}
# One spelling in prose: British -our and -re, but -ize, as in the API.
AMERICAN = re.compile(r"\b(?:colored|neighbors?|neighboring|behavior|centers?|favor|labeled|canceled)\b")
PROSE = re.compile(r"\b\w+(?:alise|alised|alises|ising|isation|nymise|nymised|ecognised?)\b", re.IGNORECASE)
RISING = re.compile(r"\b(?:\w*r|prom|adv|exerc|rev|superv|surpr|comprom|prec|pro?m)ising\b", re.IGNORECASE)
ROOT = SOURCE.parent.parent
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))


def source_strings():
    """Every text in the source but docstrings, and the templates without their tags."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                yield f"{path.name}:{node.lineno}", node.value
    for path in [*SOURCE.rglob("templates/*.html"), *SOURCE.rglob("templates/*.jinja")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.name}:{number}", re.sub(r"<[^>]*>|{#.*?#}|{%.*?%}|{{.*?}}", " ", line)


def source_prose():
    """Every docstring and comment of the source, without code."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found = [
            (node.lineno, node.value.value)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ]
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        found += [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
        for number, prose in found:
            yield f"{path.name}:{number}", re.sub(r"`[^`]*`", " ` ", " ".join(prose.split()))


def page_paragraphs(path):
    """The paragraphs of a page, each as one line, without code."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\n(?=[*|#-]|\d+\. )", text):
        prose = re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>", " ` ", " ".join(paragraph.split()))
        yield f"{path.name}: {prose[:40]}", prose


def findings(texts):
    """Every banned phrase and second spelling in some texts."""
    for place, text in texts:
        if " " not in text:
            continue
        for pattern, instead in BANNED.items():
            if match := re.search(pattern, text):
                yield f"{place}: {match[0]!r}, write {instead}"
        spelled = AMERICAN.search(text) or next((m for m in PROSE.finditer(text) if not RISING.fullmatch(m[0])), None)
        if spelled and not re.search(r"\w\|\w", text):
            yield f"{place}: {spelled[0]!r}, spell it as the other texts do"


def test_messages_and_templates_use_the_terms_of_the_field_and_one_spelling():
    found = list(findings(source_strings()))
    assert not found, "\n".join(found)


def test_docstrings_and_comments_use_the_terms_of_the_field_and_one_spelling():
    found = list(findings(source_prose()))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_use_the_terms_of_the_field_and_one_spelling(path):
    found = list(findings(page_paragraphs(path)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "Beside it stands a file.",
        "The run is taken up\nagain after a crash.",
        "such a release cannot be had",
        "The made-up census has ten columns.",
        "Cells are generalised.",
        "Its neighbors are near.",
        "Edit the Recipe.",
        "Which column gives values away",
        "Up to so many rows are read.",
    ],
)
def test_a_planted_phrase_is_found(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\nSome words, and `code that cannot be had`.\n\n* {text}\n")
    assert len(list(findings(page_paragraphs(page)))) == 1


def test_code_on_a_page_is_not_prose(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Text.\n\n```python\n# made-up rows, anew\n```\n\nThe measure `fully_generalised` counts rows.\n")
    assert not list(findings(page_paragraphs(page)))


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
