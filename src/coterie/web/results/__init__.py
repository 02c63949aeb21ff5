"""The Results screen: guarantees, losses, rows before and after, and downloads.

May import what `web` may.
"""
