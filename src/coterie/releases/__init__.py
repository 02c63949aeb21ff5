"""What `anonymize` gives back, what is kept beside it, and later rows in its groups.

May import: arrays, disclosure, errors, files, grouping, kernels, measures, methods, publishing, settings, table,
values, verification.
"""
