"""The configuration of a project: its coterie.toml, to view, edit, download or import.

May import what `web` may.
"""
