"""Where numbers and dates that a person writes lie among the values of a column."""

import numpy as np
import pyarrow as pa

from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.values.axis import axis_of, floats_of


def domain_of(values, **settings):
    return encode(pa.table({"x": values}), Config(quasi=["x"], k=1, **settings)).table.domains[0]


def test_values_lie_where_the_table_has_them():
    moments = pa.array([5, 3, 10**18 + 1], pa.timestamp("ns"))
    columns = [
        [3, 2**62],
        [0.1, 0.3, 1e300],
        ["1e3", "0.5", "12345678901234567890"],
        ["2024-03-05", "2023-01-01"],
        moments,
    ]
    for values in columns:
        domain = domain_of(values)
        places = [axis_of(domain).place(text) for text in domain.values.cast(pa.string()).to_pylist()]
        assert places == domain.numbers.tolist()


def test_days_of_which_some_have_a_time_lie_on_one_axis():
    domain = domain_of(["2024-03-05", "2024-03-07", "2024-03-07T00:00", "2024-03-09"])
    assert domain.values.to_pylist() == ["2024-03-05", "2024-03-07", "2024-03-09"]
    places = [axis_of(domain).place(text) for text in domain.values.to_pylist()]
    assert places == domain.numbers.tolist()


def test_numbers_are_numbers_with_leading_zeros_too():
    texts = [str(number) for number in range(1, 30)]
    found = floats_of(domain_of([*texts, "007", "0031", None], types={"x": "number"}))
    assert found[:-1].tolist() == [*range(1, 30), 31]
    assert np.isnan(found[-1])
