"""Ordered categories: intervals on their ranks, from whatever says the order, and refused where it cannot be."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.errors import ConfigError, DataError

SCHOOL = ["9th", "HS-grad", "Some, college", "Bachelors", "Masters", "PhD"]
CELLS = ["9th", "HS-grad", "HS-grad", "Bachelors", "Masters", "PhD", None]
RANK = {text: rank for rank, text in enumerate(SCHOOL)}
rows = st.lists(st.tuples(st.sampled_from([*SCHOOL[1:], None]), st.integers(20, 40)), min_size=3, max_size=30)


def table_of(cells, ages):
    return pa.table({"school": pa.array(cells, pa.string()), "age": pa.array(ages, pa.int64())})


def ranked(table):
    """The twin: the same table with ranks in place of the values."""
    ranks = [None if text is None else RANK[text] for text in table["school"].to_pylist()]
    return pa.table({"school": pa.array(ranks, pa.int64()), "age": table["age"]})


def worded(cell):
    """What the twin publishes, in words."""
    if cell is None or cell == "*":
        return cell
    ends = [SCHOOL[int(end)].replace(",", "\\,") for end in cell.strip("[]").split("-")]
    return f"[{ends[0]}, {ends[1]}]" if len(ends) > 1 else ends[0].replace("\\,", ",")


@pytest.mark.parametrize("method", ["mondrian", "compact", "kmembers", "top-down", "cb", "kaca", "gccg", "incognito"])
@settings(max_examples=12)
@given(drawn=rows, k=st.integers(1, 5))
def test_an_order_is_worth_what_its_ranks_are_worth(method, drawn, k):
    """Groups, measures, mapping and the file read back are those of the ranks as numbers."""
    table, ways = table_of(*zip(*drawn, strict=True)), {"quasi": ["school", "age"], "method": method}
    k = min(k, len(drawn))
    found = coterie.anonymize(table, k=k, ordered={"school": SCHOOL}, **ways)
    twin = coterie.anonymize(ranked(table), k=k, **ways)
    assert found.groups.tolist() == twin.groups.tolist()
    assert dict(found.measures) == dict(twin.measures)
    assert found.frame["school"].to_pylist() == [worded(cell) for cell in map(as_text, twin.frame["school"])]
    again = coterie.measure(table, found.frame, k=k, ordered={"school": SCHOOL}, **ways)
    assert again["outside"] == 0
    for name in ("gcp", "set_loss", "modification_rate"):
        assert again[name] == pytest.approx(coterie.measure(ranked(table), twin.frame, k=k, **ways)[name])
    same = ["rows", "values", "missing", "cost"]
    assert found.mapping().select(same).to_pylist() == twin.mapping().select(same).to_pylist()


def as_text(cell):
    value = cell.as_py()
    return None if value is None else str(value)


FRAMES = {
    "pandas": pd.DataFrame({"school": pd.Categorical(CELLS, categories=SCHOOL, ordered=True)}),
    "polars": pl.DataFrame({"school": pl.Series(CELLS, dtype=pl.Enum(SCHOOL))}),
    "arrow": pa.table(
        {
            "school": pa.DictionaryArray.from_arrays(
                pa.array([None if cell is None else RANK[cell] for cell in CELLS], pa.int8()), SCHOOL, ordered=True
            )
        }
    ),
}


@pytest.mark.parametrize("frame", list(FRAMES))
def test_frames_bring_their_order_along(frame, tmp_path):
    release = coterie.anonymize(FRAMES[frame], quasi=["school"], k=3)
    assert release.config.ordered == {"school": tuple(SCHOOL)}
    shown = release.arrow["school"].to_pylist()
    assert shown[:3] == ["[9th, HS-grad]"] * 3
    assert shown[3:] == ["*"] * 4  # missing together with others
    # What was said of the column goes before what its type says.
    plain = coterie.anonymize(FRAMES[frame], quasi=["school"], k=3, types={"school": "category"})
    assert plain.config.ordered == {}
    assert not any(str(cell).startswith("[") for cell in plain.arrow["school"].to_pylist())
    # The configuration beside the release has the order, so that a text file can be measured against it.
    release.write(tmp_path / "out.csv")
    original = pa.table({"school": pa.array(CELLS, pa.string())})
    again = coterie.measure(original, tmp_path / "out.csv", config=release.config)
    assert again["gcp"] == pytest.approx(release.measures["gcp"])


def test_files_bring_their_order_along_in_blocks_too(tmp_path):
    pa.parquet.write_table(FRAMES["arrow"], tmp_path / "in.parquet")
    memory = coterie.anonymize(tmp_path / "in.parquet", quasi=["school"], k=3)
    blocks = coterie.anonymize(
        tmp_path / "in.parquet", output=tmp_path / "out.parquet", engine="blocks", quasi=["school"], k=3
    )
    assert blocks.arrow["school"].to_pylist() == memory.arrow["school"].to_pylist()
    assert blocks.config.ordered == memory.config.ordered == {"school": tuple(SCHOOL)}


def test_pieces_in_different_orders_are_refused():
    parts = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), each, ordered=True)
        for each in (["a", "b"], ["b", "a"])
    ]
    table = pa.table({"school": pa.chunked_array(parts)})
    with pytest.raises(DataError, match=r"different orders.*ordered\.school"):
        coterie.anonymize(table, quasi=["school"], k=2)


def test_values_outside_the_order_are_counted_not_quoted():
    table = table_of(["9th", "secret", "secret", "PhD"], [1, 2, 3, 4])
    with pytest.raises(DataError, match=r"its order lacks 1 value \(2 rows\).*ordered\.school") as raised:
        coterie.anonymize(table, quasi=["school"], keep=["age"], ordered={"school": SCHOOL}, k=2)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"ordered": {"school": []}}, "lists no value"),
        ({"ordered": {"school": ["a", "a"]}}, "lists a value twice"),
        ({"ordered": {"school": SCHOOL}, "hierarchies": {"school": "flat"}}, "has a hierarchy, too"),
        ({"ordered": {"school": SCHOOL}, "types": {"school": "number"}}, "has its own order"),
        ({"ordered": {"school": SCHOOL}, "publish": {"school": "set"}}, "published as intervals"),
        ({"ordered": {"age": SCHOOL}}, "not a quasi-identifier"),
    ],
)
def test_what_does_not_go_together_is_refused(more, said):
    with pytest.raises(ConfigError, match=said):
        coterie.anonymize(table_of(CELLS, range(7)), quasi=["school"], keep=["age"], k=2, **more)


def test_bounds_explaining_and_later_rows():
    table = table_of(CELLS[:6], [1, 2, 3, 4, 5, 6])
    ways = {"quasi": ["school"], "drop": ["age"], "ordered": {"school": SCHOOL}, "k": 3}
    bounds = coterie.anonymize(table, publish={"school": "bounds"}, **ways)
    assert bounds.arrow["school_min"].to_pylist()[3:] == ["Bachelors"] * 3
    assert bounds.arrow["school_max"].to_pylist()[3:] == ["PhD"] * 3
    assert coterie.measure(table, bounds.frame, publish={"school": "bounds"}, **ways)["outside"] == 0
    release = coterie.anonymize(table, **ways)
    explained = release.explain(0, show_values=True).attributes[0]
    assert (explained.published, explained.values) == ("[9th, HS-grad]", 2)
    # A value that no row had may lie between the ends; one outside the order fits nowhere.
    later = release.assign(table_of(["HS-grad", "Some, college", "unheard of", "Masters"], [1, 2, 3, 4]))
    assert later.placed.tolist() == [0, 3]


def test_distributions_are_by_rank():
    table = table_of(sorted([*SCHOOL, *SCHOOL], key=RANK.get), range(12))
    ways = {"quasi": ["school"], "keep": ["age"], "ordered": {"school": SCHOOL}, "k": 4}
    release = coterie.anonymize(table, **ways)
    made = coterie.utility(table, release.frame, distributions=True, **ways)
    assert made.distributions.columns["school"].labels == tuple(SCHOOL)
