"""The Data screen: what came in, how it was read, its columns and its rows.

May import what `web` may.
"""
