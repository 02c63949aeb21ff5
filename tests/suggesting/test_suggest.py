"""Guesses about columns: sensible, safe, explained, and free of cell values."""

from __future__ import annotations

import datetime as dt
import tomllib

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.settings.config import Config
from coterie.suggesting.names import meaning, parts
from coterie.suggesting.proposals import smallest_group
from coterie.suggesting.suggest import count, guess_from, guess_table, missing_marks, without_marks
from coterie.suggesting.toml import suggestion_toml

ROWS = 200


def column(values) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


def guess(name, values):
    return guess_from(name, count(column(values)))


AGES = [str(20 + i % 50) for i in range(ROWS)]
WORDS = [f"word{i}" for i in range(ROWS)]


@pytest.mark.parametrize(
    "name",
    [
        "name",
        "first_name",
        "lastName",
        "E-Mail",
        "phone",
        "SSN",
        "patient_id",
        "Patient ID",
        "Nachname",
        "apellido",
        "Straße",
    ],
)
def test_identifiers_by_name(name):
    found = guess(name, WORDS)
    assert found.role == "identifier"
    assert "name suggests" in found.reason


@pytest.mark.parametrize(
    "name",
    [
        "age",
        "Alter",
        "edad",
        "SEX",
        "Geschlecht",
        "sexo",
        "maritalStatus",
        "estado civil",
        "native-country",
        "race",
        "job",
        "education",
    ],
)
def test_quasi_identifiers_by_name(name):
    assert guess(name, ["a", "b", "c", "d"] * 50).role == "quasi"


@pytest.mark.parametrize(
    "name", ["disease", "Diagnose", "income", "Gehalt", "salary-class", "religion", "enfermedad", "HIV"]
)
def test_sensitive_by_name(name):
    assert guess(name, ["a", "b", "c", "d"] * 50).role == "sensitive"


def test_the_last_noun_decides_and_the_longest_phrase_before_it():
    assert meaning("patient_age").what == "an age"
    assert meaning("birth name").role == "identifier"
    assert meaning("ZIP_CODE") == meaning("zipCode") == meaning("zip code") == meaning("Zip5")
    assert meaning("xqz") is None
    assert parts("homeZIPCode_2 (ß)") == ["home", "zip", "code", "2", "ss"]


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([f"user{i}@example.org" for i in range(ROWS)], "e-mail"),
        ([f"{100 + i}-{10 + i % 80}-{1000 + i}" for i in range(ROWS)], "social security"),
        ([f"+49 30 {100000 + i}" for i in range(ROWS)], "telephone"),
    ],
)
def test_identifiers_by_content(values, what):
    found = guess("column7", values)
    assert found.role == "identifier"
    assert what in found.reason


def test_dates_with_the_day_first_are_no_telephone_numbers():
    days = [f"{1 + at % 28:02}.{1 + at % 12:02}.{1900 + at % 100}" for at in range(ROWS)]
    assert "telephone" not in guess("column7", days).reason
    found = guess("Geburtsdatum", days)
    assert (found.role, "telephone" in found.reason) == ("quasi", False)


def test_nearly_unique_texts_and_whole_numbers_identify():
    assert guess("c", WORDS).role == "identifier"
    assert guess("c", list(range(ROWS))).role == "identifier"
    assert guess("c", [f"{i:05}" for i in range(ROWS)]).role == "identifier"
    # The name of a postal code or an age says more than its many values.
    assert guess("zip", [f"{i:05}" for i in range(ROWS)]).role == "quasi"
    assert guess("age", list(range(ROWS))).role == "quasi"


def test_long_texts_may_name_people():
    texts = [f"note {i % 120} about somebody, written down by somebody else at some time" for i in range(ROWS)]
    assert guess("remarks", texts).role == "identifier"


def test_in_doubt_a_quasi_identifier():
    found = guess("column7", ["a", "b"] * 100)
    assert found.role == "quasi"
    assert "uncertain" in found.reason


def test_an_identifier_by_name_that_hardly_varies_is_none():
    assert guess("mobile", ["yes", "no"] * 100).role == "quasi"
    # An identifier of persons with several rows each stays one.
    assert guess("patient_id", [i // 4 for i in range(ROWS)]).role == "identifier"


def test_measurements_constants_and_empty_columns_are_left():
    assert guess("c", [i % 90 / 7 for i in range(ROWS)]).role == "other"
    assert guess("c", ["x"] * ROWS).role == "other"
    assert guess("c", pa.array([None] * ROWS, pa.string())).role == "other"


def test_types_and_hierarchies():
    def form(name, values):
        found = guess(name, values)
        assert found.role == "quasi"
        return found.type, found.hierarchy

    assert form("age", AGES) == (None, None)
    assert form("age", [20.0, 21.0, None, float("nan")] * 50) == (None, None)
    assert form("zip", ["02138", "02139"] * 100) == ("category", {"prefixes": []})
    assert form("zip", [2138, 2139] * 100) == ("category", {"prefixes": []})
    assert form("code", ["0123", "4567"] * 100) == ("category", {"prefixes": []})
    assert form("birth", ["1990-01-02", "1991-03-04"] * 100) == (None, {"dates": ["month", "year", "decade"]})
    assert form("birth", [dt.date(1990, 1, 2), dt.date(1991, 3, 4)] * 100)[1] == {"dates": ["month", "year", "decade"]}
    assert form("sex", ["1", "2"] * 100) == ("category", None)
    assert form("sex", ["m", "f"] * 100) == (None, None)
    assert form("age", [*AGES[:-1], "unknown"]) == ("category", None)
    assert form("flag", [True, False] * 100) == (None, None)


def test_counts():
    found = guess("age", [1.0, None, float("nan"), 2.0, 2.0])
    assert (found.distinct, found.missing) == (2, 2)
    found = guess("x", pa.array(["a", None, "b", "a"]).dictionary_encode())
    assert (found.distinct, found.missing) == (2, 1)


def test_marks_of_missing_values():
    table = pa.table({"a": ["1", "?", "2"], "b": ["x", "NA", "?"], "n": [1, 2, 3]})
    assert missing_marks(table) == ["?", "NA"]
    assert without_marks(table, ["?", "NA"]).to_pydict() == {
        "a": ["1", None, "2"],
        "b": ["x", None, None],
        "n": [1, 2, 3],
    }
    assert missing_marks(pa.table({"a": ["1", "2"]})) == []


def test_k_fits_the_table():
    assert [smallest_group(rows) for rows in (1, 4, 15, 59, 60, 10**6)] == [2, 2, 3, 11, 12, 12]


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
cells = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["1", "2", "0123", "1990-01-02", "1.5"]),
)


@given(st.dictionaries(names, st.lists(cells, min_size=8, max_size=8), min_size=1, max_size=6))
def test_any_table_gives_a_configuration_that_fits_it(columns):
    table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    guesses = guess_table(table)
    text = suggestion_toml(guesses, source="any\nfile.csv", rows=table.num_rows, reading={"missing_values": ["", "?"]})
    config = Config.from_dict(tomllib.loads(text))
    listed = [*config.quasi, *config.sensitive, *config.identifiers]
    assert sorted(listed) == sorted(each.name for each in guesses if each.role != "other")
    if config.quasi:
        config.check_columns(table.column_names)


def test_the_text_holds_reasons_and_counts_but_no_cells():
    table = pa.table(
        {
            "name": [f"Zebulon{i}" for i in range(ROWS)],
            "age": AGES,
            "zip": [f"0{4000 + i % 30}" for i in range(ROWS)],
            "disease": ["plague", "pox"] * 100,
            "height": [f"{150 + i / 7:.3f}" for i in range(ROWS)],
            "reading": [f"{i % 9 / 7:.3f}" for i in range(ROWS)],
        }
    )
    text = suggestion_toml(guess_table(table), source="people.csv", rows=ROWS)
    for cell in {cell for values in table.to_pydict().values() for cell in values} - set(AGES):
        assert cell not in text
    for line in ("50 distinct, 0 missing", "people.csv (200 rows)", "zip = { prefixes = [] }", 'zip = "category"'):
        assert line in text
    assert tomllib.loads(text)["keep"] == ["reading"]
    assert '"reading",  # decimal numbers' in text
    assert '"name",  # the name suggests a person' in text


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([f"{1 + i % 28}.{1 + i % 12}.{1950 + i % 40}" for i in range(ROWS)], "2024-03-05"),
        ([f"{150 + i % 40},{i % 10}" for i in range(ROWS)], "decimal point"),
        ([f"{i % 9}.{100 + i % 800},5" for i in range(ROWS)], "decimal point"),
        ([f"{1950 + i % 40}-03-05" for i in range(ROWS)], None),
        ([f"{150 + i % 40}.5" for i in range(ROWS)], None),
        ([f"ward {i % 7}" for i in range(ROWS)], None),
        ([None] * ROWS, None),
    ],
)
def test_dates_and_numbers_in_another_form_are_told_how_to_be_written(cells, told):
    reason = guess("column7", cells).reason
    assert (told in reason) if told else ("written" not in reason)


@pytest.mark.parametrize(
    "values",
    [
        [f"{20 + i % 50}.0" if i % 9 else None for i in range(ROWS)],
        [f"{20 + i % 50}.0" if i % 9 else "" for i in range(ROWS)],
        [20.0 + i % 50 if i % 9 else None for i in range(ROWS)],
        [20.0 + i % 50 if i % 9 else float("nan") for i in range(ROWS)],
    ],
)
def test_whole_numbers_with_missing_cells_are_whole_numbers(values):
    if "" in values:
        values = without_marks(pa.table({"c": values}), [""]).column("c").to_pylist()
    found = guess("visits", values)
    assert found.role == "quasi"
    assert count(column(values)).kind == "integer"
    # And record numbers stay record numbers.
    assert guess("c", [f"{i}.0" for i in range(ROWS)]).role == "identifier"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("lat", "long"),
        ("latitude", "longitude"),
        ("Lat", "Lon"),
        ("lat", "lng"),
        ("pickup_latitude", "pickup_longitude"),
        ("lat_home", "long_home"),
        ("x", "y"),
        ("coord_x", "coord_y"),
        ("x_coord", "y_coord"),
        ("xcoord", "ycoord"),
        ("easting", "northing"),
    ],
)
@pytest.mark.parametrize("few", [False, True])
def test_coordinates_come_in_pairs(one, two, few):
    # One of them may repeat and the other not: neither is published alone.
    first = [50 + (i % 3 if few else i) / 7 for i in range(ROWS)]
    guesses = guess_table(pa.table({one: first, two: [8 + i % 90 / 7 for i in range(ROWS)], "c": AGES}))
    assert [guess.role for guess in guesses] == ["identifier", "identifier", "quasi"]


def test_half_of_a_pair_is_no_coordinate():
    values = [8 + i % 90 / 7 for i in range(ROWS)]
    for names in (["x", "z"], ["long", "y"], ["start_x", "end_y"], ["how_long", "b"]):
        assert [guess.role for guess in guess_table(pa.table(dict.fromkeys(names, values)))] == ["other", "other"]
    texts = pa.table({"x": ["yes", "no"] * 100, "y": ["yes", "no"] * 100})
    assert [guess.role for guess in guess_table(texts)] == ["quasi", "quasi"]


def entities(**columns):
    guesses = guess_table(pa.table({**columns, "age": AGES}))
    text = suggestion_toml(guesses, source="visits.csv", rows=ROWS)
    assert [guess.name for guess in guesses if guess.entity] == [
        name for name in [Config(**tomllib.loads(text)).entity] if name
    ]
    return Config(**tomllib.loads(text))


@pytest.mark.parametrize(
    "name",
    ["patient_id", "PatientID", "patientid", "customer no", "user_id", "USUBJID", "client.code", "Kundennummer", "mrn"],
)
@pytest.mark.parametrize("people", [12, 70])
def test_several_rows_of_a_person_make_k_count_people(name, people):
    config = entities(**{name: [f"P{i % people:03}" for i in range(ROWS)]})
    assert config.entity == name
    assert config.identifiers == (name,)
    assert config.k == smallest_group(people)


def test_no_entity_where_rows_are_people_or_the_name_means_something_else():
    repeated = [str(i % 70) for i in range(ROWS)]
    assert entities(patient_id=WORDS).entity is None
    assert entities(patient_id=["P1"] * ROWS).entity is None
    assert entities(order_id=repeated).entity is None
    assert entities(customer_segment=["a", "b"] * 100).entity is None
    assert entities(subject=["maths", "physics"] * 100).entity is None
    assert entities(subject=repeated).entity == "subject"


def test_the_choice_among_several_is_stated_and_does_not_depend_on_the_order():
    columns = {"user_id": [str(i % 30) for i in range(ROWS)], "patient_id": [str(i % 70) for i in range(ROWS)]}
    for names in (["user_id", "patient_id"], ["patient_id", "user_id"]):
        config = entities(**{name: columns[name] for name in names})
        assert config.entity == "patient_id"
        assert set(config.identifiers) == {"user_id", "patient_id"}
    guesses = guess_table(pa.table(columns))
    assert "as patient_id does" in next(guess.reason for guess in guesses if guess.name == "user_id")


def test_decimals_that_differ_in_nearly_every_row_are_not_published_unchanged():
    assert guess("reading", [i / 7 for i in range(ROWS)]).role == "quasi"
    assert guess("reading", [f"{i / 7:.4f}" for i in range(ROWS)]).role == "quasi"
    assert guess("income", [i / 7 for i in range(ROWS)]).role == "sensitive"
    assert guess("reading", [i / 7 for i in range(20)]).role == "other"


@pytest.mark.parametrize(
    ("rows", "role"),
    [
        (1_000, "quasi"),  # most pairs of an age and a reading occur once
        (90_000, "other"),  # each pair occurs 20 times
    ],
)
def test_decimals_that_single_people_out_with_the_quasi_identifiers_are_not_kept(rows, role):
    ages, readings = [20 + i % 50 for i in range(rows)], [i // 50 % 90 / 7 for i in range(rows)]
    table = pa.table({"age": ages, "reading": readings, "diagnosis": ["flu", "gout"] * (rows // 2)})
    alone, with_age = guess_table(table.select(["reading"])), guess_table(table)
    assert [each.role for each in alone] == ["other"]  # every reading repeats
    assert [each.role for each in with_age] == ["quasi", role, "sensitive"]
    assert ("with other columns it singles people out" in with_age[1].reason) == (role == "quasi")
    text = suggestion_toml(with_age, source="people.csv", rows=rows)
    assert tomllib.loads(text)["keep"] == (["reading"] if role == "other" else [])


def test_what_only_sensitive_columns_tell_apart_is_kept():
    """Nobody knows them, so the verdict does not count them either."""
    readings = [i // 50 % 90 / 7 for i in range(9_000)]
    guesses = guess_table(pa.table({"reading": readings, "income": [i / 7 for i in range(9_000)]}))
    assert [each.role for each in guesses] == ["other", "sensitive"]
