"""Whatever is planted where no row shows it: it leaves with no frame, file or database, from no engine."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted import FLAT, PLACES, ROWS, SECRET, all_bytes, as_input, frame_bytes, planted_table

import coterie

ROLES = {"quasi": ["age"], "sensitive": ["disease"], "identifiers": ["name"], "keep": ["gap", "word"]}
SETTINGS = {**ROLES, "k": 3, "method": "mondrian", "missing_values": [], "suppressed": "remove"}
OUTPUTS = ("frame", "csv", "tsv", "csv.gz", "parquet", "feather", "sqlite")
FRAMES = ("arrow", "pandas", "polars")
FILES = ("parquet", "feather", "xlsx", "sqlite")
IN_BLOCKS = ("csv", "csv.gz", "parquet", "feather", "folder/")


def released(folder, data, output, places, **more):
    """All bytes of a release, its settings and mapping aside: those are internal."""
    more = {**SETTINGS, **more, "keep": [*SETTINGS["keep"], *(["deep"] if "nested" in places else [])]}
    suppress = np.arange(ROWS) == ROWS - 1
    if output == "frame":
        return frame_bytes(coterie.anonymize(data, suppress_rows=suppress, **more).frame)
    out = folder / f"out.{output}" if output != "folder/" else folder / "out"
    place = f"sqlite:///{out}#released" if output == "sqlite" else f"{out}/" if output == "folder/" else out
    coterie.anonymize(data, suppress_rows=suppress, output=place, **more)
    return all_bytes(out)


@pytest.mark.parametrize("kind", [*FRAMES, *FILES])
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.sets(st.sampled_from(PLACES), min_size=1), output=st.sampled_from(OUTPUTS))
def test_nothing_that_no_row_shows_leaves_from_memory(tmp_path_factory, monkeypatch, kind, places, output):
    folder = tmp_path_factory.mktemp("door")
    monkeypatch.chdir(folder)  # settings of a database go there
    places = {each for each in places if each != "nested" or not {kind, output} & {*FLAT}}
    data = as_input(planted_table(places), kind, folder)
    assert SECRET.encode() not in released(folder, data, output, places)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.sets(st.sampled_from(PLACES), min_size=1), output=st.sampled_from(IN_BLOCKS))
def test_nothing_that_no_row_shows_leaves_from_blocks(tmp_path_factory, monkeypatch, kind, places, output):
    folder = tmp_path_factory.mktemp("door")
    places = {each for each in places if each != "nested" or output not in FLAT}
    data = as_input(planted_table(places), kind, folder)
    assert SECRET.encode() not in released(folder, data, output, places, engine="blocks", block_rows=9)


@pytest.mark.parametrize("engine", [{}, {"engine": "blocks", "block_rows": 9}], ids=["memory", "blocks"])
@pytest.mark.parametrize("output", ["parquet", "feather"])
def test_nothing_inside_structs_leaves(tmp_path, engine, output):
    data = as_input(planted_table({"nested"}), output, tmp_path)
    assert SECRET.encode() not in released(tmp_path, data, output, {"nested"}, **engine)


@pytest.mark.parametrize("place", PLACES)
def test_each_place_holds_its_secret_before(tmp_path, place):
    """Otherwise the tests above would look for nothing."""
    table = planted_table({place})
    if place == "extension":
        assert SECRET.encode() in table.column("word").type.__arrow_ext_serialize__()
        return
    assert SECRET.encode() in frame_bytes(table)
    assert SECRET.encode() not in frame_bytes(planted_table(set()))
