"""Turn groups into published cells, and published cells back into intervals.

May import: arrays, errors, files, settings, table, values.
"""
