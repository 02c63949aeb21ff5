"""Frames in and out: the same kind comes back, with its dtypes, and the caller's is never changed."""

import datetime
import decimal
from contextlib import suppress

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

import coterie
from coterie.errors import DataError
from coterie.files import tables as cio


def pandas_frame() -> pd.DataFrame:
    """A column of every dtype that people use."""
    return pd.DataFrame(
        {
            "int": np.array([3, 1, 2], dtype="int16"),
            "float": [1.5, np.nan, 2.0],
            "text": ["a", None, "c"],
            "string": pd.array(["a", pd.NA, "c"], dtype="string"),
            "nullable": pd.array([1, None, 2**60 + 1], dtype="Int64"),
            "bool": [True, False, True],
            "maybe": pd.array([True, None, False], dtype="boolean"),
            "ordered": pd.Categorical(["lo", "hi", None], categories=["lo", "mid", "hi"], ordered=True),
            "arrow": pd.array(["x", None, "z"], dtype=pd.ArrowDtype(pa.string())),
            "arrow_int": pd.array([1, None, 3], dtype=pd.ArrowDtype(pa.int32())),
            "moment": pd.to_datetime(["2024-01-01", None, "2024-03-01"]),
            "zoned": pd.to_datetime(["2024-01-01", None, "2024-03-01"]).tz_localize("Europe/Berlin"),
            "day": [datetime.date(2024, 1, 1), None, datetime.date(2024, 3, 1)],
            "money": [decimal.Decimal("1.50"), None, decimal.Decimal("2.25")],
            "delta": pd.to_timedelta([1, 2, None], unit="D"),
            "lists": [[1, 2], [], None],
        }
    )


INDEXES = {
    "range": pd.RangeIndex(5, 8),
    "shuffled": pd.Index([2, 0, 1]),
    "duplicated": pd.Index(["x", "x", "y"], name="label"),
    "levels": pd.MultiIndex.from_tuples([("a", 1), ("b", 1), ("a", 1)], names=["one", None]),
    "dates": pd.DatetimeIndex(["2024-01-01", "2023-01-01", None]),
    "columns_too": pd.Index([1, 2, 3], name="int"),
}


@pytest.mark.parametrize("index", INDEXES)
def test_pandas_comes_back_with_its_index_and_dtypes(index):
    frame = pandas_frame().set_axis(INDEXES[index], axis=0)
    frame.columns.name = "columns"
    before = frame.copy(deep=True)
    source = cio.read(frame)
    assert source.kind == "pandas"
    back = cio.to_native(source.table, source, keep_index=True)
    assert back is not frame
    assert_frame_equal(back, before.rename_axis(columns=None), check_freq=False)
    assert back.columns.name is None
    assert_frame_equal(cio.to_native(source.table, source), before.reset_index(drop=True).rename_axis(columns=None))
    # Whatever is done to the result, the caller's frame stays.
    back.iloc[:, 0] = 0
    back["bool"].to_numpy(copy=False)
    assert_frame_equal(frame, before)


@pytest.mark.parametrize("index", INDEXES)
def test_pandas_with_rows_left_out(index):
    frame = pandas_frame().set_axis(INDEXES[index], axis=0)
    source = cio.read(frame)
    kept = np.array([0, 2])
    table, left = source.table.take(kept).drop_columns(["text"]), frame.iloc[[0, 2]].drop(columns="text")
    assert_frame_equal(cio.to_native(table, source, kept=kept, keep_index=True), left, check_freq=False)
    assert_frame_equal(cio.to_native(table, source, kept=kept), left.reset_index(drop=True))
    with pytest.raises(ValueError, match="say which rows are kept"):
        cio.to_native(source.table.take(kept), source)


def test_the_memory_of_the_callers_frame_is_not_shared():
    frame = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0]})
    source = cio.read(frame)
    back = cio.to_native(source.table, source)
    assert not np.shares_memory(back["a"].to_numpy(), frame["a"].to_numpy())
    assert not np.shares_memory(back["b"].to_numpy(), frame["b"].to_numpy())


def test_later_changes_of_the_callers_frame_do_not_reach_what_was_read():
    frame = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0], "c": ["x", "y"]})
    source = cio.read(frame)
    frame.loc[:, "a"] = 9
    frame.loc[0, "c"] = "z"
    with suppress(ValueError):  # pandas 3 refuses by itself
        frame["b"].to_numpy()[:] = 9
    assert source.table.to_pydict() == {"a": [1, 2], "b": [1.0, 2.0], "c": ["x", "y"]}
    assert cio.to_native(source.table, source)["c"].tolist() == ["x", "y"]


def test_changed_pandas_columns_keep_the_family_of_their_dtype():
    frame = pandas_frame()
    source = cio.read(frame)
    wide = pa.array(["[1-3]", None, "[1-3]"])
    table = source.table
    for name in ("int", "text", "string", "ordered", "arrow", "maybe"):
        table = table.set_column(table.column_names.index(name), name, wide)
    table = table.append_column("int_min", pa.array([1, None, 2**60 + 1]))
    table = table.append_column("int_mean", pa.array([1.5, None, 2.5]))
    back = cio.to_native(table, source)
    assert back["int"].tolist()[::2] == ["[1-3]", "[1-3]"]
    assert back["int"].isna().tolist() == [False, True, False]
    assert back["int"].dtype == back["text"].dtype == frame["text"].dtype
    assert isinstance(back["string"].dtype, pd.StringDtype)
    assert isinstance(back["maybe"].dtype, pd.StringDtype)
    assert list(back["ordered"].cat.categories) == ["[1-3]"]
    assert not back["ordered"].cat.ordered
    assert back["arrow"].dtype == pd.ArrowDtype(pa.string())
    assert back["int_min"].tolist() == [1, pd.NA, 2**60 + 1]
    assert back["int_mean"].dtype == "float64"


def test_recoded_columns_hide_which_kind_of_missing_a_row_had():
    frame = pd.DataFrame(
        {
            "text": pd.Series([None, np.nan, pd.NA, "x"], dtype=object, index=list("dcba")),
            "kind": pd.Categorical(["a", None, "a", "c"], categories=["c", "b", "a"], ordered=True),
            "n": [1, 2, 3, 4],
        },
        index=list("dcba"),
    )
    source = cio.read(frame)
    back = cio.to_native(source.table, source, recoded=["text", "kind", "n"])
    assert back["text"].tolist() == [None, None, None, "x"]
    assert back["text"].dtype == object
    # Categories that no row has would tell what was there before; the order of the others stays.
    assert list(back["kind"].cat.categories) == ["c", "a"]
    assert back["kind"].cat.ordered
    assert back["n"].dtype == "int64"
    assert list(back.index) == [0, 1, 2, 3]
    untouched = cio.to_native(source.table, source)
    assert untouched["text"].iloc[2] is pd.NA


@pytest.mark.parametrize("dtype", [None, object, "string", "string[python]", "string[pyarrow]"])
def test_text_comes_back_in_its_dtype_with_its_kind_of_missing(dtype):
    frame = pd.DataFrame({"text": pd.Series(["a", None, "c"], dtype=dtype)})
    source = cio.read(frame)
    for back in (cio.to_native(source.table, source), cio.to_native(source.table, source, recoded=["text"])):
        assert back["text"].dtype == frame["text"].dtype
        assert back["text"].iloc[1] is frame["text"].iloc[1]
    wide = cio.to_native(pa.table({"text": ["*", None, "*"]}), source, recoded=["text"])
    assert wide["text"].dtype == frame["text"].dtype
    assert wide["text"].iloc[1] is frame["text"].iloc[1]


def polars_frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "int": pl.Series([3, 1, None], dtype=pl.Int8),
            "float": [1.5, float("nan"), None],
            "text": ["a", None, "c"],
            "kind": pl.Series(["a", None, "c"], dtype=pl.Categorical),
            "enum": pl.Series(["lo", "hi", None], dtype=pl.Enum(["lo", "hi"])),
            "day": [datetime.date(2024, 1, 1), None, datetime.date(2024, 3, 1)],
            "moment": pl.Series([datetime.datetime(2024, 1, 1), None, None], dtype=pl.Datetime("ms", "UTC")),
            "money": pl.Series([decimal.Decimal("1.50"), None, None], dtype=pl.Decimal(10, 2)),
            "lists": [[1], [], None],
        }
    )


def test_polars_comes_back():
    frame = polars_frame()
    source = cio.read(frame)
    assert source.kind == "polars"
    assert cio.to_native(source.table, source).equals(frame)
    kept = np.array([2, 0])
    back = cio.to_native(source.table.take(kept), source, kept=kept)
    assert back.equals(frame[[2, 0]])
    assert back.schema == frame.schema


def test_changed_polars_columns():
    frame = polars_frame()
    source = cio.read(frame)
    table = source.table
    for name in ("int", "kind", "enum"):
        table = table.set_column(table.column_names.index(name), name, pa.array(["[1-3]", None, "*"]))
    back = cio.to_native(table, source)
    assert back["int"].to_list() == ["[1-3]", None, "*"]
    assert back["int"].dtype == pl.String
    assert back["kind"].dtype == pl.Categorical
    assert back["enum"].cast(pl.String).to_list() == ["[1-3]", None, "*"]
    assert back["money"].dtype == frame["money"].dtype


def test_lazy_frames_are_collected():
    source = cio.read(polars_frame().lazy().filter(pl.col("int") > 1))
    assert source.kind == "polars"
    back = cio.to_native(source.table, source)
    assert isinstance(back, pl.DataFrame)
    assert back["int"].to_list() == [3]


def test_duckdb_relations_come_back_as_arrow():
    connection = duckdb.connect()
    relation = connection.sql("select range as a, 'x' || range as b from range(3)")
    source = cio.read(relation)
    assert source.table.to_pydict() == {"a": [0, 1, 2], "b": ["x0", "x1", "x2"]}
    assert isinstance(cio.to_native(source.table, source), pa.Table)


def test_a_query_that_fails_shows_no_values():
    connection = duckdb.connect()
    relation = connection.sql("select cast(x as int) as x from (values ('1'), ('SECRET')) t(x)")
    with pytest.raises(DataError, match="could not be collected") as caught:
        cio.read(relation)
    assert "SECRET" not in str(caught.value)


def test_pyarrow_comes_back(people):
    source = cio.read(people)
    assert cio.to_native(people, source) is people
    batch = people.to_batches()[0]
    source = cio.read(batch)
    back = cio.to_native(source.table, source)
    assert isinstance(back, pa.RecordBatch)
    assert back.equals(batch)


def test_anything_that_streams_arrow(people):
    class Streams:
        def __arrow_c_stream__(self, requested_schema=None):
            return people.__arrow_c_stream__(requested_schema)

    assert cio.read(Streams()).table.equals(people)


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (pd.DataFrame(), "the pandas frame has no columns"),
        (pd.DataFrame(index=[1, 2]), "the pandas frame has no columns"),
        (pd.DataFrame({"a": []}), "has a header but no rows"),
        (pl.DataFrame(), "the Polars frame has no columns"),
        (pl.DataFrame({"a": []}), "has a header but no rows"),
        (pa.table({}), "the PyArrow table has no columns"),
        (pa.table({"a": pa.array([], pa.string())}), "has a header but no rows"),
        (pd.DataFrame([[1, 2]]), r"2 of the 2 columns have names that are not text.*frame.columns.map\(str\)"),
        (pd.DataFrame([[1, 2]], columns=["a", 7]), "1 of the 2 columns has a name that is not text"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "not text"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), r"columns 1 and 3 \('a'\) have the same name"),
        (pa.table([[1], [2]], names=["a", "a"]), r"columns 1 and 2 \('a'\) have the same name"),
        (pd.DataFrame({"a": ["SECRET", 7]}), "Column 'a' contains values of several types"),
        (pd.DataFrame({"a": [7, "SECRET"]}), "Column 'a' contains values of several types"),
        (pd.DataFrame({"a": [object(), object()]}), "or Python objects"),
        (pd.DataFrame({"a": pd.Categorical(["SECRET", 1])}), "Column 'a' contains values of several types"),
        (pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}), "Column 'a' contains"),
        ([1, 2], "A list is not a table"),
        ({"a": ["SECRET"]}, "A dict is not a table"),
        (pd.Series(["SECRET"]), "A Series is not a table"),
        (pa.array(["SECRET"]), "A StringArray is not a table"),
        (pl.Series(["SECRET"]), "A Series is not a table"),
        (None, "A NoneType is not a table"),
        (np.zeros(3), "A ndarray is not a table"),
    ],
)
def test_what_is_no_table(frame, problem):
    with pytest.raises(DataError, match=problem) as caught:
        cio.read(frame)
    assert "SECRET" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_that_polars_did_not_have_are_made():
    """Bounds take the place of their column: two that the caller's frame knows nothing of."""
    frame = pl.DataFrame({"age": [20, 21, 40, 41], "disease": ["flu", "gout", "flu", "gout"]})
    roles = {"quasi": ["age"], "sensitive": ["disease"], "k": 2, "method": "mondrian", "publish": {"age": "bounds"}}
    found = coterie.anonymize(frame, **roles).frame
    assert found.columns == ["age_min", "age_max", "disease"]
    assert found["age_max"].to_list() == [21, 21, 41, 41]
