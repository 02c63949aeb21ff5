"""Why rows are as coarse as they are, and what drives the loss.

May import: arrays, engines, errors, grouping, kernels, measures, publishing, table, values, wording.
"""
