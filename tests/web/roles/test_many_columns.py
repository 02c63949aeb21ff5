"""Tables of very many columns: pages do not read the same things once for each of them."""

import pyarrow as pa
from pyarrow import parquet

from coterie.web.configuration import configuration
from coterie.web.hierarchies.overview import entries
from coterie.web.project import write_json


def test_the_list_of_very_many_columns_reads_the_configuration_and_the_table_once(app, monkeypatch):
    names = [f"column {at}" for at in range(60)]
    project = app.state.projects.create("wide.csv")
    parquet.write_table(pa.table({name: ["1", "2", "13"] for name in names}), project.table_path)
    facts = [
        {"index": at, "name": name, "kind": "integer", "distinct": 3, "missing": 0, "role": "quasi", "reason": ""}
        for at, name in enumerate(names)
    ]
    table = {"rows": 3, "format": "csv", "delimiter": ",", "encoding": "utf-8"}
    write_json(project.folder / "facts.json", {**table, "columns": facts})
    rules = {name: "flat" if at % 2 else {"intervals": [5]} for at, name in enumerate(names)}
    configuration.change(project, {"quasi": names, "hierarchies": rules})
    asked = []
    opened, read = parquet.ParquetFile, configuration.read_toml
    monkeypatch.setattr(parquet, "ParquetFile", lambda *rest: asked.append("table") or opened(*rest))
    monkeypatch.setattr(configuration, "read_toml", lambda *rest: asked.append("configuration") or read(*rest))
    first = entries(project)
    assert [entry.good for entry in first] == [True] * 60
    assert asked.count("table") == 1
    assert asked.count("configuration") <= 2
    # What was found holds as long as the table and the rule do.
    assert entries(project) == first
    assert asked.count("table") == 1
    configuration.change(project, {"hierarchies": {**rules, names[7]: {"1": ["1"], "other": ["2"]}}})
    again = entries(project)
    assert [entry.column.index for entry in again if not entry.good] == [7]
    assert "1 value" in again[7].wrong
