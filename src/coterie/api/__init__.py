"""The public functions: anonymize, suggest, verify, measure, compare, risk, attack, utility.

May import: arrays, comparison, disclosure, engines, errors, evaluation, explaining, files, grouping, measures,
methods, publishing, releases, reporting, settings, suggesting, values, verdict, verification.
"""
