"""The Hierarchies screen: see, build, import and edit.

May import what `web` may.
"""
