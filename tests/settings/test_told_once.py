"""What is to be said of a setting or a privacy model is said in one place of the source, and nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from coterie.files.databases.place import DATABASES
from coterie.files.formats import FORMATS
from coterie.settings.registry import FIELDS, MEASURES, MODELS

SOURCE = Path(__file__).parents[2] / "src" / "coterie"
MADE = "settings/keywords.py"  # by scripts/make_docs.py, from the settings

TERM = "k-anonymity"
NAMES_OF_MODELS = {
    "verification": "the judge decides each model by rules of its own, so it knows them by name",
}
OPTIONS = {
    "cli/commands/compare.py": "`compare` takes several k and models, by options of its own",
    "cli/commands/demo.py": "`demo` has settings of its own and takes k only",
    "cli/commands/compile.py": "`compile` takes several methods",
}
TABLES = {
    "cli/complete.py": "the three settings whose values are neither listed nor free",
    "cli/run.py": "keys of the summary in JSON",
    "reporting/hide.py": "the settings whose values may hold cells, which only their readers can tell",
    "settings/roles.py": "the roles themselves",
    "suggesting/names.py": "guesses at roles",
    "suggesting/toml.py": "the order of roles in a suggested file",
    "web/goals/routes.py": "the fields at the top of the screen",
    "web/run/job.py": "keys of the result of a run",
    "hierarchies/spec.py": "how the file of a hierarchy is read",
}
CHOICES = {
    "files/formulas.py": "files stand below settings",
    "values/numbers.py": "values stand below settings",
    "publishing/labels.py": "the functions that publish, by the choice",
    "reporting/sentences.py": "what a report says of each choice",
}


@cache
def modules() -> dict[str, ast.Module]:
    found = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in found.items() if name != MADE}


def literals(tree: ast.Module) -> Iterator[str]:
    """Every text of a module but for docstrings."""
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def collections(tree: ast.Module) -> Iterator[set[str]]:
    """The texts of every tuple, list, set and mapping that is spelled out."""
    for node in ast.walk(tree):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        yield {each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def home(model: type) -> str:
    return model.__module__.removeprefix("coterie.").replace(".", "/") + ".py"


def allowed(module: str, exceptions: dict[str, str]) -> bool:
    return any(module == each or module.startswith(f"{each}/") for each in exceptions)


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_is_named_in_its_own_module_only(name):
    """Also within longer texts, except for the term k-anonymity, and examples of how a model is written."""
    example = re.compile(r"[a-z]+-[a-z]+:[0-9.]+")
    texts = {module: [example.sub("", text) for text in literals(tree)] for module, tree in modules().items()}
    where = {
        module
        for module, all_texts in texts.items()
        if any(name == text or (name != TERM and name in text) for text in all_texts)
    }
    assert home(MODELS[name]) in where
    assert [each for each in where if each != home(MODELS[name]) and not allowed(each, NAMES_OF_MODELS)] == []


def test_options_of_settings_are_spelled_by_nobody():
    options = {each.option for each in FIELDS.values()}
    found = {module for module, tree in modules().items() if options & set(literals(tree))}
    assert found == set(OPTIONS)


def test_no_other_tables_of_settings():
    """A table by the names of settings holds a fact about them that should stand with each of them."""
    names = set(FIELDS)
    found = {module for module, tree in modules().items() if any(len(each & names) > 2 for each in collections(tree))}
    assert found == set(TABLES)


@pytest.mark.parametrize("name", [name for name, each in FIELDS.items() if len(each.values) > 1])
def test_the_choices_of_a_setting_are_listed_once(name):
    choices = set(FIELDS[name].values)
    own = FIELDS[name].group.__module__.removeprefix("coterie.").replace(".", "/") + ".py"
    found = {module for module, tree in modules().items() if any(choices <= each for each in collections(tree))}
    assert [each for each in found if each != own and not allowed(each, CHOICES)] == []


def test_texts_about_settings_models_measures_and_formats_stand_once():
    facts = [fact for each in FIELDS.values() for fact in (each.help, each.more, each.why, each.unless) if fact]
    facts += [getattr(each, fact) for each in MODELS.values() for fact in ("meaning", "not_proved", "paper")]
    facts += [fact for each in MEASURES.values() for fact in (each.about, each.formula, each.silent) if " " in fact]
    facts += [each.example for each in DATABASES.values()]
    facts += [each.keeps for each in FORMATS.values() if "keeps" in vars(each)]
    texts = [text for tree in modules().values() for text in literals(tree)]
    # Short ones, such as "suppressed rows", are words that any sentence may have.
    long = [fact for fact in dict.fromkeys(facts) if len(fact) > 32]
    twice = [fact for fact in long if sum(fact.rstrip(".") in text for text in texts) > 1]
    assert twice == []
