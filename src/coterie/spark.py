"""Anonymize a Spark DataFrame in the caller's session, on its cluster.

release = coterie.spark.release(dataframe, config)      .frame .measures .verification .write(path)
published = coterie.spark.anonymize(dataframe, config)  the DataFrame alone
"""

from __future__ import annotations

from coterie.engines.spark.frame import anonymize, release

__all__ = ["anonymize", "release"]
