"""The Results screen: promises, losses, rows before and after, files to take away.

May import what `web` may.
"""
