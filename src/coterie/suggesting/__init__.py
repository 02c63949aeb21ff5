"""Guesses at the roles of columns, for a person to look over."""
