"""Suggest the roles of columns, for a person to review.

May import: settings, values, wording.
"""
