"""Columns → codes: every type, missing values, hierarchies on any type, and tables at their edges."""

import datetime as dt
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.errors import DataError, HierarchyError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.kernels.search.costs import box_costs
from coterie.settings.config import Config
from coterie.table.encode import encode

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]


def encoded(column, **settings):
    """The domain of a single column and its codes as a list."""
    if not isinstance(column, pa.Array | pa.ChunkedArray):
        column = pa.array(column)
    found = encode(pa.table({"x": column}), Config(quasi=["x"], **settings))
    assert found.table.codes.dtype == np.int32
    assert found.table.codes.flags.c_contiguous
    assert found.table.sensitive_codes.shape == (found.table.rows, 0)
    return found.table.domains[0], found.table.codes[:, 0].tolist()


def values(domain):
    return domain.values.to_pylist()


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_integers_of_every_width(kind):
    domain, codes = encoded(pa.array([3, 1, None, 2, 3], kind))
    assert codes == [2, 0, 3, 1, 2]
    assert domain.kind == "number"
    assert domain.values.type == kind
    assert values(domain) == [1, 2, 3, None]
    assert domain.numbers[:3].tolist() == [0, 1, 2]
    assert np.isnan(domain.numbers[3])
    assert domain.missing == 3


def test_integers_at_the_ends_of_their_types():
    domain, codes = encoded(pa.array([2**64 - 1, 0, 2**64 - 2], pa.uint64()))
    assert codes == [2, 0, 1]
    assert values(domain) == [0, 2**64 - 2, 2**64 - 1]
    domain, codes = encoded(pa.array([2**63 - 1, -(2**63), 2**63 - 2], pa.int64()))
    assert codes == [2, 0, 1]
    assert values(domain) == [-(2**63), 2**63 - 2, 2**63 - 1]


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_floats_with_nan_and_two_zeros(kind):
    cells = np.asarray([1.5, np.nan, -0.0, 0.0, 1.5], dtype=kind.to_pandas_dtype())
    domain, codes = encoded(pa.array(cells, kind))
    assert codes == [1, 2, 0, 0, 1]
    assert values(domain) == [0.0, 1.5, None]
    assert domain.missing == 2
    with pytest.raises(DataError, match="1 of its distinct values"):
        encoded(pa.array(np.asarray([1, np.inf], dtype=kind.to_pandas_dtype()), kind))


def test_ranges_beyond_a_float_still_have_costs():
    table = encode(pa.table({"x": [-1.7e308, 0.0, 1.7e308, None]}), Config(quasi=["x"])).table
    lo, hi = (np.asarray(ends, np.int32).reshape(-1, 1) for ends in ([0, 0, 1, 0, 3], [1, 2, 2, 3, 3]))
    assert box_costs(table.costs, lo, hi) == pytest.approx([0.5, 1, 0.5, 1, 0])


@pytest.mark.parametrize("kind", [pa.decimal128(38, 2), pa.decimal256(60, 2)], ids=str)
def test_decimals_that_no_float_tells_apart(kind):
    cells = [Decimal("12345678901234567890.02"), Decimal("12345678901234567890.01"), None]
    domain, codes = encoded(pa.array(cells, kind))
    assert codes == [1, 0, 2]
    assert values(domain) == [cells[1], cells[0], None]
    assert domain.numbers[1] == 0.01


def test_truth_values_are_categories_unless_told_otherwise():
    domain, codes = encoded([True, False, None, True])
    assert (domain.kind, codes, values(domain)) == ("tree", [1, 0, 2, 1], [False, True, None])
    domain, codes = encoded([True, False, None, True], types={"x": "number"})
    assert (domain.kind, codes, values(domain)) == ("number", [1, 0, 2, 1], [False, True, None])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([dt.date(2020, 1, 1), None, dt.date(1960, 1, 1)], pa.date32()),
        pa.array([dt.date(2020, 1, 1), None, dt.date(1960, 1, 1)], pa.date64()),
        *(
            pa.array([dt.datetime(2020, 1, 1), None, dt.datetime(1960, 1, 1)], pa.timestamp(unit, zone))
            for unit in ("s", "ms", "us", "ns")
            for zone in (None, "Europe/Paris")
        ),
        pa.array([dt.time(1), None, dt.time(0)], pa.time32("ms")),
        pa.array([dt.time(1), None, dt.time(0)], pa.time64("ns")),
        pa.array([dt.timedelta(1), None, dt.timedelta(-1)], pa.duration("us")),
    ],
    ids=lambda column: str(column.type),
)
def test_dates_and_times_are_numbers(column):
    domain, codes = encoded(column)
    assert codes == [1, 2, 0]
    assert domain.kind == "number"
    assert domain.values.type == column.type
    assert values(domain) == [column[2].as_py(), column[0].as_py(), None]


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_texts(kind):
    domain, codes = encoded(pa.array(["b", "a", None, "b", ""], kind))
    assert domain.kind == "tree"
    assert not domain.labelled
    assert codes == [2, 1, 3, 2, 0]
    assert values(domain) == ["", "a", "b", None]


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_texts_of_numbers_and_dates(kind):
    domain, codes = encoded(pa.array(["10", "9", None, "9.0", " 9"], kind))
    assert (domain.kind, codes, values(domain)) == ("number", [1, 0, 2, 0, 0], ["9", "10", None])
    domain, codes = encoded(pa.array(["2024-01-02", "1999-12-31", None], kind))
    assert (domain.kind, codes, values(domain)) == ("number", [1, 0, 2], ["1999-12-31", "2024-01-02", None])


def test_spellings_of_a_number_share_the_code_of_the_first():
    domain, codes = encoded(["1", "1.0", "1e0", "2"])
    assert (codes, values(domain)) == ([0, 0, 0, 1], ["1", "2"])


def test_zip_codes_stay_text():
    domain, codes = encoded(["02138", "10001", "02139"])
    assert (domain.kind, codes) == ("tree", [0, 2, 1])
    domain, _ = encoded(["02138", "10001", "02139"], types={"x": "number"})
    assert domain.kind == "number"


def test_integers_beyond_64_bits():
    cells = [str(10**30 + 1), str(10**30), "1"]
    domain, codes = encoded(cells)
    assert (domain.kind, codes, values(domain)) == ("number", [2, 1, 0], [cells[2], cells[1], cells[0]])


def test_texts_as_written_in_other_scripts():
    cells = ["Zoë", "Zoe", "日本", "مصر", "🙂", "a\u0301", "á", "\u00e1\n"]
    domain, codes = encoded(cells)
    assert sorted(codes) == list(range(len(cells)))
    assert [values(domain)[code] for code in codes] == cells


@pytest.mark.parametrize("kind", TEXTS[:2], ids=str)
@pytest.mark.parametrize("index", [pa.int8(), pa.uint32(), pa.int64()], ids=str)
def test_categorical_columns_forget_values_that_no_row_has(kind, index):
    column = pa.DictionaryArray.from_arrays(pa.array([2, 0, None], index), pa.array(["b", "unused", "a"], kind))
    domain, codes = encoded(column)
    assert (codes, values(domain), domain.values.type) == ([0, 1, 2], ["a", "b", None], kind)


def test_categorical_columns_of_all_sorts():
    repeated = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["a", "b", "a"]))
    assert encoded(repeated)[1] == [0, 1, 0, 2]
    null_inside = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    assert encoded(null_inside)[1] == [0, 1, 1]
    views = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["b", "a"], pa.string_view()))
    assert encoded(views)[1] == [0, 1, 2]
    numbers = pa.array([20, 3, None]).dictionary_encode()
    domain, codes = encoded(numbers)
    assert (domain.kind, codes) == ("number", [1, 0, 2])
    chunks = pa.chunked_array([pa.array(["b", "c"]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()])
    assert encoded(chunks)[1] == [1, 2, 0, 1]


def test_chunks_are_one_column():
    column = pa.chunked_array([["b"], [], ["a", None], ["b"]], type=pa.string())
    assert encoded(column)[1] == [1, 0, 2, 1]


def test_a_column_without_a_type_is_all_missing():
    domain, codes = encoded(pa.nulls(3))
    assert (domain.kind, codes, values(domain), domain.missing) == ("tree", [0, 0, 0], [None], 0)
    for kind in (pa.int64(), pa.string(), pa.date32()):
        domain, codes = encoded(pa.nulls(2, kind))
        assert (codes, values(domain), domain.missing) == ([0, 0], [None], 0)


def test_run_lengths_and_extensions_are_looked_through():
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["b", "a"]))
    assert encoded(runs)[1] == [1, 1, 0]
    if hasattr(pa, "json_"):
        assert encoded(pa.array(["{}", "[]", None], pa.json_()))[1] == [1, 0, 2]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [2]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([b"a", b"b"]),
        pa.array([b"a", b"b"], pa.binary_view()),
        pa.array([pa.MonthDayNano([1, 2, 3])] * 2),
    ],
    ids=lambda column: str(column.type),
)
def test_types_without_order_or_text_are_refused_by_name(column):
    with pytest.raises(DataError) as caught:
        encoded(column)
    assert str(column.type).removesuffix("_view") in str(caught.value)
    assert re.search(r"[Cc]onvert (it|them) to ", str(caught.value))
    assert caught.value.column == "x"


@pytest.mark.parametrize(
    ("column", "hierarchy", "codes"),
    [
        (pa.array([17, 3, 42, None], pa.uint8()), Hierarchy.intervals(10), [1, 0, 2, 3]),
        (pa.array([17.5, 3, 42, None]), Hierarchy.intervals(10), [1, 0, 2, 3]),
        (pa.array([Decimal("17.5"), Decimal(3), Decimal(42), None]), Hierarchy.intervals(10), [1, 0, 2, 3]),
        (pa.array(["17", "3", "42", None]), Hierarchy.intervals(10), [1, 0, 2, 3]),
        (pa.array(["021", "010", "10", None], pa.string_view()), Hierarchy.prefixes(2), [1, 0, 2, 3]),
        (pa.array([dt.date(2020, 5, 1), dt.date(2019, 1, 1), None]), Hierarchy.dates("month", "year"), [1, 0, 2]),
        (pa.array(["2020-05-01", "2019-01-01", None]), Hierarchy.dates("year"), [1, 0, 2]),
        (pa.array([True, False, None]), Hierarchy.from_mapping({"any": ["true", "false"]}), [0, 1, 2]),
        (pa.array([2, 1, None]), Hierarchy.from_mapping({"low": ["1"], "high": ["2"]}), [1, 0, 2]),
        (pa.array(["b", "a", None]).dictionary_encode(), Hierarchy.from_mapping({"X": ["b"], "Y": ["a"]}), [0, 1, 2]),
        (pa.array([2, 1, None]), Hierarchy.flat(), [1, 0, 2]),
    ],
    ids=lambda part: str(getattr(part, "type", "")),
)
def test_hierarchies_fit_columns_of_any_type(column, hierarchy, codes):
    domain, found = encoded(column, hierarchies={"x": hierarchy})
    assert domain.kind == "tree"
    assert domain.labelled
    assert found == codes
    assert domain.missing == len(values(domain)) - 1 == codes[-1]


def test_a_value_without_a_place_in_the_hierarchy_is_counted():
    hierarchy = Hierarchy.from_mapping({"High": ["a"], "Low": ["b"]})
    with pytest.raises(HierarchyError) as caught:
        encoded(["a", "secret", "b", "secret"], hierarchies={"x": hierarchy})
    assert "secret" not in str(caught.value)
    assert "2 rows" in str(caught.value)


PEOPLE = pa.table(
    {
        "age": pa.array([30, None, 50, 30, None]),
        "place": pa.array(["a", "b", None, "a", None]),
        "disease": pa.array(["flu", None, "flu", "gout", "flu"]),
    }
)
ROLES = {"quasi": ["age", "place"], "sensitive": ["disease"]}


def test_missing_values_are_a_category_by_default():
    found = encode(PEOPLE, Config(**ROLES))
    assert found.rows.tolist() == [0, 1, 2, 3, 4]
    assert found.table.codes.tolist() == [[0, 0], [2, 1], [1, 2], [0, 0], [2, 2]]
    assert found.table.sensitive_codes.tolist() == [[0], [2], [0], [1], [0]]
    assert [domain.missing for domain in found.table.domains] == [2, 2]


def test_rows_with_missing_quasi_identifiers_may_be_suppressed():
    found = encode(PEOPLE, Config(**ROLES, missing="suppress"))
    assert found.rows.tolist() == [0, 3]
    assert found.table.codes.tolist() == [[0, 0], [0, 0]]
    assert found.table.sensitive_codes.tolist() == [[0], [1]]
    # Values that only suppressed rows had are forgotten: they would widen the range.
    assert [values(domain) for domain in found.table.domains] == [[30], ["a"]]
    assert found.table.domains[0].missing == -1


def test_missing_values_may_be_an_error():
    with pytest.raises(DataError, match=r"missing values in age \(2\), place \(2\)\. Fill them, or set missing"):
        encode(PEOPLE, Config(**ROLES, missing="error"))
    complete = PEOPLE.take([0, 3])
    assert encode(complete, Config(**ROLES, missing="error")).table.rows == 2
    # Missing sensitive values are for the privacy models to judge.
    assert encode(PEOPLE.take([0, 1]), Config(quasi=["place"], sensitive=["disease"], missing="error")).table.rows == 2


def test_all_rows_may_be_suppressed():
    found = encode(pa.table({"x": pa.nulls(3), "y": [1, 2, 3]}), Config(quasi=["x", "y"], missing="suppress"))
    assert found.table.rows == 0
    assert [domain.size for domain in found.table.domains] == [0, 0]


def test_one_row_one_column_one_value():
    for cell in (1, "a", None, 2.5, dt.date(2020, 1, 1), True):
        domain, codes = encoded(pa.array([cell]))
        assert (codes, values(domain)) == ([0], [cell])
    domain, codes = encoded([5] * 100)
    assert (codes, values(domain), domain.numbers.tolist()) == ([0] * 100, [5], [0])


def test_sixty_thousand_categories():
    cells = [f"v{number:05}" for number in range(60_000)]
    domain, codes = encoded(cells[::-1])
    assert domain.size == 60_000
    assert codes == list(range(59_999, -1, -1))
    hierarchy = Hierarchy.prefixes(4, 2)
    domain, codes = encoded(cells[::-1], hierarchies={"x": hierarchy})
    assert codes == list(range(59_999, -1, -1))


def test_weights_and_types_come_from_the_configuration():
    domain, _ = encoded([1, 2], weights={"x": 2.5})
    assert domain.weight == 2.5
    domain, _ = encoded([3, 20], types={"x": "category"})
    assert domain.kind == "tree"
    assert values(domain) == [3, 20]


cells = st.one_of(
    st.lists(st.none() | st.integers(-5, 5), min_size=1).map(lambda column: pa.array(column, pa.int64())),
    st.lists(st.none() | st.floats(allow_infinity=False), min_size=1).map(
        lambda column: pa.array(column, pa.float64())
    ),
    st.lists(st.none() | st.text(max_size=3), min_size=1).map(lambda column: pa.array(column, pa.string())),
    st.lists(st.none() | st.dates(), min_size=1).map(lambda column: pa.array(column, pa.date32())),
    st.lists(st.none() | st.booleans(), min_size=1).map(lambda column: pa.array(column, pa.bool_())),
)


@given(cells)
def test_codes_lead_back_to_the_values(column):
    try:
        domain, codes = encoded(column)
    except DataError:  # drawn texts may be almost all numbers
        return
    back = domain.values.take(pa.array(codes)).to_pylist()
    for before, after in zip(column.to_pylist(), back, strict=True):
        if before is None or before != before:
            assert after is None
        elif isinstance(before, str) and domain.kind == "number":
            assert Decimal(after.strip()) == Decimal(before.strip())
        else:
            assert after == before
    assert domain.size == len(set(codes))
    if domain.kind == "number":
        numbers = domain.numbers if domain.missing < 0 else domain.numbers[:-1]
        assert (np.diff(numbers) >= 0).all()
