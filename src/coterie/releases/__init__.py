"""The result of `anonymize`, its provenance, and the assignment of later rows to its groups.

May import: arrays, disclosure, errors, files, grouping, kernels, measures, methods, publishing, settings, table,
values, verification.
"""
