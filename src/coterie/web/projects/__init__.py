"""The first screen: projects, and how to start one.

May import what `web` may.
"""
