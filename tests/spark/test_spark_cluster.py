"""A real master with two workers on this machine, one of which is lost while blocks are grouped."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import parquet
from spark_cases import comparable, config_of, embedded, table_of, written

HERE = Path(__file__).parent
PATIENCE_S = 240
DAEMON = "org.apache.spark.deploy"


class Cluster:
    """Processes of a cluster, each the first of its own group."""

    def __init__(self, folder):
        import pyspark

        self.folder = folder
        self.command = Path(pyspark.__file__).parent / "bin" / "spark-class"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.master = f"spark://127.0.0.1:{self.port}"
        self.processes = []

    def start(self, name, *words):
        """Start a master or a worker, and give back its process."""
        work = self.folder / name
        work.mkdir()
        more = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "192m", "SPARK_LOCAL_DIRS": str(work)}
        more |= {"SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "SPARK_WORKER_DIR": str(work)}
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(self.command), *words], env={**os.environ, **more}, stdout=log, stderr=log, start_new_session=True
            )
        self.processes.append(process)
        return process

    def wait_for(self, name, text):
        """Wait until a process has said something."""
        for _ in range(PATIENCE_S * 5):
            if text in (self.folder / f"{name}.log").read_text(errors="replace"):
                return
            time.sleep(0.2)
        pytest.fail(f"{name} did not start")

    def stop(self):
        """End all processes that are left."""
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            process.wait(timeout=PATIENCE_S)


@pytest.fixture
def cluster(spark_or_skip, tmp_path):
    """A master and two workers of one core each."""
    made = Cluster(tmp_path)
    try:
        made.start(
            "master", f"{DAEMON}.master.Master", "--host", "127.0.0.1", "--port", str(made.port), "--webui-port", "0"
        )
        made.wait_for("master", "I have been elected leader")
        words = ["--cores", "1", "--memory", "1g", "--webui-port", "0", made.master]
        for name in ("one", "two"):
            made.start(name, f"{DAEMON}.worker.Worker", "--host", "127.0.0.1", *words)
        for name in ("one", "two"):
            made.wait_for(name, "Successfully registered with master")
        yield made
    finally:
        made.stop()


def test_two_workers_give_the_release_of_the_embedded_engine_also_when_one_is_lost(cluster, tmp_path):
    path = written(tmp_path, table_of(2000))
    words = [cluster.master, str(path), str(tmp_path), str(cluster.processes[-1].pid)]
    done = subprocess.run(
        [sys.executable, str(HERE / "cluster_driver.py"), *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parent / "helpers")))},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert cluster.processes[-1].poll() == -signal.SIGKILL
    expected = comparable(embedded(path, config_of(block_rows=200, k=3), tmp_path).arrow)
    for name in ("whole.parquet", "lost.parquet"):
        assert comparable(parquet.read_table(tmp_path / name)).equals(expected)
    assert int((tmp_path / "blocks").read_text()) >= 8
