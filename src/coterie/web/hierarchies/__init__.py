"""The Hierarchies screen: view, build, import and edit hierarchies.

May import what `web` may.
"""
