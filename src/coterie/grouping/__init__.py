"""Shared parts of the methods: the indexes over rows and groups, the lower bound, local search, and models beyond k.

May import: arrays, errors, files, kernels, privacy, publishing, settings, table, values, verification.
"""
