"""Results that people look at are tables: in a notebook, and as frames."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

import coterie
from coterie.cli.app import as_options
from coterie.wording import Tabular

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
