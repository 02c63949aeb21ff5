"""What no row holds does not leave with a release: levels, metadata of fields, the index, attrs."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import coterie
from coterie.errors import ConfigError, DataError
from coterie.files.door import UsedLevels, bare_table

SECRET = "HIV-of-Mr-X"
NOTE = {"note": SECRET}
ROLES = {"quasi": ["age"], "sensitive": ["disease", "visit"], "k": 2, "method": "mondrian"}
# Structs can have no role: they are published as they are.
NESTED = {**ROLES, "sensitive": ["disease"], "keep": ["visit"]}
LEVELS = ["gout", SECRET, "flu", "cold"]


def secret_table(rows=12) -> pa.Table:
    """A sensitive dictionary with a level that no row has, and notes on fields at every depth."""
    disease = pa.DictionaryArray.from_arrays(
        pa.array([(0, 2, 3)[row % 3] for row in range(rows)], pa.int8()), pa.array(LEVELS), ordered=True
    )
    visit = pa.struct(
        [
            pa.field("ward", pa.string(), metadata=NOTE),
            pa.field("days", pa.list_(pa.field("day", pa.int32(), metadata=NOTE))),
        ]
    )
    fields = [
        pa.field("age", pa.int64(), metadata=NOTE),
        pa.field("disease", disease.type, metadata=NOTE),
        pa.field("visit", visit, metadata=NOTE),
    ]
    visits = pa.array([{"ward": "a", "days": [row]} for row in range(rows)], visit)
    return pa.table([pa.array(np.arange(rows) % 5 + 20), disease, visits], schema=pa.schema(fields, metadata=NOTE))


def all_metadata(kind) -> list:
    """The metadata of a schema, a field or a type, and of all inside."""
    found = [kind.metadata] if isinstance(kind, pa.Schema | pa.Field) and kind.metadata else []
    inside = kind if isinstance(kind, pa.Schema) else [kind.type] if isinstance(kind, pa.Field) else []
    if isinstance(kind, pa.DataType):
        inside = [kind.field(at) for at in range(kind.num_fields)]
    return found + [each for one in inside for each in all_metadata(one)]


def stream(table: pa.Table) -> bytes:
    """Everything that a table holds, uncompressed."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def raw_bytes(path) -> bytes:
    """The bytes of a file, and those of its tables uncompressed, with their schemas and dictionaries."""
    found = path.read_bytes()
    if path.suffix == ".parquet":
        file = parquet.ParquetFile(path)
        plain = pa.BufferOutputStream()
        parquet.write_table(file.read(), plain, compression="none")
        stored = (file.metadata.metadata or {}).get(b"ARROW:schema", b"")
        return found + plain.getvalue().to_pybytes() + stored + str(file.schema_arrow).encode() + stream(file.read())
    return found + stream(feather.read_table(path)) if path.suffix == ".feather" else found


def test_arrow_leaves_unused_levels_and_metadata_behind():
    release = coterie.anonymize(secret_table(), **NESTED)
    for table in (release.arrow, release.frame):
        assert SECRET.encode() not in stream(table)
        assert not all_metadata(table.schema)
        disease = table.column("disease")
        assert disease.to_pylist() == secret_table().column("disease").to_pylist()
        assert disease.chunk(0).dictionary.to_pylist() == ["gout", "flu", "cold"]
        assert disease.type.ordered
        assert table.column("visit").to_pylist() == secret_table().column("visit").to_pylist()
    batch = coterie.anonymize(secret_table().combine_chunks().to_batches()[0], **NESTED).frame
    assert SECRET.encode() not in stream(pa.Table.from_batches([batch]))


def test_the_door_drops_metadata_even_if_nobody_has_before():
    table = secret_table().replace_schema_metadata({"note": SECRET})
    assert SECRET in str(table.schema.metadata)
    bare = bare_table(table)
    assert not bare.schema.metadata
    assert not all_metadata(bare.schema)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "feather"])
@pytest.mark.parametrize("source", ["table", "parquet", "feather"])
def test_files_hold_nothing_that_no_row_holds(tmp_path, source, ending):
    table = secret_table() if "csv" not in ending else secret_table().drop_columns("visit")
    data = table
    if source != "table":
        data = tmp_path / f"in.{source}"
        (parquet.write_table if source == "parquet" else feather.write_feather)(table, data)
        assert SECRET.encode() in raw_bytes(data)
    out = tmp_path / f"out.{ending}"
    coterie.anonymize(data, **(ROLES | {"sensitive": "disease"} if "csv" in ending else NESTED), output=out)
    assert SECRET.encode() not in raw_bytes(out)


def test_databases_hold_nothing_that_no_row_holds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the settings go there
    place = f"sqlite:///{tmp_path}/out.db#people"
    coterie.anonymize(secret_table().drop_columns("visit"), quasi="age", sensitive="disease", k=2, output=place)
    assert SECRET.encode() not in (tmp_path / "out.db").read_bytes()


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("source", ["parquet", "feather"])
def test_blocks_leave_it_behind_too(tmp_path, monkeypatch, source, ending):
    from coterie.engines.blocks import run as blocks_run

    monkeypatch.setattr(blocks_run, "STRIPE_ROWS", 16)
    table = secret_table(90)
    order = [2] * 40 + [0, 3] * 25  # a level that only later stripes have, and that the dictionary lists first
    disease = pa.DictionaryArray.from_arrays(pa.array(order, pa.int8()), pa.array(LEVELS), ordered=True)
    table = table.set_column(1, table.field("disease"), disease).drop_columns("visit")
    data, out = tmp_path / f"in.{source}", tmp_path / f"out.{ending}"
    (parquet.write_table if source == "parquet" else feather.write_feather)(table, data)
    roles = {"quasi": ["age"], "sensitive": ["disease"], "k": 2, "method": "mondrian"}
    release = coterie.anonymize(data, **roles, engine="blocks", block_rows=30, output=out)
    assert release.blocks > 1
    assert SECRET.encode() not in raw_bytes(out)
    assert release.arrow.column("disease").to_pylist() == disease.to_pylist()
    if ending == "feather":
        found = feather.read_table(out)
        assert not all_metadata(found.schema)
        assert found.column("disease").type.ordered
        assert found.column("disease").chunk(0).dictionary.to_pylist() == ["gout", "flu", "cold"]


def test_blocks_leave_metadata_of_nested_fields_behind(tmp_path):
    parquet.write_table(secret_table(90), tmp_path / "in.parquet")
    coterie.anonymize(
        tmp_path / "in.parquet", **NESTED, engine="blocks", block_rows=30, output=tmp_path / "out.parquet"
    )
    assert not all_metadata(parquet.read_schema(tmp_path / "out.parquet"))
    assert SECRET.encode() not in raw_bytes(tmp_path / "out.parquet")


def pandas_secrets() -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "age": [20, 21, 22, 20, 21, 22],
            "disease": pd.Categorical(["flu", "gout", None] * 2, categories=["gout", SECRET, "flu"], ordered=True),
            "visit": pd.array([1, 2, None] * 2, dtype="Int64"),
        },
        index=pd.Index([SECRET, *"bcdef"], name=SECRET),
    )
    frame.columns.name = SECRET
    frame.attrs[SECRET] = SECRET
    return frame


def test_pandas_leaves_levels_index_attrs_and_names_behind():
    release = coterie.anonymize(pandas_secrets(), **ROLES)
    found = release.frame
    assert found.index.equals(pd.RangeIndex(6))
    assert found.index.name is None
    assert found.columns.name is None
    assert found.attrs == {}
    assert all(found[name].attrs == {} for name in found)
    assert list(found["disease"].cat.categories) == ["gout", "flu"]
    assert found["disease"].cat.ordered
    assert SECRET not in found.to_csv()
    assert SECRET.encode() not in stream(release.arrow)


def test_pandas_keeps_its_index_on_request_without_what_only_removed_rows_had():
    frame = pandas_secrets()
    kept = coterie.anonymize(frame, **ROLES, keep_index=True).frame
    assert kept.index.equals(frame.index)
    assert kept.columns.name is None
    gone = np.arange(6) == 0
    ways = {**ROLES, "suppressed": "remove", "suppress_rows": gone, "keep_index": True}
    for index in (
        frame.index,
        pd.CategoricalIndex(frame.index),
        pd.MultiIndex.from_arrays([frame.index, range(6)]),
    ):
        found = coterie.anonymize(frame.set_axis(index, axis=0), **ways).frame.index
        assert len(found) == 5
        listed = found.levels[0] if isinstance(found, pd.MultiIndex) else found
        assert SECRET not in list(getattr(listed, "categories", listed))
    assert coterie.anonymize(frame, **{**ways, "keep_index": False}).frame.index.equals(pd.RangeIndex(5))


@pytest.mark.parametrize("data", [pl.DataFrame({"age": [1, 1]}), pa.table({"age": [1, 1]}), "people.csv"])
def test_only_pandas_has_an_index_to_keep(data):
    with pytest.raises(ConfigError, match="keep_index: only a pandas frame"):
        coterie.anonymize(data, quasi="age", k=2, keep_index=True)


def test_polars_leaves_levels_behind():
    frame = pl.DataFrame(
        {
            "age": [20, 21, 22, 20, 21, 22],
            "disease": pl.Series(["flu", "gout", None] * 2, dtype=pl.Enum(["gout", SECRET, "flu"])),
            "visit": pl.Series(["x", "y", "x"] * 2, dtype=pl.Categorical),
        }
    )
    release = coterie.anonymize(frame, **ROLES)
    found = release.frame
    assert found.schema["disease"] == pl.Enum(["gout", "flu"])
    assert found["disease"].to_list() == frame["disease"].to_list()
    assert found.schema["visit"] == pl.Categorical
    assert SECRET.encode() not in stream(found.to_arrow())
    assert SECRET.encode() not in stream(release.arrow)


def test_assigned_rows_leave_it_behind_too():
    plain = secret_table().drop_columns("visit")
    roles = {"quasi": ["age"], "sensitive": ["disease"], "k": 2}
    placed = coterie.anonymize(plain, **roles).assign(plain)
    assert SECRET.encode() not in stream(placed.arrow)


def dictionary(levels=LEVELS) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 2], pa.int8()), pa.array(levels))


INSIDE = {
    "list": lambda: pa.ListArray.from_arrays(pa.array([0, 2, 4]), dictionary()),
    "struct": lambda: pa.StructArray.from_arrays([dictionary()], ["level"]),
    "map": lambda: pa.MapArray.from_arrays(pa.array([0, 4]), pa.array(list("abcd")), dictionary()),
    "two dictionaries": lambda: pa.chunked_array([dictionary(), dictionary(["x", *LEVELS[1:]])]),
    "nothing but missing": lambda: pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([SECRET])),
}


@pytest.mark.parametrize("make", INSIDE.values(), ids=INSIDE)
def test_dictionaries_wherever_they_are(make):
    table = pa.table({"column": make()})
    found = bare_table(table)
    found.validate(full=True)
    assert found.to_pydict() == table.to_pydict()
    assert SECRET.encode() not in stream(found)


def test_dictionaries_that_cannot_be_taken_apart_are_refused():
    runs = pa.RunEndEncodedArray.from_arrays([2, 4], dictionary().slice(0, 2))
    with pytest.raises(DataError, match="'column' has dictionaries inside another type") as caught:
        bare_table(pa.table({"column": runs}))
    assert SECRET not in str(caught.value)


def test_a_column_taken_out_of_a_bare_table_carries_nothing_either():
    note = {"note": SECRET}
    inner = pa.struct([pa.field("ward", pa.string(), metadata=note)])
    table = pa.table({"visit": pa.array([{"ward": "a"}, None], inner)})
    column = bare_table(table).column("visit")
    assert column.type.field(0).metadata is None
    assert column.chunk(0).type.field(0).metadata is None
    assert SECRET.encode() not in pickle.dumps(column)


def test_levels_of_pieces_with_other_dictionaries_are_joined():
    """A file has one dictionary: what each piece of the release uses, in order, and nothing else."""

    def piece(indices, levels):
        return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(levels))])

    first, same = piece([0, 2, None], ["flu", SECRET, "gout"]), piece([2], ["flu", SECRET, "gout"])
    other, empty = piece([1, 2], [SECRET, "gout", "cold"]), piece([], ["flu", "x"])
    found = UsedLevels.none(first.type)
    for each in (empty, first, same, other, empty):
        found = found.joined(each)
    assert found.used.to_pylist() == ["flu", "gout", "cold"]


def test_polars_leaves_levels_behind_where_nothing_is_missing_and_rows_are_left_out():
    frame = pl.DataFrame(
        {
            "age": [20, 20, 21, 21, 90],
            "disease": pl.Series(
                ["flu", "gout", "flu", "gout", SECRET], dtype=pl.Enum(["gout", "flu", SECRET, "cold"])
            ),
            "visit": ["a", "b", "c", "d", SECRET],
        }
    )
    roles = {"quasi": ["age"], "sensitive": ["disease"], "keep": ["visit"], "k": 2, "method": "mondrian"}
    suppress = [False] * 4 + [True]
    found = coterie.anonymize(frame, **roles, suppress_rows=suppress, suppressed="remove").frame
    assert found.schema["disease"] == pl.Enum(["gout", "flu"])
    assert found["visit"].to_list() == ["a", "b", "c", "d"]
    assert SECRET.encode() not in stream(found.to_arrow())
