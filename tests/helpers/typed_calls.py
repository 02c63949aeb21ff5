"""Calls that type checkers have to take, and calls that they have to refuse: `# wrong` marks the latter."""

from __future__ import annotations

import pandas as pd

import coterie

people = pd.DataFrame({"age": [1, 2], "zip": ["a", "b"]})

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
