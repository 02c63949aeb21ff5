"""Spark Connect: the program is a client, in a process of its own, of the Spark that all tests share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from spark_cases import table_of, written

HERE = Path(__file__).parent


def test_a_client_of_spark_connect_gets_the_same_release(session, tmp_path):
    pytest.importorskip("grpc", reason="Spark Connect is not installed: make test-spark installs it")
    address = f"sc://127.0.0.1:{session.conf.get('spark.connect.grpc.binding.port')}"
    path = written(tmp_path, table_of(600))
    done = subprocess.run(
        [sys.executable, str(HERE / "connect_driver.py"), address, str(path), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parent / "helpers")))},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert [each.name for each in (tmp_path / "written").iterdir()] == ["part-00000.parquet"]
    assert "'disease'" in (tmp_path / "refused").read_text()
