"""Engines that make a release: in memory, in blocks on disk, or on a Spark cluster; and the steps they share.

May import: arrays, errors, files, grouping, kernels, measures, methods, privacy, publishing, releases, settings,
table, values, verification, wording.
"""
