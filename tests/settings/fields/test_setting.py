"""A setting, a model and a measure are told once: their words and names stand in one place of the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from coterie.settings.registry import FIELDS, MEASURES, MODELS

SOURCE = Path(__file__).parents[3] / "src" / "coterie"
# Made by scripts/make_docs.py from the fields.
MADE = {"settings/keywords.py"}
# The judge has rules of its own, by the models' names.
JUDGE = {"verification/judge.py", "verification/models.py", "verification/verify.py", "verification/promises.py"}


@pytest.fixture(scope="module")
def places() -> dict[str, set[str]]:
    """Text → the files of the source that hold it as a literal."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found[node.value].add(path.relative_to(SOURCE).as_posix())
    return found


def test_the_words_of_a_setting_stand_in_its_field_only(places):
    pages = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.html"))
    for setting in FIELDS.values():
        own = setting.group.__module__.removeprefix("coterie.").replace(".", "/") + ".py"
        for text in (setting.help, setting.more, setting.why, setting.unless):
            assert not text or places.get(text, {own}) - MADE <= {own}, text
            assert not text or text not in pages, text


def test_no_table_lists_what_settings_say_of_themselves(places):
    """Names that are no words of the language stand in their field, and where one setting by itself is meant."""
    listed = [name for name in FIELDS if "_" in name]
    tables = {
        path
        for path in set().union(*(places[name] for name in listed))
        if sum(path in places[name] for name in listed) > 2
    }
    assert tables == set()


def test_the_name_of_a_model_stands_on_its_class_and_with_the_judge(places):
    for name, model in MODELS.items():
        own = model.__module__.removeprefix("coterie.").replace(".", "/") + ".py"
        assert places[name] - JUDGE <= {own}, name
        for text in (model.meaning, model.not_proved):
            assert places[text] == {own}


def test_the_words_of_a_measure_stand_with_it(places):
    for measure in MEASURES.values():
        assert places[measure.about] == {"measures/losses.py"}


def test_every_setting_says_what_it_is_and_where_it_is_asked_for():
    for name, setting in FIELDS.items():
        assert setting.help.endswith((".", "?")), name
        assert setting.label
        assert setting.screen in ("data", "roles", "hierarchies", "goals", "run")
        assert setting.kind in ("switch", "choice") or setting.placeholder, name
        assert "anonymize" in setting.users
        if setting.kind == "choice":
            assert set(setting.titles) - {""} == set(setting.values), name


@pytest.mark.parametrize("first", ["settings.fields.reporting", "measures.costs", "cli.app"])
def test_settings_have_one_order_whatever_is_imported_first(first):
    code = f"import coterie.{first}; from coterie.settings.registry import FIELDS; print(*FIELDS)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(FIELDS)
