"""Generalization hierarchies: from files, mappings and rules to a tree over the values of a column.

May import: arrays, errors, files, values, wording.
"""
