"""Whatever is planted where no row shows it: it leaves with no frame, file or database, from no engine."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted import PLACES, ROWS, SECRET, all_bytes, as_input, frame_bytes, planted_table

import coterie

ROLES = {"quasi": ["age"], "sensitive": ["disease"], "identifiers": ["name"], "keep": ["gap", "word"]}
SETTINGS = {**ROLES, "k": 3, "method": "mondrian", "missing_values": [], "suppressed": "remove"}
OUTPUTS = ("frame", "csv", "tsv", "csv.gz", "parquet", "feather", "sqlite")
FRAMES = ("arrow", "pandas", "polars")
FILES = ("parquet", "feather", "xlsx", "sqlite")
IN_BLOCKS = ("csv", "csv.gz", "parquet", "feather", "folder/")


def released(folder, data, output, **more):
    """All bytes of a release, its settings and mapping aside: those are internal."""
    suppress = np.arange(ROWS) == ROWS - 1
    if output == "frame":
        return frame_bytes(coterie.anonymize(data, **SETTINGS, suppress_rows=suppress, **more).frame)
    out = folder / f"out.{output}" if output != "folder/" else folder / "out"
    place = f"sqlite:///{out}#released" if output == "sqlite" else f"{out}/" if output == "folder/" else out
    coterie.anonymize(data, **SETTINGS, suppress_rows=suppress, output=place, **more)
    return all_bytes(out)


@pytest.mark.parametrize("kind", [*FRAMES, *FILES])
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.sets(st.sampled_from(PLACES), min_size=1), output=st.sampled_from(OUTPUTS))
def test_nothing_that_no_row_shows_leaves_from_memory(tmp_path_factory, monkeypatch, kind, places, output):
    folder = tmp_path_factory.mktemp("door")
    monkeypatch.chdir(folder)  # settings of a database go there
    data = as_input(planted_table(places), kind, folder)
    assert SECRET.encode() not in released(folder, data, output)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.sets(st.sampled_from(PLACES), min_size=1), output=st.sampled_from(IN_BLOCKS))
def test_nothing_that_no_row_shows_leaves_from_blocks(tmp_path_factory, monkeypatch, kind, places, output):
    folder = tmp_path_factory.mktemp("door")
    data = as_input(planted_table(places), kind, folder)
    assert SECRET.encode() not in released(folder, data, output, engine="blocks", block_rows=9)


@pytest.mark.parametrize("place", PLACES)
def test_each_place_holds_its_secret_before(tmp_path, place):
    """Otherwise the tests above would look for nothing."""
    table = planted_table({place})
    if place == "extension":
        assert SECRET.encode() in table.column("word").type.__arrow_ext_serialize__()
        return
    assert SECRET.encode() in frame_bytes(table)
    assert SECRET.encode() not in frame_bytes(planted_table(set()))
