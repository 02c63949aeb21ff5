"""What lies in the memory of missing cells is not published: whatever the type, the engine and the format."""

import struct

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc

import coterie
from coterie.files.door import bare_table

SECRET = b"HIV-of-X"  # eight bytes: a text, a number and a float alike
ROWS = 12
VALID = [at % 3 != 1 for at in range(ROWS)]


def bits(flags):
    return pa.py_buffer(np.packbits(np.array(flags), bitorder="little").tobytes())


def planted():
    """Columns with the secret beneath every null."""
    number = struct.unpack("<q", SECRET)[0]
    cells = pa.py_buffer(b"".join(struct.pack("<q", at) if ok else SECRET for at, ok in enumerate(VALID)))
    offsets = pa.py_buffer(np.arange(0, 8 * ROWS + 1, 8, dtype=np.int32).tobytes())
    texts = pa.py_buffer(b"".join(b"%08d" % at if ok else SECRET for at, ok in enumerate(VALID)))
    index = pa.Array.from_buffers(pa.int8(), ROWS, [bits(VALID), pa.py_buffer(bytes(at % 2 for at in range(ROWS)))])
    inner = pa.array([number if not ok else 1 for ok in VALID], pa.int64())
    return {
        "whole": pa.Array.from_buffers(pa.int64(), ROWS, [bits(VALID), cells]),
        "float": pa.Array.from_buffers(pa.float64(), ROWS, [bits(VALID), cells]),
        "moment": pa.Array.from_buffers(pa.timestamp("ns"), ROWS, [bits(VALID), cells]),
        "text": pa.Array.from_buffers(pa.string(), ROWS, [bits(VALID), offsets, texts]),
        "level": pa.DictionaryArray.from_arrays(index, pa.array(["a", "b"])),
        "nested": pa.StructArray.from_arrays([inner], ["in"], mask=pa.array([not ok for ok in VALID])),
        "listed": pa.ListArray.from_arrays(
            pa.array(np.arange(ROWS + 1, dtype=np.int32)), inner, mask=pa.array([not ok for ok in VALID])
        ),
    }


def held(table):
    """All bytes of a table's memory."""
    found = []

    def look(array):
        found.extend(buffer.to_pybytes() for buffer in array.buffers() if buffer is not None)
        if pa.types.is_dictionary(array.type):
            look(array.dictionary)

    for column in table.columns:
        for chunk in column.chunks:
            look(chunk)
    return b"".join(found)


@pytest.mark.parametrize("name", sorted(planted()))
def test_the_door_keeps_what_lies_beneath_nulls(name):
    table = pa.table({name: planted()[name]})
    bare = bare_table(table)
    assert bare.equals(table)
    if name == "level":
        shown = bare.column(0).chunk(0).indices
        assert set(np.frombuffer(shown.buffers()[1], np.int8, ROWS)[~np.array(VALID)].tolist()) == {0}
        return
    assert SECRET in held(table)
    assert SECRET not in held(bare)
    assert bare_table(table.slice(2, 7)).equals(table.slice(2, 7))
    assert SECRET not in held(bare_table(table.slice(2, 7)))


@pytest.mark.parametrize("engine", ["memory", "blocks"])
@pytest.mark.parametrize("name", ["whole", "float", "text", "level"])
def test_no_release_holds_it(tmp_path, engine, name):
    table = pa.table({"age": [at // 4 for at in range(ROWS)], name: planted()[name]})
    feather.write_feather(table, tmp_path / "in.feather", compression="uncompressed")
    asked = {"quasi": ["age"], "keep": [name], "k": 3, "method": "mondrian", "engine": engine}
    release = coterie.anonymize(tmp_path / "in.feather", output=tmp_path / "out.feather", **asked)
    with ipc.open_file(tmp_path / "out.feather") as file:
        written = file.read_all()
    assert written.column(name).to_pylist() == table.column(name).to_pylist()
    assert SECRET not in held(written)
    assert SECRET not in held(release.arrow)


def test_a_polars_frame_comes_back_without_what_lies_beneath_its_nulls():
    frame = pl.from_arrow(pa.table({"age": list(range(ROWS)), "whole": planted()["whole"]}))
    assert SECRET in held(frame.to_arrow())
    shown = coterie.anonymize(frame, quasi=["age"], keep=["whole"], k=3).frame
    assert shown["whole"].equals(frame["whole"], null_equal=True)
    assert SECRET not in held(shown.to_arrow())
