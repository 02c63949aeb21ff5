"""Compare methods, k and privacy models on one table.

May import: arrays, charts, engines, errors, evaluation, files, grouping, methods, settings, table, wording.
"""
