"""Calls that type checkers have to take, and calls that they have to refuse: `# wrong` marks the latter.

`# wrong for pyright` marks what mypy cannot see here: it has no types of Arrow.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl

import coterie

people = pd.DataFrame({"age": [1, 2], "zip": ["a", "b"]})
birds = pl.DataFrame({"age": [1, 2], "zip": ["a", "b"]})
rows: Any = ...  # a DataFrame of Spark, which is not always installed

release = coterie.anonymize(people, quasi=["age", "zip"], k=3, weights={"age": 2}, missing="suppress")
coterie.anonymize("people.csv", quasi="age", sensitive=("disease",), privacy=[coterie.LDiversity(3), "t-closeness:0.2"])
coterie.anonymize("people.csv", config="coterie.toml", hierarchies={"zip": coterie.prefixes(5, 3), "job": "job.csv"})
coterie.anonymize(
    "people.csv", config={"quasi": ["age"]}, time_limit=2.5, threads=None, engine="blocks", output="o.csv"
)
coterie.verify("out.csv", quasi=["age"], k=None, privacy="l-diversity:2")
coterie.measure("people.csv", "out.csv", quasi=["age"], leaf_counts="hierarchy")
coterie.compare("people.csv", quasi=["age"], k=[2, 5], privacy=["none"])
coterie.risk("people.csv", quasi=["age"], fraction=0.1, threshold="ema")
coterie.Config(quasi=["age"], k=5).replace(k=6)

of_pandas: coterie.Release[pd.DataFrame] = release
of_polars = coterie.anonymize(birds, quasi=["age"])
of_polars.frame.group_by("age").len().filter(pl.col("len") < 3)
any_release: coterie.Release = of_polars
more: list[coterie.Release[pl.DataFrame]] = [of_polars]
table: pl.DataFrame = of_polars.mapping()
coterie.anonymize(birds.lazy(), quasi=["age"]).frame.to_pylist()
coterie.anonymize("people.parquet", quasi=["age"]).frame.to_pandas()
coterie.spark.anonymize(rows, quasi=["age"], k=5, row_number="id")
coterie.spark.release(rows, {"quasi": ["age"]}, missing="suppress").frame.count()

coterie.anonymize(people, quasy=["age"])  # wrong
coterie.anonymize(people, quasi=["age"], k="three")  # wrong
coterie.anonymize(people, quasi=[1, 2])  # wrong
coterie.anonymize(people, quasi=["age"], missing="ignore")  # wrong
coterie.anonymize(people, quasi=["age"], publish={"age": "middle"})  # wrong
coterie.anonymize(people, quasi=["age"], refine="yes")  # wrong
coterie.verify("out.csv", quasi=["age"], k="three")  # wrong
coterie.measure("people.csv", "out.csv", quasi=["age"], leaf_count="present")  # wrong
coterie.risk("people.csv", quasi=["age"], seed="one")  # wrong
coterie.Config(quasi=["age"], k="five")  # wrong
coterie.Config(quasi=["age"]).replace(kk=6)  # wrong
coterie.anonymize(3, quasi=["age"])  # wrong for pyright
coterie.anonymize({"age": [1, 2]}, quasi=["age"])  # wrong for pyright
of_polars.frame.groupby("age")  # wrong
wrong: coterie.Release[pl.LazyFrame] = of_polars  # wrong
of_rows: coterie.Release[int] = coterie.anonymize(birds, quasi=["age"])  # wrong
coterie.spark.anonymize(rows, quasy=["age"])  # wrong
coterie.spark.anonymize(rows, quasi=["age"], k="three")  # wrong
coterie.spark.anonymize(rows, quasi=["age"], persist="yes")  # wrong
coterie.spark.release(rows, quasi=["age"], missing="ignore")  # wrong
coterie.spark.release(rows, quasi=["age"], output="out")  # wrong
