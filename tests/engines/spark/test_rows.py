"""What runs on executors but needs no Spark: row numbers, packed codes, sums by which rows are known again."""

import os
import sys
import tempfile
from types import ModuleType

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coterie.engines.spark.block import place_kernels
from coterie.engines.spark.guard import TaskError, _translated, guarded_task
from coterie.engines.spark.rows import all_rows_sum, fingerprints, numbers_from, pack_codes, sums_by, unpack_codes
from coterie.errors import CoterieError, DataError, InfeasibleError

codes = arrays(np.int32, st.tuples(st.integers(0, 30), st.integers(1, 5)), elements=st.integers(0, 2**31 - 1))


@given(codes, st.integers(1, 7))
def test_codes_come_back_whole_from_any_pieces(made, size):
    packed = pack_codes(made)
    pieces = [packed.slice(start, size) for start in range(0, len(packed), size)]
    chunked = pa.chunked_array(pieces, type=packed.type)
    assert np.array_equal(unpack_codes(chunked, made.shape[1]), made)
    assert np.array_equal(unpack_codes(chunked.cast(pa.large_binary()), made.shape[1]), made)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.randoms())
def test_rows_are_numbered_partition_by_partition(sizes, random):
    keys = [(partition << 33) + place for partition, size in enumerate(sizes) for place in range(size)]
    filled = [(partition, size) for partition, size in enumerate(sizes) if size]
    random.shuffle(filled)
    partitions = np.array([each[0] for each in filled], dtype=np.int64)
    numbers = numbers_from(partitions, np.array([each[1] for each in filled], dtype=np.int64))
    assert numbers.of(pa.array(keys, pa.int64())).tolist() == list(range(len(keys)))


@given(codes, st.integers(1, 4), st.randoms())
def test_sums_know_the_same_rows_in_any_order_and_no_others(made, places, random):
    rows = np.arange(len(made), dtype=np.int64)
    place = (made[:, 0] % places).astype(np.int32)
    values = fingerprints(rows, made)
    expected = [sum(int(value) for value in values[place == each]) % 2**64 for each in range(places)]
    order = np.array(random.sample(range(len(made)), len(made)), dtype=np.int64)
    found = sums_by(place[order], fingerprints(rows[order], made[order]), places)
    assert found.tolist() == expected
    if len(made) > 1:
        other = made.copy()
        other[[0, 1]] = other[[1, 0]]
        swapped = fingerprints(rows, other).sum() != values.sum()
        assert swapped == (made[0] != made[1]).any()


def test_all_row_numbers_are_known_by_their_sum():
    shuffled = np.random.default_rng(0).permutation(2**20 + 3).astype(np.int64)
    assert int(fingerprints(shuffled).sum()) == all_rows_sum(len(shuffled))
    shuffled[5] = shuffled[6]
    assert int(fingerprints(shuffled).sum()) != all_rows_sum(len(shuffled))


def test_kernels_are_kept_where_there_is_no_home(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/no such folder")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setitem(sys.modules, "coterie.kernels", ModuleType("loaded"))  # leave this process's own where they are
    place_kernels()
    assert os.environ["NUMBA_CACHE_DIR"].startswith(tempfile.gettempdir())
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/elsewhere")
    place_kernels()
    assert os.environ["NUMBA_CACHE_DIR"] == "/elsewhere"


def test_errors_cross_over_whole_and_others_without_their_text():
    def failing(error):
        @guarded_task
        def task(batches):
            yield from batches
            raise error

        try:
            list(task([1]))
        except TaskError as raised:
            return _translated(RuntimeError(f"java said: {raised}\n\tat somewhere"), "testing")

    error = failing(InfeasibleError("too few rows", wanted=5, possible=3, hint="Ask for less."))
    assert (type(error), error.wanted, error.possible, error.hint) == (InfeasibleError, 5, 3, "Ask for less.")
    assert failing(DataError("changed", column="age")).column == "age"
    hidden = failing(KeyError("secret"))
    assert isinstance(hidden, CoterieError)
    assert "KeyError in test_rows.py" in str(hidden)
    assert "secret" not in str(hidden)
