"""The verdict on a release: guarantees, singling out, inference and utility, each with a state, evidence and advice.

May import: arrays, disclosure, errors, evaluation, files, measures, methods, releases, settings, suggesting, values,
verification, wording.
"""
