"""The recipe of a project: its coterie.toml, to look at, edit, take away or bring along.

May import what `web` may.
"""
