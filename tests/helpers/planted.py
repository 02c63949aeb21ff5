"""Secrets in every place of a table where no row shows them, and all bytes in which one could leave."""

import gzip
import json
import pickle
import sqlite3
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import feather, ipc, parquet

SECRET = "HIV-of-Mr-X"
ROWS = 24
PLACES = ("level", "beneath", "field", "nested", "schema", "pandas", "extension", "removed", "identifier")
"""places of an Arrow table; frames, workbooks and databases have more of their own"""
FLAT = ("csv", "tsv", "csv.gz", "xlsx", "sqlite")
"""inputs and outputs that have no room for structs"""


class Marked(pa.ExtensionType):
    """A type that carries a note."""

    def __init__(self):
        super().__init__(pa.string(), "tests.marked")

    def __arrow_ext_serialize__(self):
        return SECRET.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


def planted_table(places):
    """A table of 24 rows; the last one is suppressed on request."""
    rng = np.random.default_rng(0)
    note = {"note": SECRET}
    levels = pa.array(["flu", "gout", *([SECRET] if "level" in places else [])])
    disease = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 2, ROWS), pa.int8()), levels)
    gone = np.arange(ROWS) % 5 == 1
    texts = [SECRET if "beneath" in places and gone[at] else f"text {at % 3}" for at in range(ROWS)]
    whole = pa.array(texts)
    beneath = pa.Array.from_buffers(
        pa.string(), ROWS, [pa.py_buffer(np.packbits(~gone, bitorder="little").tobytes()), *whole.buffers()[1:]]
    )
    words = [SECRET if "removed" in places and at == ROWS - 1 else f"word {at % 4}" for at in range(ROWS)]
    word = pa.array(words)
    if "extension" in places:
        word = pa.ExtensionArray.from_storage(Marked(), word)
    names = [f"{SECRET} {at}" if "identifier" in places else f"person {at}" for at in range(ROWS)]
    columns = {"name": pa.array(names), "age": pa.array(rng.integers(20, 40, ROWS)), "disease": disease}
    columns |= {"gap": beneath, "word": word}
    if "nested" in places:
        columns["deep"] = _nested(note)
    fields = [pa.field(name, each.type, metadata=note if "field" in places else None) for name, each in columns.items()]
    about = {"note": SECRET} if "schema" in places else {}
    about |= (
        {"pandas": json.dumps({"index_columns": [], "columns": [], "creator": SECRET})} if "pandas" in places else {}
    )
    return pa.table(list(columns.values()), schema=pa.schema(fields, metadata=about or None))


def _nested(note):
    """Structs whose fields carry a note, with texts beneath missing ones and levels that no row uses."""
    inner = pa.DictionaryArray.from_arrays(pa.array(np.arange(ROWS) % 2, pa.int8()), pa.array(["a", "b", SECRET]))
    fields = [pa.field("level", inner.type, metadata=note), pa.field("text", pa.string(), metadata=note)]
    gone = pa.array(np.arange(ROWS) % 7 == 2)
    texts = pa.array([SECRET if each else "plain" for each in gone.to_pylist()])
    return pa.StructArray.from_arrays([inner, texts], fields=fields, mask=gone)


def as_input(table, kind, folder):
    """The table as a frame or a file, with further secrets where only such a one has room."""
    plain = pa.table({name: storage(table.column(name)) for name in table.column_names})
    if kind == "pandas":
        frame = plain.to_pandas()
        frame.index = pd.Index([f"{SECRET} {at}" for at in range(len(frame))], name=SECRET)
        frame.columns.name = SECRET
        frame.attrs["note"] = SECRET
        return frame
    if kind == "polars":
        return pl.from_arrow(plain)
    if kind == "arrow":
        return table
    path = folder / f"in.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "feather":
        feather.write_feather(table, path)
    elif kind == "xlsx":
        _workbook(plain, path)
    elif kind == "sqlite":
        with sqlite3.connect(path) as held:
            held.execute(f"CREATE TABLE people (name TEXT, age INTEGER, disease TEXT, gap TEXT, word TEXT) -- {SECRET}")
            held.execute(f"CREATE TABLE other AS SELECT '{SECRET}' AS note")
            cells = zip(*(plain.column(name).to_pylist() for name in plain.column_names), strict=True)
            held.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", list(cells))
        held.close()
        return f"sqlite:///{path}#people"
    return path


def storage(column):
    """Return a column as what it is stored as."""
    if isinstance(column.type, pa.ExtensionType):
        return pa.chunked_array([chunk.storage for chunk in column.chunks])
    return column


def _workbook(table, path):
    from openpyxl import Workbook
    from openpyxl.comments import Comment

    book = Workbook()
    sheet = book.active
    sheet.append(table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        sheet.append(row)
    sheet["A1"].comment = Comment(SECRET, SECRET)
    book.properties.title = book.properties.creator = SECRET
    book.create_sheet("hidden")["A1"] = SECRET
    book.save(path)


def all_bytes(path):
    """The bytes of a file or a folder, and everything in it unpacked."""
    if path.is_dir():
        return b"".join(all_bytes(each) for each in sorted(path.iterdir()))
    found = path.read_bytes()
    if path.suffix == ".gz":
        return found + gzip.decompress(found)
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as members:
            return found + b"".join(members.read(name) for name in members.namelist())
    if path.suffix == ".parquet":
        file = parquet.ParquetFile(path)
        groups = [file.metadata.row_group(at).to_dict() for at in range(file.num_row_groups)]
        stored = (file.metadata.metadata or {}).get(b"ARROW:schema", b"")
        return found + stored + repr([groups, file.metadata.to_dict()]).encode() + stream(file.read())
    return found + stream(feather.read_table(path)) if path.suffix == ".feather" else found


def stream(table):
    """Everything that a table holds, uncompressed, with all of its memory."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    memory = [
        buffer.to_pybytes()
        for column in table.columns
        for chunk in column.chunks
        for buffer in chunk.buffers()
        if buffer
    ]
    return sink.getvalue().to_pybytes() + b"".join(memory)


def frame_bytes(frame):
    """A frame as another process would get it."""
    found = pickle.dumps(frame)
    return (
        found + stream(frame)
        if isinstance(frame, pa.Table)
        else found + stream(frame.to_arrow())
        if isinstance(frame, pl.DataFrame)
        else found + repr((frame.attrs, frame.index, frame.columns)).encode()
    )
