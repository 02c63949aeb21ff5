"""What tests of large tables share: small tables that are treated as if they were large."""

import numpy as np
import pyarrow as pa
from decided import kept_otherwise
from pyarrow import parquet

from coterie.engines.blocks.run import anonymize as anonymize_file
from coterie.engines.engine import Job
from coterie.settings.config import Config

REGIONS = {"North": ["a", "b", "c"], "South": ["d", "e"], "West": ["f", "g", "h"]}


def table_of(rows=600, seed=0):
    """Rows with a number, a category with and one without a hierarchy, a sensitive column, a name and a remark."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"person {number}" for number in range(rows)],
            "age": pa.array(rng.integers(18, 80, rows)),
            "region": pa.array(rng.choice(list("abcdefgh"), rows)),
            "sex": pa.array(rng.choice(["f", "m"], rows)),
            "disease": pa.array(rng.choice(["flu", "cold", "gout", "mumps"], rows, p=[0.4, 0.3, 0.2, 0.1])),
            "remark": [f"remark {number}" for number in range(rows)],
        }
    )


COLUMNS = ("name", "age", "region", "sex", "disease", "remark")


def config_of(*, columns=COLUMNS, **changes):
    """A configuration for such a table, or one with other columns; those to which it gives no role are kept."""
    settings = {
        "quasi": ["age", "region", "sex"],
        "sensitive": ["disease"],
        "identifiers": ["name"],
        "hierarchies": {"region": REGIONS},
        "k": 5,
        "method": "mondrian",
        "engine": "blocks",
        "memory": "1GB",
        "threads": 1,
    }
    return Config(**kept_otherwise(columns, {**settings, **changes}))


def run(folder, table, config=None, *, out="out.parquet", row_group=None, **job):
    """Write a table, anonymize the file in blocks, and give back the release."""
    path = folder / "in.parquet"
    parquet.write_table(table, path, row_group_size=row_group)
    return anonymize_file(path, Job(config or config_of(), folder / out, **job))
