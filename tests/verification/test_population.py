"""People whom published cells fit, counted by the judge: examples, and the same as by linking the two tables."""

import datetime as dt
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.disclosure.link import link_tables
from coterie.errors import ConfigError, DataError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.settings.config import Config
from coterie.verification.population import matches
from coterie.verification.promises import promises_of
from coterie.verification.readings import numbered, range_ends, read_both

TREE = {"p": ["u", "v"], "q": {"r": ["w", "x"], "s": ["y"]}}
ORDER = ["none", "low", "a, b", "[c, d]", "*", "\\high", "{top"]
COLUMNS = {
    "number": (st.one_of(st.none(), st.integers(-5, 30)), pa.int64(), None),
    "float": (st.sampled_from([None, 0.5, 1.5, 2.25, 7.0, 9.0]), pa.float64(), None),
    "word": (st.sampled_from([None, "a", "b", "*", "{x", "c, d", "\\e", "[f", "g}"]), pa.string(), None),
    "tree": (st.sampled_from([None, "u", "v", "w", "x", "y"]), pa.string(), Hierarchy.from_mapping(TREE, root="All")),
    "zip": (st.sampled_from(["02138", "02139", "02141", "0213", "99999"]), pa.string(), Hierarchy.prefixes()),
    "day": (st.dates(dt.date(1998, 1, 1), dt.date(2012, 12, 31)), pa.date32(), None),
    "month": (st.dates(dt.date(1998, 1, 1), dt.date(2012, 12, 31)), pa.date32(), Hierarchy.dates()),
    "span": (st.one_of(st.none(), st.integers(-5, 30)), pa.int64(), Hierarchy.intervals(5, 10)),
    "bounds": (st.integers(-5, 30), pa.int64(), None),
    "rank": (st.sampled_from([None, *ORDER[1:]]), pa.string(), None),
}


def drawn(draw, names, rows):
    cells = {name: draw(st.lists(COLUMNS[name][0], min_size=rows, max_size=rows)) for name in names}
    return pa.table({name: pa.array(cells[name], COLUMNS[name][1]) for name in names})


@given(data=st.data())
def test_the_same_people_as_by_linking(data):
    names = data.draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=3, unique=True))
    sample = drawn(data.draw, names, data.draw(st.integers(2, 15)))
    population = pa.concat_tables([sample, drawn(data.draw, names, data.draw(st.integers(0, 30)))])
    publish = {"bounds": "bounds"} if "bounds" in names else {}
    if "tree" in names and data.draw(st.booleans()):
        publish["tree"] = "set"
    settings = {
        "quasi": names,
        "hierarchies": {name: COLUMNS[name][2] for name in names if COLUMNS[name][2] is not None},
        "ordered": {name: ORDER for name in names if name == "rank"},
        "publish": publish,
        "k": data.draw(st.integers(1, 2)),
    }
    published = coterie.anonymize(sample, **settings, method="mondrian").arrow
    config = Config(**settings)
    link = link_tables(population, published, on=names, config=config, published=(False, True), unknown="value")
    expected = link.candidates()[link.second.class_of_row]
    assert matches(published, population, config).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("cell", "hierarchy", "fitting"),
    [
        ("[20-24]", None, [20, 24]),
        ("[-5, 3]", None, [-5]),
        ("*", None, [-5, 20, 24, 25, None]),
        ("25", None, [25]),
        (None, None, [None]),
        ("[20, 25)", Hierarchy.intervals(2.5, 5), [20, 24]),
    ],
)
def test_cells_are_read_as_they_are_written(cell, hierarchy, fitting):
    population = pa.table({"age": pa.array([-5, 20, 24, 25, None])})
    config = Config(quasi=["age"], hierarchies={} if hierarchy is None else {"age": hierarchy})
    found = matches(pa.table({"age": pa.array([cell], pa.string())}), population, config)
    assert found.tolist() == [len(fitting)]


def test_sets_and_escapes():
    population = pa.table({"x": ["a", "b", "a, b", "*", "\\", None]})
    published = pa.table({"x": ["{a, b}", "{a\\, b, \\\\}", "\\*", "*", "b", None]})
    found = matches(published, population, Config(quasi=["x"]))
    assert found.tolist() == [2, 2, 1, 6, 1, 1]


def test_what_cannot_be_counted_is_refused():
    people = pa.table({"age": [1, 2]})
    with pytest.raises(ConfigError, match="no column 'sex'"):
        matches(pa.table({"age": ["1"], "sex": ["f"]}), people, Config(quasi=["age", "sex"]))
    with pytest.raises(DataError, match="single numbers do not determine"):
        matches(pa.table({"age": [1.5]}), people, Config(quasi=["age"], publish={"age": "mean"}))
    with pytest.raises(DataError, match="is configured as a number"):
        matches(pa.table({"age": ["old"]}), people, Config(quasi=["age"], types={"age": "number"}))


def fitting(cells, people, **settings):
    """Published row → people whom it fits, by single columns called x."""
    shown = cells if isinstance(cells, dict) else {"x": pa.array(cells)}
    config = Config(quasi=["x"], **settings)
    return matches(pa.table(shown), pa.table({"x": pa.array(people)}), config).tolist()


def test_bounds_hold_who_is_between_them_and_a_missing_end_anybody():
    people = [1, 2, 3, 4, 50]
    bounds = {"x_min": [1, 2, 2, 1, None, None, 4], "x_max": [2, 4, 4, 2, None, 4, None]}
    assert fitting(bounds, people, publish={"x": "bounds"}) == [2, 3, 3, 2, 5, 5, 5]


def test_parts_of_the_calendar_hold_their_days_from_the_first_to_the_last():
    people = ["2023-12-31", "2024-01-01", "2024-01-31", "2024-02-01", "2024-03-31", "2024-04-01", "2029-12-31"]
    cells = ["2024-01", "2024-Q1", "2024", "2020s", "2024-02-01", "*"]
    found = fitting(cells, people, hierarchies={"x": Hierarchy.dates("month", "quarter", "year", "decade")})
    assert found == [2, 4, 5, 7, 1, 7]


def test_of_two_groups_with_one_label_the_wider_counts():
    """A cell must not look as if it stood for fewer people than it may."""
    form = SimpleNamespace(labels=["*", "north", "north", "a", "b", "c"], parent=[-1, 0, 1, 2, 2, 1])
    own, shown = read_both(
        ["a", "b", "c"], ["north", "c"], form=form, kind=None, type_=pa.string(), name="x"
    )  # fmt: skip
    values, cells = (side.tolist() for side in numbered(own, shown))
    inside = [[cell[0] <= value[0] <= cell[1] for value in values] for cell in cells]
    assert inside == [[True, True, True], [False, False, True]]


def test_a_single_ordered_value_loses_only_its_backslash():
    assert range_ends("\\*x") == ("*x", "*x")
    assert range_ends("\\[a, b]") == ("[a, b]", "[a, b]")
    assert fitting(["\\*", "[low, \\*]", "*"], ["low", "*", "high"], ordered={"x": ["low", "*", "high"]}) == [1, 2, 3]


def test_the_same_people_asked_for_twice_are_one_population():
    people = pa.table({"x": [1, 2, 3]})
    found = promises_of(Config(quasi=["x"], privacy=[coterie.KMap(2, people), coterie.KMap(2, people)]))
    assert [promise.limit for promise in found] == [2]
