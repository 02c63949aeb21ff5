"""One file a command.

May import what `cli` may.
"""
