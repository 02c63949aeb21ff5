"""Rows as integers: the codes of values, what intervals of codes cost, groups and their boxes.

May import: arrays, errors, hierarchies, kernels, values.
"""
