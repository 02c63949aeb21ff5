"""Groups become published cells, and published cells become intervals again.

May import: arrays, errors, files, table, values.
"""
