"""What tests of Spark share: a small table with all kinds of columns, and what the embedded engine makes of it."""

import dataclasses
import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from coterie.engines.blocks.run import anonymize as anonymize_file
from coterie.engines.engine import Job
from coterie.settings.config import Config

REGIONS = {"North": ["a", "b", "c"], "South": ["d", "e"], "West": ["f", "g", "h"]}


def table_of(rows=1500, seed=0):
    """Numbers with NaN, dates, texts, missing values, odd column names; a row number of one's own."""
    rng = np.random.default_rng(seed)
    height = np.round(rng.normal(170, 9, rows), 0)
    height[rng.random(rows) < 0.02] = np.nan
    missing = rng.random(rows) < 0.03
    born = np.array([dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 400, rows) * 30])
    region = rng.choice(list("abcdefgh"), rows)
    return pa.table(
        {
            "full name": [f"person {number}" for number in range(rows)],
            "age": pa.array(rng.integers(18, 80, rows), pa.int32()),
            "height.cm": pa.array(height),
            "born": pa.array(born, pa.date32()),
            "region": pa.array([None if gone else each for each, gone in zip(region, missing, strict=True)]),
            "sex": pa.array(rng.choice(["f", "m"], rows)),
            "disease": pa.array(rng.choice(["flu", "cold", "gout", "mumps"], rows, p=[0.4, 0.3, 0.2, 0.1])),
            "pay": pa.array(rng.integers(0, 9, rows) * 100),
            "visitor": pa.array(rng.integers(0, 60, rows), mask=missing),
            "number": pa.array(np.arange(rows)),
        }
    )


COLUMNS = ("full name", "age", "height.cm", "born", "region", "sex", "disease", "pay", "visitor", "number")


def config_of(**changes):
    """A configuration for such a table; columns to which it gives no role are kept."""
    settings = {
        "quasi": ["age", "height.cm", "region", "sex"],
        "sensitive": ["disease", "pay"],
        "identifiers": ["full name"],
        "hierarchies": {"region": REGIONS},
        "k": 5,
        "method": "mondrian",
        "block_rows": 400,
        "threads": 1,
    }
    settings |= changes
    roles = ("quasi", "sensitive", "identifiers", "drop")
    listed = {settings.get("entity"), *(name for role in roles for name in settings.get(role, ()))}
    return Config(**{"keep": [name for name in COLUMNS if name not in listed], **settings})


def written(folder, table, *, name="in.parquet"):
    """The table as a file of several row groups."""
    path = folder / name
    parquet.write_table(table, path, row_group_size=331)
    return path


def embedded(path, config, folder):
    """The release of the embedded engine."""
    return anonymize_file(path, Job(config.replace(engine="blocks"), folder / "embedded.parquet", force=True))


def in_row_order(release):
    """A release of Spark as an Arrow table in the original order."""
    return release.place.numbered.orderBy("coterie_row").drop("coterie_row").toArrow()


def promises(verification):
    """What was found, but for which of several equally bad classes is named as the worst."""
    checks = tuple(check[:4] for check in verification.checks)
    return dataclasses.replace(verification, checks=checks)


def comparable(table):
    """The same table with another number in place of NaN, which Arrow finds unequal to itself."""
    for at, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            cells = table.column(at)
            table = table.set_column(at, field, pc.if_else(pc.is_nan(cells), -1.0, cells))
    return table


def assert_same(release, expected):
    """The same rows in the same order, the same measures, the same verdict."""
    found = in_row_order(release)
    assert found.column_names == expected.arrow.column_names
    # Types of Spark have other names for whether a column may hold null.
    assert comparable(found.cast(expected.arrow.schema)).equals(comparable(expected.arrow))
    assert dict(release.measures) == dict(expected.measures)
    assert promises(release.verification) == promises(expected.verification)
    assert release.blocks == expected.blocks
