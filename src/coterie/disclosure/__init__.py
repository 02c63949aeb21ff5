"""Disclosure from a table: re-identification risk, linking attacks, joint releases.

May import: arrays, errors, hierarchies, kernels, publishing, settings, values, wording.
"""
