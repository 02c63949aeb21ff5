"""Cells that a spreadsheet would run: escaped, read back as they were, or refused."""

import csv

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.errors import ConfigError, DataError
from coterie.files.formulas import read_safely, written_safely

CELLS = st.text(alphabet="'=+-@\t\r\n5.ae", max_size=6) | st.none()


@given(
    cells=st.lists(CELLS, min_size=1, max_size=8), large=st.booleans(), kind=st.sampled_from(["plain", "dictionary"])
)
def test_escaped_cells_come_back_and_none_is_run(cells, large, kind):
    column = pa.array(cells, pa.large_string() if large else pa.string())
    table = pa.table({"c": column.dictionary_encode() if kind == "dictionary" else column, "n": [-5] * len(cells)})
    written = written_safely(table, "escape")
    assert read_safely(written, "escape").column("c").to_pylist() == cells
    for cell in written.column("c").to_pylist():
        if cell and cell[0] in "=+-@\t\r\n":
            float(cell.replace(",", "."))
    assert written.column("n").to_pylist() == [-5] * len(cells)
    assert written_safely(table, "keep") is table


def people(rows=60):
    return pd.DataFrame(
        {
            "age": [20 + at % 30 for at in range(rows)],
            "note": ["=1+1", "-5", "+49 30", "@x", "plain", "'=y"] * (rows // 6),
            "city": ["=A", "-B", "C"] * (rows // 3),
        }
    )


SETTINGS = {"quasi": ["age", "city"], "sensitive": ["note"], "k": 3, "method": "mondrian"}


@pytest.mark.parametrize("engine", ["memory", "blocks"])
def test_releases_are_escaped_verified_and_measured(tmp_path, engine):
    people().to_parquet(tmp_path / "in.parquet")
    where = {"engine": "blocks", "output": tmp_path / "out.csv"} if engine == "blocks" else {}
    release = coterie.anonymize(tmp_path / "in.parquet", **SETTINGS, formulas="escape", **where)
    if engine == "memory":
        release.write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert {row[1] for row in rows[1:]} == {"'=1+1", "-5", "'+49 30", "'@x", "plain", "''=y"}
    assert not any(cell.startswith(("=", "@")) for row in rows for cell in row)
    config = release.config
    assert coterie.verify(tmp_path / "out.csv", config=config, k=3).passed
    measured = coterie.measure(tmp_path / "in.parquet", tmp_path / "out.csv", config=config)
    assert measured["gcp"] == pytest.approx(release.measures["gcp"])
    assert measured["outside"] == 0


@pytest.mark.parametrize("engine", ["memory", "blocks"])
def test_formulas_can_be_refused(tmp_path, engine):
    people().to_parquet(tmp_path / "in.parquet")
    where = {"engine": "blocks", "output": tmp_path / "out.csv"} if engine == "blocks" else {}
    with pytest.raises(DataError, match=r"'note' has .* cells that a spreadsheet would run"):
        coterie.anonymize(tmp_path / "in.parquet", **SETTINGS, formulas="refuse", **where).write(tmp_path / "out.csv")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.parquet"]
    coterie.anonymize(tmp_path / "in.parquet", **SETTINGS, formulas="refuse").write(tmp_path / "out.parquet")


def test_names_of_columns_cannot_be_escaped(tmp_path):
    table = people().rename(columns={"note": "=note"})
    release = coterie.anonymize(table, **{**SETTINGS, "sensitive": ["=note"]}, formulas="escape")
    with pytest.raises(ConfigError, match="names of 1 columns"):
        release.write(tmp_path / "out.csv")
