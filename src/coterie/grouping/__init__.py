"""What methods share: the indexes over rows and groups, the lower bound, local search, and promises beyond k.

May import: arrays, errors, files, kernels, privacy, publishing, settings, table, values, verification.
"""
