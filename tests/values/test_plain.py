"""Columns in plain form: whatever hides equal values is looked through, in one place."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from coterie.settings.config import Config
from coterie.suggesting.suggest import count
from coterie.table.encode import encode
from coterie.values.codes import column_codes
from coterie.values.plain import plain_array, plain_column

NAN = float("nan")


class Wrapped(pa.ExtensionType):
    """Floats with a name of their own."""

    def __init__(self):
        super().__init__(pa.float64(), "coterie.tests.wrapped")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()


FLOATS = pa.array([1.5, NAN, -0.0, 0.0, None, 1.5])
FORMS = {
    "plain": FLOATS,
    "single": FLOATS.cast(pa.float32()),
    "half": FLOATS.cast(pa.float16()),
    "dictionary": pa.DictionaryArray.from_arrays([0, 1, 2, 3, None, 0], pa.array([1.5, NAN, -0.0, 0.0])),
    "runs": pc.run_end_encode(FLOATS),
    "extension": pa.ExtensionArray.from_storage(Wrapped(), FLOATS),
}


@pytest.mark.parametrize("form", FORMS)
def test_nan_is_missing_and_there_is_one_zero(form):
    found = plain_array(FORMS[form])
    assert found.to_pylist() == [1.5, None, 0.0, 0.0, None, 1.5]
    assert not np.signbit(found.drop_null().to_numpy()).any()
    halves = pa.chunked_array([FORMS[form].slice(0, 3), FORMS[form].slice(3)])
    assert plain_column(halves).to_pylist() == found.to_pylist()


@pytest.mark.parametrize("form", FORMS)
def test_everybody_sees_the_plain_form(form):
    column = FORMS[form]
    assert column_codes(column, name="x").codes.tolist() in ([0, 2, 1, 1, 2, 0],)
    table = encode(pa.table({"x": column}), Config(quasi=["x"], k=1)).table
    assert table.codes[:, 0].tolist() == [1, 2, 0, 0, 2, 1]
    assert (count(pa.chunked_array([column])).distinct, count(pa.chunked_array([column])).missing) == (2, 2)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary_view()])
def test_texts_stay_what_they_are(kind):
    texts = pa.array([b"a", None, b""] if pa.types.is_binary_view(kind) else ["a", None, ""], kind)
    assert plain_array(texts).to_pylist() == texts.to_pylist()
    plain_array(texts).take(pa.array([0]))  # which Arrow cannot do with views


def test_empty_columns_keep_their_plain_type():
    assert plain_array(pa.chunked_array([], pa.dictionary(pa.int32(), pa.string_view()))).type == pa.large_string()
    assert plain_array([]).to_pylist() == []
