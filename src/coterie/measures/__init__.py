"""Measure information loss, from the boxes of groups and from published labels.

May import: arrays, errors, hierarchies, publishing, settings, table, values, wording.
"""
