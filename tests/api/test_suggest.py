"""suggest(), and what becomes of tables of many kinds when nobody edits its guesses."""

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.errors import CoterieError

RNG = np.random.default_rng(17)
N = 400


def words(*listed):
    return RNG.choice(listed, N)


TABLES = {
    "survey": {"age": RNG.integers(18, 90, N), "zip": RNG.integers(10_000, 10_050, N), "party": words("a", "b", "c")},
    "flowers": {f"length_{at}": RNG.normal(5, 1, N).round(1) for at in range(4)} | {"species": words("x", "y", "z")},
    "stops": {
        "lat": RNG.normal(50, 1, N),
        "long": RNG.normal(10, 1, N),
        "sex": words("f", "m"),
        "hour": RNG.integers(0, 24, N),
    },
    "visits": {
        "subject_id": np.arange(N) // 10,
        "age": RNG.integers(18, 90, N),
        "weight": RNG.normal(70, 9, N).round(1),
    },
    "pandas floats": {
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.integers(18, 90, N)),
        "income": RNG.integers(1, 90_000, N) * 1.0,
    },
    "contacts": {
        "who": [f"person{at}@example.org" for at in range(N)],
        "town": words("A", "B", "C"),
        "score": RNG.random(N),
    },
    "wide": {f"v{at}": RNG.integers(0, 40, N) for at in range(40)} | {"age": RNG.integers(18, 90, N)},
    "codes": {f"q{at}": RNG.integers(1, 6, N) for at in range(8)} | {"disease": words("flu", "gout")},
    "dates": {
        "born": pd.date_range("1940-01-01", periods=N, freq="37D").strftime("%Y-%m-%d"),
        "note": words("ok", "bad"),
    },
    "measurements": {f"m{at}": RNG.normal(size=N) for at in range(6)},
    "clusters": {
        "x": RNG.random(N).round(2),
        "y": RNG.random(N).round(2),
        "z": RNG.random(N).round(2),
        "label": words("p", "q"),
    },
}


@pytest.mark.parametrize("name", list(TABLES))
def test_no_release_that_singles_people_out_passes(name):
    table = pd.DataFrame(TABLES[name])
    config = coterie.suggest(table).config
    try:
        release = coterie.anonymize(table, config=config, method="mondrian")
    except CoterieError:
        return  # refused is fine
    published = release.frame.drop(columns=list(config.sensitive))
    unique = (~published.astype(str).duplicated(keep=False)).mean() if len(published.columns) else 0.0
    assert release.verdict.state != "pass" or unique <= 0.01
    identifiers = set(table.columns) - set(release.frame.columns)
    assert {"who", "subject_id", "lat", "long"} & set(table.columns) <= identifiers


def test_kept_columns_that_identify_together_are_not_kept():
    config = coterie.suggest(pd.DataFrame(TABLES["clusters"])).config
    assert not {"x", "y", "z"} & set(config.keep)


def test_a_wide_table_gets_a_short_list():
    suggestion = coterie.suggest(pd.DataFrame(TABLES["wide"]))
    config = suggestion.config
    assert "age" in config.quasi
    assert len(config.quasi) == 10
    assert len(config.drop) == 31
    assert "by how well it distinguishes rows: left out until you decide" in suggestion.toml


def test_repeated_ids_are_the_entity_and_codes_are_categories():
    assert coterie.suggest(pd.DataFrame(TABLES["visits"])).config.entity == "subject_id"
    assert coterie.suggest(pd.DataFrame(TABLES["codes"])).config.types["q0"] == "category"


def test_files_are_read_as_init_reads_them(tmp_path):
    pd.DataFrame(TABLES["survey"]).to_csv(tmp_path / "t.csv", index=False, sep=";")
    suggestion = coterie.suggest(tmp_path / "t.csv", delimiter=";")
    assert suggestion.config.delimiter == ";"
    assert [guess.name for guess in suggestion.columns] == ["age", "zip", "party"]
