"""The commands, one file each.

May import what `cli` may.
"""
