"""Delimited text, written from Arrow tables."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.files import csv_out
from coterie.files.csv_out import Repeated, csv_stream
from coterie.files.dialect import Dialect

TEXTS = st.none() | st.sampled_from(["", "a", 'say "b"', "c, d", "two\nlines", "NA", "é€", "2–3", " "])
DIALECTS = st.builds(
    Dialect,
    delimiter=st.sampled_from([",", ";"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from(["minimal", "all"]),
    quoted_columns=st.sets(st.sampled_from(["a", "b", "c", "d", "e"])).map(frozenset),
    missing_values=st.sampled_from([("",), ("NA", "")]),
    missing=st.sampled_from(["", "NA"]),
)


def written(table, dialect, repeated=None):
    return b"".join(bytes(each) for each in csv_stream([table], table.column_names, dialect, repeated))


@given(st.data(), DIALECTS)
def test_repeated_cells_are_written_as_those_of_every_row(data, dialect):
    groups = data.draw(st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 9), TEXTS), min_size=1, max_size=4))
    of_row = data.draw(st.lists(st.integers(0, len(groups) - 1), min_size=4 * len(groups) + 4, max_size=40))
    own = data.draw(st.lists(TEXTS, min_size=len(of_row), max_size=len(of_row)))
    a, b, c, e = zip(*(groups[at] for at in of_row), strict=True)
    # Numbers are not put together with text, and d separates what is left of it.
    columns = {"a": a, "b": b, "c": c, "d": own, "e": e}
    table = pa.table(
        {name: pa.array(cells, pa.int64() if name == "c" else pa.string()) for name, cells in columns.items()}
    )
    table = table.select(data.draw(st.permutations(table.column_names)))
    cut = data.draw(st.integers(0, len(of_row)))
    table = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    repeated = Repeated(frozenset("abce"), np.array(of_row, dtype=np.int32))
    assert written(table, dialect, repeated) == written(table, dialect)


def test_repeated_cells_are_written_once(monkeypatch):
    rows = np.repeat(np.arange(10, dtype=np.int32), 20)
    texts = [f"group {at}, first" for at in range(10)]
    table = pa.table({"a": pa.array(texts).take(pa.array(rows)), "b": pa.array(texts).take(pa.array(rows))})
    seen, quote = [], csv_out._quoted
    monkeypatch.setattr(
        csv_out, "_quoted", lambda column, *given, **more: seen.append(len(column)) or quote(column, *given, **more)
    )
    written(table, Dialect(), Repeated(frozenset("ab"), rows))
    assert sum(seen) == 2 + 2 * 10  # names, and the cells of ten groups


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_with_hardly_any_rows(rows):
    table = pa.table({"a": pa.array(["x"] * rows, pa.string()), "b": pa.array(["y"] * rows, pa.string())})
    repeated = Repeated(frozenset("ab"), np.zeros(rows, dtype=np.int32))
    assert written(table, Dialect(), repeated) == b"a,b\n" + b"x,y\n" * rows


def test_a_character_that_the_encoding_lacks_names_its_column():
    table = pa.table({"a": ["x"] * 8, "b": ["€"] * 8})
    repeated = Repeated(frozenset("ab"), np.zeros(8, dtype=np.int32))
    with pytest.raises(csv_out.DataError, match="'b'"):
        written(table, Dialect(encoding="latin-1"), repeated)
