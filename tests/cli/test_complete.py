"""What the shell offers when Tab is pressed."""

import os
import subprocess
import sys

import pytest

from coterie.cli import complete
from coterie.methods import all_methods
from coterie.settings.config import Config
from coterie.settings.registry import FIELDS, MODELS


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("coterie anonymize people.csv --method k", {"kaca", "kmembers"}),
        ("coterie anonymize people.csv --missing ", {"category", "suppress", "error"}),
        ("coterie anonymize people.csv --leaf-counts ", {"present", "hierarchy"}),
        ("coterie anonymize people.csv --release-model p", {"public"}),
        ("coterie anonymize people.csv --report-variant ", {"internal", "external"}),
        ("coterie verify out.csv --privacy l", {"l-diversity:"}),
        ("coterie risk out.csv --threshold s", {"strict"}),
        ("coterie compare people.csv --methods kaca,k", {"kaca,kmembers"}),
        ("coterie methods top", {"top-down"}),
        ("coterie demo --method mon", {"mondrian"}),
        ("coterie com", {"compare", "compile"}),
    ],
)
def test_choices_complete_in_bash(typed, offered):
    words = typed.split(" ")
    env = {"_COTERIE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "coterie.cli"], env=os.environ | env, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert set(done.stdout.split()) == offered


def test_choices_are_those_of_the_settings():
    assert complete.method("") == list(all_methods())
    assert complete.privacy("") == [f"{name}:" for name in MODELS]
    for name in ("missing", "leaf_counts", "suppressed", "engine", "release_model"):
        offered = complete.of(FIELDS[name])("")
        assert len(offered) > 1
        for value in offered:
            assert getattr(Config(quasi=["a"], **{name: value}), name) == value
