"""The first screen: the projects, and how to start one.

May import what `web` may.
"""
