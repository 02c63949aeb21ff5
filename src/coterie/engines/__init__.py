"""Where a table is grouped: in memory, in blocks on disk, on a Spark cluster; and the steps that these share."""
