"""Where a table is grouped: in memory, in blocks on disk, on a Spark cluster; and the steps that these share.

May import: arrays, errors, files, grouping, kernels, measures, methods, privacy, publishing, releases, settings,
table, values, verification, wording.
"""
