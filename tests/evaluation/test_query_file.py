"""Queries that people write: what is read, what is refused, and that no message quotes a value."""

import operator

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.cli.app import main
from coterie.errors import ConfigError, DataError
from coterie.evaluation.before_after import BeforeAfter
from coterie.evaluation.queries import answer_queries
from coterie.evaluation.query_file import bind_queries, read_queries
from coterie.evaluation.query_parse import Condition, QuerySyntaxError, Value, parse_query
from coterie.settings.config import Config

TABLE = pa.table(
    {
        "age": [20, 31, 45, 31, None, 60],
        "weight": [50.5, 61.25, 70.0, 81.75, 66.5, 90.0],
        "salary-class": ["<=50K", ">50K", "<=50K", "it's", "or", None],
        "home town": ["Oslo", "Bergen", "Oslo", "Ålesund", "Oslo", "Bergen"],
        "day": ["2020-01-01", "2020-02-29", "2021-05-05", "2021-05-06", "2022-12-31", "2020-01-01"],
    }
)
CONFIG = Config(
    quasi=["age", "weight", "salary-class", "home town", "day"],
    hierarchies={"home town": {"East": ["Oslo"], "West": ["Bergen", "Ålesund"]}},
)
TABLES = BeforeAfter(TABLE, TABLE, CONFIG)


def answers(*texts):
    return answer_queries(TABLES, bind_queries(texts, TABLES)).actual.tolist()


def test_the_parts_of_a_query():
    found = parse_query("SUM(age) WHERE salary-class = 'it''s' AND `home town` NOT IN ('x', 3) and age Is Not Null")
    assert found.sum == "age"
    assert found.conditions == (
        Condition("salary-class", "=", (Value("it's", 31),)),
        Condition("home town", "not in", (Value("x", 63), Value("3", 68))),
        Condition("age", "is not null", ()),
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 6),
        ("count", 6),
        ("count(*)", 6),
        ("count where age = 31", 2),
        ("where age = 31", 2),
        ("age=31", 2),
        ("age <> 31", 3),
        ("age!=31", 3),
        ("age < 31", 1),
        ("age <= 31.0", 3),
        ("age > 3.1e1", 2),
        ("age >= +31 and age < 60", 3),
        ("(age between 25 and 50)", 3),
        ("age not between 25 and 50", 2),
        ("age between 50 and 25", 0),
        ("age not between 50 and 25", 5),
        ("age in (20, 31, 31, 99)", 3),
        ("age not in (20, 31)", 2),
        ("age is null", 1),
        ("age is not null", 5),
        ("age < 0 and age > 70", 0),
        ("(age > 20 and (weight < 80)) and weight != 70", 1),
        ("weight between 61.25 and 81.75", 4),
        ("weight > 61.25 and weight < 81.75", 2),
        ("\"salary-class\" = '<=50K'", 2),
        ("salary-class in ('it''s', 'or')", 2),
        ("salary-class != '<=50K'", 3),
        ("salary-class is null", 1),
        ("`home town` = 'Ålesund'", 1),
        ("`home town` = 'West'", 3),
        ("\"home town\" in ('East', 'Ålesund')", 4),
        ("\"home town\" not in ('West')", 3),
        ("day = '2020-02-29'", 1),
        ("day between '2020-02-01' and '2021-05-05'", 2),
        ("day >= '2021-05-05T12:00:00'", 2),
    ],
)
def test_what_is_counted(text, count):
    assert answers(text) == [count]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("age", "expected =, "),
        ("age = ", "but the query ends"),
        ("= 3", "name of a column at character 1"),
        ("age = 3 or age = 4", "`or` is not supported"),
        ("(age = 3 or age = 4)", "`or` is not supported"),
        ("age = x", "'single quotes', at character 7"),
        ("age = 'x", "letter 7 starts nothing"),
        ("age = 3 age = 4", "expected `and` or the end at character 9"),
        ("age in ()", "at character 9"),
        ("age in (3", "expected ')'"),
        ("age between 3", "expected 'and', but the query ends"),
        ("age not = 3", "expected =, "),
        ("sum(age where age = 3", "expected ')'"),
        ("sum() where age = 3", "name of a column"),
        ("count(age)", "expected '*'"),
        ("age = 3; drop table people", "letter 8 starts nothing"),
        ("age == 3", "expected a number"),
        ("where", "name of a column, but the query ends"),
        ("age = 3 and", "name of a column, but the query ends"),
        ("age like '3%'", "expected =, "),
        ("3 = age", "name of a column at character 1"),
        ("age = 31x", "letter 7 starts nothing"),
        ("and = 3", "name of a column"),
    ],
)
def test_what_cannot_be_read(text, told):
    with pytest.raises(QuerySyntaxError) as caught:
        parse_query(text)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agee = 3", "no column 'agee' in the original"),
        ("age = 'Zebulon'", "needs a number at character 7"),
        ("day = 'Zebulon'", "needs a date such as"),
        ("salary-class = 'Zebulon'", "not one of its values in the original"),
        ("`home town` = 'Zebulon'", "neither a value nor a label"),
        ("`home town` < 'Zebulon'", "no order"),
        ("salary-class between 'Zebulon' and 'z'", "no order"),
        ("sum(salary-class)", "is not numeric"),
        ("sum(day)", "is not numeric"),
        ("sum(agee)", "no column 'agee'"),
    ],
)
def test_what_the_tables_do_not_have(text, told):
    with pytest.raises(ConfigError) as caught:
        bind_queries([text], TABLES)
    assert told in str(caught.value)
    assert "Zebulon" not in str(caught.value)


def test_all_problems_at_once():
    with pytest.raises(ConfigError) as caught:
        bind_queries(["age = 3 or age = 4", "age = 3", "agee = 3"], TABLES)
    assert [problem.path for problem in caught.value.problems] == ["query 1", "query 3"]


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        parse_query(text)
    except QuerySyntaxError as error:
        assert "\n" not in str(error)


PYTHON = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
numbers = st.integers(15, 65) | st.sampled_from([19.5, 20.0, 31.25])


@st.composite
def age_conditions(draw):
    """A condition on age as text, and as a function of a value."""
    kind = draw(st.sampled_from([*PYTHON, "between", "in"]))
    negated = draw(st.booleans())
    word = "not " if negated else ""
    if kind == "between":
        low, high = draw(numbers), draw(numbers)
        return f"age {word}between {low} and {high}", lambda value: (low <= value <= high) != negated
    if kind == "in":
        listed = draw(st.lists(numbers, min_size=1, max_size=4))
        return f"age {word}in ({', '.join(map(str, listed))})", lambda value: (value in listed) != negated
    number = draw(numbers)
    return f"age {kind} {number}", lambda value: PYTHON[kind](value, number)


@given(st.lists(age_conditions(), min_size=1, max_size=3))
def test_conditions_mean_what_they_mean_in_python(tests):
    text = " and ".join(each for each, _ in tests)
    ages = [age for age in TABLE["age"].to_pylist() if age is not None]
    expected = sum(all(holds(age) for _, holds in tests) for age in ages)
    assert answers(text) == [expected], text
    # What values that are not in the table satisfy decides about intervals: [15-65] holds every whole number once.
    wide = TABLE.set_column(0, "age", pa.array(["[20-60]"] * 6))
    (query,) = bind_queries([text], TABLES)
    found = answer_queries(BeforeAfter(TABLE, wide, CONFIG), [query])
    inside = sum(all(holds(age) for _, holds in tests) for age in range(20, 61))
    assert found.estimate[0] == pytest.approx(6 * inside / 41)


# Files

TOML = """
query = [
    "age < 30",
    "sum(weight) where \\"home town\\" = 'East'",
    { where = "age >= 30", name = "thirty and more" },
    { aggregate = "sum(age)" },
]
"""
TABLES_OF_TOML = """
[[query]]
name = "young"
where = "age < 30"

[[query]]
aggregate = "sum(weight)"
where = "\\"home town\\" = 'East'"
"""
LINES = """
# people under thirty
age < 30

-- of the east
sum(weight) where "home town" = 'East';
"""


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("q.toml", TOML, ["query 1", "query 2", "thirty and more", "query 4"]),
        ("q.TOML", TABLES_OF_TOML, ["young", "query 2"]),
        ("q.sql", LINES, ["line 3", "line 6"]),
        ("q.txt", "\ufeffage < 30\nsum(weight) where `home town` = 'East'", ["line 1", "line 2"]),
    ],
)
def test_files(tmp_path, name, text, names):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    queries = read_queries(path, TABLES)
    assert [query.name for query in queries] == names
    assert answer_queries(TABLES, queries).actual[:2].tolist() == [1, 187.0]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("q.toml", "a = 1", "needs a list of queries"),
        ("q.toml", "query = []", "needs a list of queries"),
        ("q.toml", "query = 'age < 3'", "needs a list of queries"),
        ("q.toml", "query = [1]", "must be text"),
        ("q.toml", "[[query]]\nwhere = 3", "must be text"),
        ("q.toml", "[[query]]\nwhre = 'age < 3'", "no 'whre'"),
        ("q.toml", "[[query]]\naggregate = 'mean(age)'", "query 1: expected"),
        ("q.toml", "query = [", "q.toml"),
        ("q.txt", "# nothing", "has no query"),
    ],
)
def test_files_that_are_refused(tmp_path, name, text, told):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_queries(path, TABLES)
    assert told in str(caught.value)


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "q.txt"
    path.write_bytes(b"\xff\xfeage < 3")
    with pytest.raises(DataError, match="UTF-8"):
        read_queries(path, TABLES)


def test_the_command_line_reports_faults_of_a_file_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    people = pa.table({"age": [1, 2, 3, 4], "job": ["a", "a", "b", "b"]})
    pa.csv.write_csv(people, "people.csv")
    release = coterie.anonymize(people, quasi=["age", "job"], k=2)
    release.write("out.csv")
    (tmp_path / "q.txt").write_text("age < 'Zebulon'\njob = 'Zebulon'\nage < 3 or age > 5\n")
    given = ["measure", "people.csv", "out.csv", "--quasi", "age,job", "--query-file", "q.txt"]
    assert main(given) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: 3 problems: line 1: ")
    assert error.count("\n") == 1
    assert "Zebulon" not in error
    assert main([*given[:-1], "none.txt"]) == 3
    assert "none.txt: no such file" in capsys.readouterr().err


def test_masks_and_spans_say_the_same():
    texts = ["age between 20 and 45 and age not in (31)", "weight < 70 and weight > 50.5"]
    for query in bind_queries(texts, TABLES):
        (predicate,) = query.where
        cells = TABLES.column(predicate.column).before
        assert np.array_equal(cells.share(predicate) == 1, predicate.mask)
