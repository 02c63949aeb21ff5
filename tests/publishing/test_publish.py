"""Boxes become published values: every style, missing and suppressed cells, types, and reading cells back."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import coterie
from coterie.errors import ConfigError, DataError
from coterie.publishing import labels as published_labels
from coterie.publishing.labels import Boxes
from coterie.publishing.publish import publish, read_boxes
from coterie.settings.config import Config
from coterie.table.domain import Domain
from coterie.table.encode import encode
from coterie.table.grouping import Grouping
from coterie.values.notation import read_set, value_texts
from coterie.values.numbers import as_numbers
from coterie.verification.verify import verify_table


def release(columns, labels, *, boxes=None, **settings):
    """Publish a table whose rows are grouped by hand."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    config = Config(**{"k": 2, "quasi": table.column_names, **settings})
    encoded = encode(table, config)
    grouping = Grouping.of(encoded.table.codes, labels)
    if boxes is not None:
        lo, hi = (np.array(end, dtype=np.int32).reshape(grouping.lo.shape) for end in boxes)
        grouping = Grouping(grouping.labels, lo, hi)
    return publish(table, encoded.table, grouping, config, rows=encoded.rows)


def cells(values, labels, **settings):
    """The published cells of one quasi-identifier."""
    column = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    return release({"x": column}, labels, **settings).table.column("x").to_pylist()


def test_numbers_become_intervals_and_a_single_value_stays_one():
    assert cells([24, 30, 27, 41, 41], [0, 0, 0, 1, 1]) == ["[24-30]"] * 3 + ["41", "41"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-5, 3], "[-5, 3]"),
        ([-5, -3], "[-5, -3]"),
        ([0.5, 2.25], "[0.5-2.25]"),
        ([1.0, 2.0], "[1-2]"),
        ([1e-7, 1e30], "[1e-7, 1e+30]"),
        ([Decimal("1.50"), Decimal("2.00")], "[1.50-2.00]"),
        ([dt.date(2020, 2, 7), dt.date(2020, 1, 3)], "[2020-01-03, 2020-02-07]"),
        (["9", "10"], "[9-10]"),
        (["1.50", "-2"], "[-2, 1.50]"),
        (["2020-02-07", "2020-01-03"], "[2020-01-03, 2020-02-07]"),
        ([2**53, 2**53 + 1], "[9007199254740992-9007199254740993]"),
    ],
)
def test_intervals_are_written_so_that_they_can_be_read(values, expected):
    assert cells(values, [0, 0]) == [expected] * 2


def test_timestamps_are_written_in_full():
    moments = pa.array([dt.datetime(2020, 1, 3), dt.datetime(2020, 1, 3, 12)], type=pa.timestamp("s"))
    assert cells(moments, [0, 0]) == ["[2020-01-03 00:00:00, 2020-01-03 12:00:00]"] * 2


def test_two_spellings_of_one_number_are_published_alike():
    assert cells(["1.0", "1.00", "7", "7"], [0, 0, 1, 1]) == ["1.0", "1.0", "7", "7"]


def test_a_column_without_changes_keeps_its_type():
    table = pa.table({"i": [1, 1, 2, 2], "d": [dt.date(2020, 1, 1)] * 2 + [None] * 2, "c": ["a", "a", "b", "b"]})
    published = release(table, [0, 0, 1, 1]).table
    assert published.schema == table.schema
    assert published.equals(table)


def test_an_unchanged_categorical_keeps_its_order_and_loses_unused_values():
    values = pd.Series(pd.Categorical(["lo", "hi", "lo", "hi"], categories=["lo", "gone", "hi"], ordered=True))
    column = pa.Array.from_pandas(values)
    published = release({"x": column}, [0, 1, 0, 1]).table.column("x")
    assert published.type == column.type
    assert published.to_pylist() == ["lo", "hi", "lo", "hi"]
    assert published.chunk(0).dictionary.to_pylist() == ["lo", "hi"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_types(kind):
    column = pa.array(["a", "b", "c", "c"], type=kind)
    assert cells(column, [0, 0, 1, 1]) == ["{a, b}", "{a, b}", "c", "c"]
    assert release({"x": column}, [0, 1, 2, 2], k=1).table.column("x").type == kind


def test_missing_stays_missing_and_joins_others_only_under_the_root():
    numbers = [1, 2, None, None, None, 3]
    labels = [0, 0, 1, 1, 2, 2]
    assert cells(numbers, labels) == ["[1-2]", "[1-2]", None, None, "*", "*"]
    words = ["a", "b", None, None, None, "c"]
    assert cells(words, labels) == ["{a, b}", "{a, b}", None, None, "*", "*"]
    tree = {"x": {"Low": ["a", "b"], "High": ["c"]}}
    assert cells(words, labels, hierarchies=tree) == ["Low", "Low", None, None, "*", "*"]


def test_hierarchy_labels_are_published(tmp_path):
    (tmp_path / "jobs.csv").write_text("clerk;office;any job\ntyper;office;any job\nbaker;shop;any job\n")
    settings = {"hierarchies": {"x": str(tmp_path / "jobs.csv")}}
    jobs = ["clerk", "typer", "baker", "clerk", "baker", "baker"]
    assert cells(jobs, [0, 0, 1, 1, 2, 2], **settings) == ["office"] * 2 + ["any job"] * 2 + ["baker"] * 2
    suppressed = release({"x": pa.array(jobs)}, [0, 0, 1, 1, -1, -1], **settings)
    assert suppressed.table.column("x").to_pylist() == ["office"] * 2 + ["any job"] * 4
    assert suppressed.roots == {"x": "any job"}


def test_sets_hold_the_values_of_the_group_alone():
    assert cells(list("adbc"), [0, 0, 1, 1]) == ["{a, d}", "{a, d}", "{b, c}", "{b, c}"]


def test_a_set_of_more_than_twenty_values_is_the_root():
    values = [f"v{number:02}" for number in range(41)]
    labels = [0] * 20 + [1] * 21
    published = cells(values, labels)
    assert published[0] == "{" + ", ".join(values[:20]) + "}"
    assert set(published[20:]) == {"*"}


def test_values_that_look_like_markup_are_escaped():
    odd = ["*", "[1-2]", "{a}", "\\x", "a, b", "it\\self", "plain"]
    alone = cells(odd, list(range(7)), k=1)
    assert alone == ["\\*", "\\[1-2]", "\\{a}", "\\\\x", "a, b", "it\\self", "plain"]
    together = cells(odd, [0] * 7)[0]
    assert together == r"{\*, \[1-2], \\x, a\, b, it\\self, plain, \{a\}}"
    assert read_set(together) == sorted(odd)
    suppressed = release({"x": pa.array(["*", "*", "b", "b"])}, [0, 0, -1, -1], k=2).table.column("x").to_pylist()
    assert suppressed == ["\\*", "\\*", "*", "*"]


@pytest.mark.parametrize("text", ["a", "{a", "{a,b}", "{a,b\\}}", "[1-2]"])
def test_what_is_no_set_is_not_read_as_one(text):
    assert read_set(text) is None


def test_bounds_take_the_place_of_their_column():
    table = pa.table({"a": [1, 1, 1, 1], "age": [30, 24, None, None], "z": [1, 2, 3, 4]})
    published = release(table, [0, 0, 1, 1], quasi=["age"], keep=["a", "z"], publish={"age": "bounds"}).table
    assert published.column_names == ["a", "age_min", "age_max", "z"]
    assert published.column("age_min").to_pylist() == [24, 24, None, None]
    assert published.column("age_max").to_pylist() == [30, 30, None, None]
    assert published.schema.field("age_min").type == pa.int64()


def test_bounds_of_dates_and_of_text_keep_their_type():
    dates = pa.array([dt.date(2020, 1, 3), dt.date(2020, 2, 7)])
    published = release({"d": dates}, [0, 0], publish={"d": "bounds"}).table
    assert published.schema.field("d_max").type == pa.date32()
    published = release({"d": pa.array(["010", "9"])}, [0, 0], types={"d": "number"}, publish={"d": "bounds"}).table
    assert published.to_pydict() == {"d_min": ["9"] * 2, "d_max": ["010"] * 2}


def test_mean_and_median_are_those_of_the_rows():
    values = [1, 2, 2, 2, 9, 4, 4, None, None, None, 7]
    labels = [0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3]
    mean = cells(values, labels, publish={"x": "mean"})
    assert mean == [3.0] * 5 + [4.0] * 2 + [None] * 4
    assert cells(values, labels, publish={"x": "median"}) == [2.0] * 5 + [4.0] * 2 + [None] * 4
    assert cells([0.1, 0.1, 0.1, 0.3, 1.0, 2.0], [0, 0, 0, 0, 1, 1], publish={"x": "median"}) == [0.1] * 4 + [1.5] * 2
    assert cells([0.1] * 3 + [10**15, 10**15 + 1], [0, 0, 0, 1, 1], publish={"x": "mean"})[:3] == [0.1] * 3
    assert cells(["1.5", "2.5"], [0, 0], publish={"x": "mean"}) == [2.0, 2.0]


def test_clocks_that_went_by_the_sun_are_published_and_read_to_the_second():
    """Arrow writes `+0053` for Berlin's clock of 1890, which was 53 minutes and 28 seconds ahead."""
    moments = [dt.datetime(1890, 1, day, tzinfo=dt.UTC) for day in (1, 2, 3, 4)]
    zoned = pa.array(moments, pa.timestamp("us", "Europe/Berlin"))
    shown = ["1890-01-01 00:53:28.000000+005328", "1890-01-02 00:53:28.000000+005328"]
    found = release({"x": zoned}, [0, 0, 1, 1])
    assert found.table.column("x").to_pylist()[0] == f"[{shown[0]}, {shown[1]}]"
    encoded = encode(pa.table({"x": zoned}), Config(k=2, quasi=["x"]))
    read = read_boxes(found.table.column("x"), encoded.table.domains[0])
    assert (read.lo.tolist(), read.hi.tolist()) == ([0, 0, 2, 2], [1, 1, 3, 3])
    # The same moments as text are the same numbers.
    texts = pa.array(["1890-01-01T00:53:28+00:53:28", "1890-01-02 00:00:00Z", "1889-12-31T19:03:58-04:56:02"])
    numbers = as_numbers(texts, np.ones(3, dtype=np.int64), column="x")
    first, second = (moment.replace(tzinfo=None) for moment in moments[:2])
    assert numbers.exact.to_pylist() == [first, second, first]


@pytest.mark.parametrize("style", ["mean", "median"])
def test_means_have_no_more_digits_than_the_data(style):
    """All members of a group but one could work out the last one's value from all digits of a mean."""
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(40), 7)
    for decimals, scale in ((0, 100), (2, 50), (5, 1)):
        values = np.round(rng.random(280) * scale, decimals)
        if decimals:
            values[3] += 0.000_123_456_789  # one odd value gives no digits away
        published = np.array(cells(values, labels, publish={"x": style}))
        assert np.array_equal(published, np.round(published, decimals))
        for label in range(40):
            rows = labels == label
            centre = values[rows].mean() if style == "mean" else np.median(values[rows])
            assert abs(published[rows][0] - centre) <= 0.51 * 10.0**-decimals
    # Numbers as a computer makes them have 17 digits, of which a range tells few.
    published = np.array(cells(rng.random(280), labels, publish={"x": style}))
    assert np.array_equal(published, np.round(published, 5))


@pytest.mark.parametrize("style", ["mean", "median"])
def test_a_release_of_rounded_means_is_verified(style):
    rng = np.random.default_rng(3)
    table = pa.table({"x": np.round(rng.random(90) * 10, 1), "y": rng.integers(0, 9, 90)})
    settings = {"quasi": ["x", "y"], "k": 4, "publish": {"x": style}, "seed": 1, "method": "mondrian"}
    found = coterie.anonymize(table, **settings)
    assert found.verification.passed
    assert coterie.verify(found.frame, config=found.config).passed


def test_a_mean_lies_between_the_values_it_stands_for():
    rng = np.random.default_rng(5)
    values = 1e9 + rng.random(300) * 1e-3
    labels = rng.integers(0, 30, 300)
    published = np.array(cells(values, labels, publish={"x": "mean"}, k=1))
    for label in range(30):
        rows = labels == label
        assert values[rows].min() <= published[rows][0] <= values[rows].max()
        np.testing.assert_allclose(published[rows], values[rows].mean(), rtol=1e-15)


def test_suppressed_rows_are_shown_only_if_k_rows_look_like_that():
    ages = pa.array([1, 2, 3, 4, 5])
    shown = release({"x": ages}, [0, 0, 0, -1, -1], k=2)
    assert shown.table.column("x").to_pylist() == ["[1-3]"] * 3 + ["*"] * 2
    assert shown.kept.tolist() == [0, 1, 2, 3, 4]
    removed = release({"x": ages}, [0, 0, 0, -1, -1], k=3)
    assert removed.table.column("x").to_pylist() == ["[1-3]"] * 3
    assert removed.kept.tolist() == [0, 1, 2]
    asked = release({"x": ages}, [0, 0, 0, -1, -1], k=2, suppressed="remove")
    assert asked.kept.tolist() == [0, 1, 2]
    assert asked.kept.dtype == np.int64


def test_suppressed_rows_hide_in_a_group_that_is_published_as_the_root():
    words = pa.array(["a", "b", "c", "d", "a"])
    tree = {"x": {"Low": ["a", "b"], "High": ["c", "d"]}}
    shown = release({"x": words}, [0, 0, 0, 0, -1], k=4, hierarchies=tree)
    assert shown.table.column("x").to_pylist() == ["*"] * 5
    found = verify_table(shown.table, quasi=["x"], k=4)
    assert (found.k, found.suppressed) == (5, 5)
    set_style = release({"x": words}, [0, 0, 0, 0, -1], k=4)
    assert set_style.kept.tolist() == [0, 1, 2, 3]


def test_removed_rows_leave_nothing_behind_in_dictionaries():
    table = pa.table({"x": [1, 1, 2], "disease": pa.array(["flu", "cold", "gout"]).dictionary_encode()})
    published = release(table, [0, 0, -1], quasi=["x"], keep=["disease"]).table
    assert published.column("disease").to_pylist() == ["flu", "cold"]
    assert published.column("disease").chunk(0).dictionary.to_pylist() == ["flu", "cold"]
    assert published.column("disease").type == table.column("disease").type


@pytest.mark.parametrize(
    "kind", [pa.string_view(), pa.binary_view(), pa.list_(pa.int64()), pa.struct([("a", pa.int8())])]
)
def test_rows_of_any_type_can_be_removed(kind):
    values = {"list": [[1], None, [2, 3]], "struct": [{"a": 1}, None, {"a": 2}]}.get(
        str(kind).split("<")[0], ["a", None, "b"]
    )
    table = pa.table({"x": [1, 1, 2], "y": pa.array(values, type=kind)})
    published = release(table, [0, 0, -1], quasi=["x"], keep=["y"]).table
    assert published.column("y").to_pylist() == table.column("y").to_pylist()[:2]
    assert published.column("y").type == kind


def test_rows_left_out_for_missing_values_are_suppressed_rows():
    table = pa.table({"x": [1, None, 2, None], "y": [1, 2, 3, 4]})
    shown = release(table, [0, 0], quasi=["x"], keep=["y"], missing="suppress")
    assert shown.table.to_pydict() == {"x": ["[1-2]", "*", "[1-2]", "*"], "y": [1, 2, 3, 4]}
    removed = release(table, [0, 0], quasi=["x"], keep=["y"], missing="suppress", suppressed="remove")
    assert removed.table.to_pydict() == {"x": ["[1-2]"] * 2, "y": [1, 3]}
    assert removed.kept.tolist() == [0, 2]


def test_all_rows_suppressed():
    published = release({"x": pa.array([1, 2, 3])}, [-1, -1, -1], k=3)
    assert published.table.column("x").to_pylist() == ["*"] * 3
    assert release({"x": pa.array([1, 2, 3])}, [-1, -1, -1], k=4).table.num_rows == 0


def test_boxes_wider_than_their_rows_are_published_as_they_are():
    values = pa.array([1, 2, 5, 9])
    wide = release({"x": values}, [0, 0, 1, 1], boxes=([0, 2], [2, 3]))
    assert wide.table.column("x").to_pylist() == ["[1-5]"] * 2 + ["[5-9]"] * 2
    words = pa.array(["a", "b", "c", "a", "d", "d"])
    full = release({"x": words}, [0, 0, 1, 1, 2, 2], boxes=([0, 0, 3], [3, 3, 3]))
    assert full.table.column("x").to_pylist() == ["*"] * 4 + ["d"] * 2
    tree = {"x": {"Low": ["a", "b"], "High": ["c", "d"]}}
    level = release({"x": words}, [0, 0, 1, 1, 2, 2], boxes=([0, 0, 2], [1, 3, 3]), hierarchies=tree)
    assert level.table.column("x").to_pylist() == ["Low"] * 2 + ["*"] * 2 + ["High"] * 2


def test_equal_boxes_are_one_class():
    published = release({"x": pa.array([1, 2, 1, 2, 5, 5])}, [0, 0, 1, 1, 2, 2])
    assert published.class_of_group.tolist() == [0, 0, 1]


def test_identifiers_dropped_columns_and_metadata_are_left_behind():
    frame = pd.DataFrame({"name": ["Ann", "Bob"], "x": [1, 2], "y": [3, 4], "z": [5, 6]}, index=[10, 20])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    published = release(table, [0, 0], quasi=["x"], identifiers=["name"], keep=["y"], drop=["z"]).table
    assert published.column_names == ["x", "y"]
    assert published.schema.metadata is None
    assert table.schema.metadata is not None


def test_styles_that_do_not_fit_are_reported_at_once():
    table = pa.table({"age": [1, 2], "age_max": [1, 2], "day": [dt.date(2020, 1, 1)] * 2, "word": ["a", "b"]})
    styles = {"age": "bounds", "day": "mean", "word": "median"}
    with pytest.raises(ConfigError) as caught:
        release(table, [0, 0], quasi=["age", "day", "word"], publish=styles)
    assert [problem.path for problem in caught.value.problems] == ["publish.age", "publish.day", "publish.word"]
    with pytest.raises(ConfigError, match="published as interval or bounds"):
        release({"x": pa.array([1, 2])}, [0, 0], publish={"x": "set"})


def test_a_type_that_has_no_text_is_refused_by_name():
    values = pa.array([b"secret\xff"])
    domain = Domain("x", "tree", values, numbers=None, tree=None, missing=-1, weight=1.0, labelled=False)
    with pytest.raises(DataError, match="'x' is of type binary") as caught:
        value_texts(domain)
    assert "secret" not in str(caught.value)


def test_the_grouping_must_fit_the_columns():
    table = pa.table({"x": [1, 2]})
    config = Config(quasi=["x"], k=1)
    encoded = encode(table, config)
    grouping = Grouping.of(encoded.table.codes, [0, 0])
    with pytest.raises(ValueError, match="differ in their number of rows"):
        publish(table.slice(0, 1), encoded.table, grouping, config)


def domain_of(values, **settings):
    table = pa.table({"x": values})
    return encode(table, Config(quasi=["x"], k=1, **settings)).table.domains[0]


def test_intervals_from_elsewhere_mean_the_values_between_their_ends():
    domain = domain_of([10, 20, 30, 40])
    read = read_boxes(pa.chunked_array([["[15-35]", "[0-99]", "[-5, 20]", "20.0", "[21-29]", "rubbish", None]]), domain)
    assert list(zip(read.lo.tolist(), read.hi.tolist(), strict=True))[:4] == [(1, 2), (0, 3), (0, 1), (1, 1)]
    assert read.unread.tolist() == [False] * 4 + [True] * 3


def test_dates_from_elsewhere_are_compared_as_dates():
    domain = domain_of([dt.date(2020, 1, 1), dt.date(2020, 6, 1), dt.date(2021, 1, 1)])
    read = read_boxes(pa.chunked_array([["[2020-05-01, 2022-01-01]", "2020-06-01 00:00:00", "12", "[x, y]"]]), domain)
    assert (read.lo[:2].tolist(), read.hi[:2].tolist()) == ([1, 1], [2, 1])
    assert read.unread.tolist() == [False, False, True, True]


@pytest.mark.parametrize("style", ["mean", "median", "interval"])
def test_means_cannot_be_read_back(style):
    with pytest.raises(DataError, match="'x' contains single numbers") as caught:
        read_boxes(pa.chunked_array([[1.5, 1.5]]), domain_of([1, 2]), style=style)
    assert caught.value.column == "x"
    assert "1.5" not in str(caught.value)


def test_labels_and_sets_are_read_back():
    tree = {"x": {"Low": ["a", "b"], "High": ["c", "d"]}}
    labelled = domain_of(["a", "b", "c", "d", None], hierarchies=tree)
    read = read_boxes(pa.chunked_array([["Low", "High", "*", "c", None, "", "e"]]), labelled)
    assert read.lo.tolist()[:5] == [0, 2, 0, 2, 4]
    assert read.hi.tolist()[:5] == [1, 3, 4, 2, 4]
    assert read.unread.tolist() == [False] * 5 + [True] * 2
    flat = domain_of(["a", "b", "*", "{x"])
    values = flat.values.to_pylist()
    read = read_boxes(pa.chunked_array([[r"{\*, a}", r"\*", "*", r"\{x", "{q, r}"]]).dictionary_encode(), flat)
    star, a, brace = (values.index(value) for value in ("*", "a", "{x"))
    assert read.lo.tolist() == [min(star, a), star, 0, brace, 0]
    assert read.hi.tolist() == [max(star, a), star, 3, brace, 3]
    assert read.unread.tolist() == [False] * 4 + [True]


def test_sets_from_elsewhere_mean_the_values_that_they_list():
    """With any spaces, and with members that the table has not, as ends of intervals may be; a value stays a value."""
    domain = domain_of(["a", "b", "c", "x,y", "{a,c}"])
    cells = ["{a, q}", "{a,b}", "{ a,  b,c }", r"{a,x\,y}", "{a,c}", "{q}", "a,b"]
    read = read_boxes(pa.chunked_array([cells]), domain)
    values = domain.values.to_pylist()
    ends = [(values[lo], values[hi]) for lo, hi in zip(read.lo.tolist(), read.hi.tolist(), strict=True)]
    assert ends[:5] == [("a", "a"), ("a", "b"), ("a", "c"), ("a", "x,y"), ("{a,c}", "{a,c}")]
    assert read.listed.tolist() == [1, 2, 3, 2, 0, 0, 0]
    assert read.unread.tolist() == [False] * 5 + [True] * 2


def test_bounds_are_read_back_from_two_columns():
    domain = domain_of([10, 20, 30, None])
    lower, upper = pa.chunked_array([[10, None, 20]]), pa.chunked_array([[20, None, None]], type=pa.int64())
    read = read_boxes(lower, domain, upper=upper, style="bounds")
    assert list(zip(read.lo.tolist(), read.hi.tolist(), strict=True)) == [(0, 1), (0, 3), (0, 3)]
    assert read.unread.tolist() == [False, False, True]


@pytest.mark.parametrize("style", ["interval", "bounds", "mean", "median"])
def test_what_looks_alike_has_one_label(style):
    """Groups are counted by their labels: two for one cell would make two classes of one."""
    codes = encode(pa.table({"x": [1, None, 2, None, 5, 6]}), Config(quasi=["x"], k=2)).table
    grouping = Grouping.of(codes.codes, np.array([0, 0, 1, 1, 2, 2]))
    lo, hi = grouping.lo[:, 0], grouping.hi[:, 0]
    made = published_labels.label(Boxes(codes.domains[0], codes.codes[:, 0], grouping.labels, lo, hi), style)
    cells = [tuple(each[int(at)].as_py() for each in made.values) for at in (*made.of_group, made.suppressed)]
    for one, first in zip((*made.of_group, made.suppressed), cells, strict=True):
        for other, second in zip((*made.of_group, made.suppressed), cells, strict=True):
            assert (one == other) == (first == second)
    assert cells[0] == cells[1] == cells[3] != cells[2]


@pytest.mark.parametrize("order", ["original", "shuffle"])
def test_rows_of_one_box_have_their_published_cells_in_common(order):
    rng = np.random.default_rng(4)
    labels = rng.integers(-1, 5, 60)
    columns = {
        "age": rng.integers(20, 60, 60),
        "town": np.where(rng.random(60) < 0.2, None, rng.choice(["x", "y", "z"], 60)),
        "kept": [f"k{at}" for at in range(60)],
    }
    made = release(columns, labels, quasi=["age", "town"], keep=["kept"], row_order=order)
    assert made.repeated.columns == {"age", "town"}
    assert made.repeated.of_row.min() == 0  # of suppressed rows, which are shown
    rows = zip(made.repeated.of_row.tolist(), made.table.column("age"), made.table.column("town"), strict=True)
    seen = {}
    for box, age, town in rows:
        assert seen.setdefault(box, (age, town)) == (age, town)
    assert len(seen) == 6


@pytest.mark.parametrize("size", [1, 7, 40, 300])
def test_distinct_intervals_are_those_of_the_groups_however_many_are_possible(size):
    # Those of 300 values are sorted, those of fewer marked.
    rng = np.random.default_rng(size)
    lo, hi = np.sort(rng.integers(0, size, (2, 100)).astype(np.int32), axis=0)
    domain = Domain("x", "number", pa.array(range(size)), np.arange(size, dtype=float), None, -1, 1.0, labelled=False)
    first, last, of_group = published_labels._distinct_intervals(Boxes(domain, lo, lo, lo, hi))
    of_groups = list(zip(lo.tolist(), hi.tolist(), strict=True))
    distinct = list(zip(first.tolist(), last.tolist(), strict=True))
    assert distinct == sorted(set(of_groups))
    assert [distinct[at] for at in of_group] == of_groups
