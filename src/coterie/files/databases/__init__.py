"""Tables in databases: how one is named, and the drivers that read and write it.

May import what `files` may.
"""
