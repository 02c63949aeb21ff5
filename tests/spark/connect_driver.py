"""A client of Spark Connect: anonymizes a file, and compares with what the embedded engine made of it.

python connect_driver.py ADDRESS INPUT FOLDER
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from spark_cases import assert_same, config_of, embedded

from coterie import spark
from coterie.errors import DataError


def main():
    """Release, compare, and see an error come through."""
    address, data, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    session = SparkSession.builder.remote(address).getOrCreate()
    config = config_of(privacy=["l-diversity:2:disease"])
    frame = session.read.parquet(str(data))
    release = spark.release(frame, config, row_number="number")
    assert_same(release, embedded(data, config, folder))
    release.write(folder / "written")
    release.unpersist()
    try:
        spark.release(frame, config_of(quasi=["disease"], sensitive=[], hierarchies={}, types={"disease": "number"}))
    except DataError as error:
        (folder / "refused").write_text(str(error))
    session.stop()


if __name__ == "__main__":
    main()
