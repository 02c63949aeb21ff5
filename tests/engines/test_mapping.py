"""The mapping of a release made in blocks: the same lines as in memory, block after block."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from block_cases import config_of, run, table_of
from pyarrow import parquet
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from coterie.errors import Cancelled, ConfigError, DataError
from coterie.publishing.mapping import COLUMNS, mapping_table


def with_gaps(table, holes):
    return table.set_column(1, "age", pc.if_else(pa.array(np.arange(table.num_rows) < holes), None, table.column(1)))


def same_lines(found, expected):
    assert found.drop_columns(["cost", "share"]).equals(expected.drop_columns(["cost", "share"]))
    for name in ("cost", "share"):
        assert found.column(name).to_numpy() == pytest.approx(expected.column(name).to_numpy())


@pytest.mark.parametrize("method", ["mondrian", "compact", "nh", "incognito"])
@pytest.mark.parametrize("publish", [{}, {"age": "bounds"}, {"region": "set"}])
@pytest.mark.parametrize("holes", [0, 3, 9])
def test_one_block_has_the_mapping_of_the_release_in_memory(method, publish, holes, tmp_path):
    options = {"key": "a secret of the tests"} if method == "nh" else {}
    config = config_of(method=method, publish=publish, missing="suppress", options=options, weights={"sex": 3})
    table = with_gaps(table_of(200), holes)
    run(tmp_path, table, config, mapping=tmp_path / "mapping.parquet")
    whole = coterie.anonymize(table, config=config.replace(engine="memory"))
    same_lines(parquet.read_table(tmp_path / "mapping.parquet"), mapping_table(whole))


def test_blocks_follow_each_other(tmp_path):
    table, config = with_gaps(table_of(500), 8), config_of(block_rows=120, missing="suppress", weights={"age": 2})
    release = run(tmp_path, table, config, mapping=tmp_path / "mapping.parquet")
    found = parquet.read_table(tmp_path / "mapping.parquet")
    assert release.blocks > 2
    assert found.column_names == list(COLUMNS)
    groups = found.column("group").to_numpy()
    made = int(groups.max()) + 1
    assert groups.tolist() == [*np.repeat(np.arange(made), 3), -1, -1, -1]
    lines = found.filter(pc.equal(found.column("attribute"), "age"))
    assert sum(lines.column("rows").to_pylist()) == 500
    assert sum(found.column("share").to_pylist()) == pytest.approx(1)
    loss = sum(row["rows"] * row["weight"] * row["cost"] for row in found.to_pylist())
    assert loss == pytest.approx(release.measures["ncp"])
    # What the lines say is what the file shows: class → rows.
    cells = {(row["group"], row["attribute"]): row["published"] for row in found.to_pylist()}
    told: dict = {}
    for row in lines.to_pylist():
        key = tuple(str(cells[row["group"], name]) for name in config.quasi)
        told[key] = told.get(key, 0) + row["rows"]
    shown: dict = {}
    for row in release.arrow.select(list(config.quasi)).to_pylist():
        key = tuple(map(str, row.values()))
        shown[key] = shown.get(key, 0) + 1
    assert told == shown


def test_a_run_that_was_stopped_goes_on_with_its_mapping(tmp_path):
    table, config = table_of(400), config_of(block_rows=90)
    run(tmp_path, table, config, out="whole.parquet", mapping=tmp_path / "whole.csv")

    def told(step, done, total):
        if step.startswith("group:") and done:
            raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, Cancelled)):
        run(tmp_path, table, config, progress=told, mapping=tmp_path / "mapping.csv")
    with pytest.raises(DataError, match="whether it writes a mapping"):
        run(tmp_path, table, config, resume=True)


def test_mappings_of_resumed_runs_are_the_same(tmp_path):
    table, config = table_of(400), config_of(block_rows=90)
    run(tmp_path, table, config, out="whole.parquet", mapping=tmp_path / "whole.csv")
    done = []

    def told(step, *_):
        done.append(step)
        if step.startswith("group: 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, table, config, progress=told, mapping=tmp_path / "mapping.csv")
    run(tmp_path, table, config, resume=True, mapping=tmp_path / "mapping.csv")
    assert (tmp_path / "mapping.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_mappings_are_refused_before_the_work(tmp_path):
    for mapping in (tmp_path / "out.parquet", tmp_path / "in.parquet", "-", tmp_path / "mapping.txt.xz"):
        with pytest.raises(ConfigError):
            run(tmp_path, table_of(50), config_of(), mapping=mapping)
    (tmp_path / "there.csv").write_text("kept")
    with pytest.raises(ConfigError, match="exists already"):
        run(tmp_path, table_of(50), config_of(), mapping=tmp_path / "there.csv")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("engine", ["memory", "blocks"])
def test_anonymize_and_the_command_line_write_it(engine, tmp_path):
    parquet.write_table(table_of(200), tmp_path / "in.parquet")
    settings = {"quasi": ["age", "sex"], "k": 5, "engine": engine, "method": "mondrian"}
    settings["drop"] = ["name", "region", "disease", "remark"]
    coterie.anonymize(tmp_path / "in.parquet", output=tmp_path / "a.csv", mapping=tmp_path / "map-a.csv", **settings)
    arguments = [str(tmp_path / "in.parquet"), "-o", str(tmp_path / "b.csv"), "--mapping", str(tmp_path / "map-b.csv")]
    done = CliRunner().invoke(
        app,
        [
            "anonymize",
            *arguments,
            "--quasi",
            "age,sex",
            "-k",
            "5",
            "--engine",
            engine,
            "--method",
            "mondrian",
            "--drop",
            "name,region,disease,remark",
        ],
    )
    assert done.exit_code == 0, done.output
    assert "It contains original values: keep it secret." in done.output
    assert (tmp_path / "map-a.csv").read_bytes() == (tmp_path / "map-b.csv").read_bytes()
