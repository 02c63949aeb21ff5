"""The repair that makes any grouping satisfy its privacy models at little extra loss.

May import what `grouping` may.
"""
