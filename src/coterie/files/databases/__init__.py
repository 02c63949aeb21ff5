"""Database tables: their addresses, and the drivers that read and write them.

May import what `files` may.
"""
