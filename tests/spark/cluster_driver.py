"""A program on a cluster: anonymizes a file twice, and the second time a worker is lost in the midst of it.

python cluster_driver.py MASTER INPUT FOLDER PID_OF_WORKER
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

from spark_cases import config_of

from coterie.engines.engine import Job
from coterie.engines.spark.run import anonymize as anonymize_file


def lose_worker(context, pid, blocks, killed):
    """Kill a worker and its executor as soon as some blocks are grouped and others are not."""
    tracker = context.statusTracker()
    for _ in range(6000):
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None and info.numTasks == blocks and 1 <= info.numCompletedTasks < blocks:
                os.killpg(pid, signal.SIGKILL)
                killed.set()
                return
        time.sleep(0.01)


def main():
    """Run twice in one session."""
    master, data, folder, pid = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    from pyspark.sql import SparkSession
    from spark_session import SETTINGS

    more = {"spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.task.maxFailures": "8"}
    java = {"spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    builder = SparkSession.builder.master(master).appName("cluster test")
    for name, value in {**SETTINGS, **more, **java}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    context = session.sparkContext
    while len(context._jsc.sc().statusTracker().getExecutorInfos()) < 3:  # the driver is one of them
        time.sleep(0.2)
    config = config_of(engine="spark", block_rows=200, k=3)
    first = anonymize_file(data, Job(config, folder / "whole.parquet"))
    killed = threading.Event()

    def told(step, done, total):
        if step == "group":
            threading.Thread(target=lose_worker, args=(context, pid, first.blocks, killed), daemon=True).start()

    anonymize_file(data, Job(config, folder / "lost.parquet", progress=told))
    assert killed.is_set(), "the run was over before a worker could be lost"
    (folder / "blocks").write_text(str(first.blocks))
    session.stop()


if __name__ == "__main__":
    main()
