"""Explain why rows were generalized as far as they were, and what drives the information loss.

May import: arrays, engines, errors, grouping, kernels, measures, publishing, table, values, wording.
"""
