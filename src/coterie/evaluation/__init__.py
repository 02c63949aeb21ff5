"""Utility of a release: queries, learning, distributions and associations.

May import: arrays, errors, measures, publishing, settings, table, values.
"""
