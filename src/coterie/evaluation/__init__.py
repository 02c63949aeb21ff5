"""What a release is still good for: queries, learning, distributions, associations.

May import: arrays, errors, measures, publishing, settings, table, values.
"""
