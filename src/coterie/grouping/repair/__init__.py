"""The repair that makes any grouping keep its privacy models at little extra loss.

May import what `grouping` may.
"""
