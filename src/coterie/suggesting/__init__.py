"""Guesses at the roles of columns, for a person to look over.

May import: settings, values.
"""
