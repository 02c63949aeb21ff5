"""Generalization hierarchies: read from files, mappings or rules, and bound to the values of a column.

May import: arrays, errors, files, values, wording.
"""
