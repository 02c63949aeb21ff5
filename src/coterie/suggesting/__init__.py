"""Suggest the roles of columns, for a person to review.

May import: arrays, engines, errors, hierarchies, settings, values, wording.
"""
