"""The engine that keeps the whole table in memory.

May import what `engines` may, but no other engine.
"""
