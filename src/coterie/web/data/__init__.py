"""The Data screen: the input, how it was read, its columns and its rows.

May import what `web` may.
"""
