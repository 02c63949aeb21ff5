"""Methods, k and promises side by side on one table.

May import: arrays, charts, engines, errors, evaluation, files, grouping, methods, settings, table, wording.
"""
