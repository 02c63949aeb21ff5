"""What tests over engines share: the engines, by decorator, and combinations of settings that cover every pair."""

import itertools
import random

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import coterie
from coterie.errors import CoterieError

QUASI = ["age", "place", "job", "born"]
PLACES = {"North": ["a", "b", "c"], "South": ["d", "e"], "West": {"Coast": ["f", "g"], "Hills": ["h"]}}
ILLS = {"lung": ["flu", "cough"], "skin": ["pox", "rash"]}

# What a release may be made of; a value of a dimension is its settings.
METHODS = {
    "bottom-up": {},
    "cb": {},
    "compact": {"options": {"effort": "fast"}},
    "gccg": {},
    "incognito": {},
    "incognito, some rows suppressed": {"options": {"suppress_at_most": 0.1}},
    "kaca": {},
    "kaca, some rows suppressed": {"options": {"suppress_above": 0.4}},
    "kmembers": {},
    "mondrian": {},
    "mondrian, refined": {"refine": True},
    "nh": {"options": {"key": "a secret of the tests"}},
    "optimal": {"k": 2},
    "top-down": {},
}
MODELS = {
    "k alone": {},
    **{
        text: {"privacy": [text]}
        for text in (
            "k-anonymity:4",
            "l-diversity:2:ill",
            "l-diversity:2:ill:frequency",
            "l-diversity:1.8:ill:entropy",
            "l-diversity:2:ill:recursive:3",
            "t-closeness:0.4:ill",
            "t-closeness:0.3:pay:ordered",
            "t-closeness:0.3:ill:hierarchical",
            "alpha-k:0.7:ill:3",
            "beta-likeness:3:ill",
            "beta-likeness:4:ill:enhanced",
            "delta-disclosure:2:sex",
            "k-map:6:population.csv",
        )
    },
    "two models": {"privacy": ["l-diversity:2:ill", "t-closeness:0.5:pay:ordered"]},
    "people": {"entity": "who"},
}
STYLES = {
    "intervals and ancestors": {},
    "bounds": {"publish": {"age": "bounds", "born": "bounds"}},
    "means": {"publish": {"age": "mean"}},
    "medians": {"publish": {"age": "median"}},
    "sets": {"publish": {"place": "set", "job": "set"}},
    "in order": {"ordered": {"job": ["smith", "cook", "clerk", "nurse"]}},
}
MISSING = {name: {"missing": name} for name in ("category", "suppress", "error")}
SUPPRESSED = {name: {"suppressed": name} for name in ("auto", "remove")}
DIMENSIONS = (METHODS, MODELS, STYLES, MISSING, SUPPRESSED)


def covering(dimensions=DIMENSIONS, *, seed=0, width=2):
    """Combinations of one value of each dimension that hold every pair of values, or so many; always the same."""
    draw = random.Random(seed)
    names = [list(each) for each in dimensions]
    places = list(itertools.combinations(range(len(names)), width))
    left = {(at, values) for at in places for values in itertools.product(*(names[place] for place in at))}
    made = []
    while left:
        fixed = dict(zip(*min(left, key=str), strict=True))
        tries = [tuple(fixed.get(at, draw.choice(values)) for at, values in enumerate(names)) for _ in range(30)]
        best = max(tries, key=lambda row: len(_held(row, places) & left))
        left -= _held(best, places)
        made.append(best)
    return made


def _held(row, places):
    return {(at, tuple(row[place] for place in at)) for at in places}


def engines(*names):
    """Ask a test of each of these engines; `make test-spark` asks Spark."""
    return pytest.mark.parametrize("engine", names, indirect=True)


def table_for(case):
    """A table for a combination: small where the method takes no other, complete where missing values are an error."""
    rows, seed = (9, 3) if case[0] == "optimal" else (80, 0)
    return table_of(rows, seed, complete=case[3] == "error")


def table_of(rows, seed=0, *, complete=False):
    """Numbers, dates, categories with and without a hierarchy, missing values, people with several rows."""
    rng = np.random.default_rng(seed)

    def gaps(values, share):
        gone = rng.random(rows) < (0 if complete else share)
        return pa.array([None if missing else each for each, missing in zip(values, gone, strict=True)])

    days = rng.integers(0, 12, rows) * 100
    return pa.table(
        {
            "age": gaps(rng.integers(18, 50, rows).tolist(), 0.04),
            "place": gaps(rng.choice(list("abcdefgh"), rows).tolist(), 0.04),
            "job": pa.array(rng.choice(["cook", "smith", "nurse"], rows)),
            "born": pa.array(np.datetime64("1960-01-01") + days.astype("timedelta64[D]")),
            "ill": gaps(rng.choice(["flu", "cough", "pox", "rash"], rows, p=[0.4, 0.3, 0.2, 0.1]).tolist(), 0.02),
            "pay": pa.array(rng.integers(1, 6, rows) * 100),
            "sex": pa.array(rng.choice(["f", "m"], rows)),
            "who": pa.array([f"person {number}" for number in rng.integers(0, rows // 2 + 1, rows)]),
            "note": pa.array([f"note {number}" for number in range(rows)]),
        }
    )


def settings_of(case, folder, **more):
    """The settings of a combination."""
    method, *_ = case
    settings = {
        "quasi": QUASI,
        "sensitive": ["ill", "pay", "sex"],
        "keep": ["note"],
        "drop": ["who"],
        "hierarchies": {"place": PLACES, "ill": ILLS},
        "k": 3,
        "method": method.split(",")[0],
        "threads": 1,
    }
    for values, name in zip(DIMENSIONS, case, strict=True):
        settings |= values[name]
    if "entity" in settings:
        settings["drop"] = []
    settings["privacy"] = [text.replace("population", f"{folder}/population") for text in settings.get("privacy", ())]
    return settings | more


def written(folder, table):
    """The table as a file, with a population to compare with."""
    path = folder / "in.parquet"
    parquet.write_table(table, path, row_group_size=23)
    csv.write_csv(pa.concat_tables([table_of(900, seed=9), table]).select(QUASI), folder / "population.csv")
    return path


def outcome(engine, path, settings, folder):
    """The release that an engine makes of a file, or the error with which it refuses."""
    output = folder / f"{engine}.parquet"
    output.unlink(missing_ok=True)
    try:
        return coterie.anonymize(path, output=output, engine=engine, force=True, **settings)
    except CoterieError as error:
        assert not output.exists()
        return error
