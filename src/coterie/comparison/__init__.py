"""Compare methods, k and privacy models on one table.

May import: arrays, charts, engines, errors, evaluation, files, methods, releases, settings, table, wording.
"""
