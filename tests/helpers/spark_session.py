"""One session of Spark for all tests; where there is no Spark or no Java, they are skipped and say why."""

import os
import shutil
import socket
import sys
import warnings
from pathlib import Path

import pytest

ASKED = "COTERIE_TEST_SPARK"
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # Compiling queries for a few rows takes longer than running them.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "OFF",
}


def why_not():
    """Why Spark cannot run here; None if it can."""
    if not os.environ.get(ASKED):
        return "a session of Spark takes a while to start: make test-spark runs these"
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "Spark is not installed: make test-spark installs it"
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        return "no Java was found: scripts/install_java.sh installs it where it can"
    return None


@pytest.fixture(scope="session")
def spark_or_skip():
    """Skip where Spark cannot run."""
    if reason := why_not():
        pytest.skip(reason)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


@pytest.fixture(scope="session")
def session(spark_or_skip, tmp_path_factory):
    """Spark on two cores of this machine."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("coterie tests")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    scratch = {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))}
    # A server for clients of Spark Connect in the same Java process.
    scratch |= {"spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin"}
    scratch |= {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port)}
    for name, value in {**SETTINGS, **scratch}.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = builder.getOrCreate()
    yield started
    started.stop()
