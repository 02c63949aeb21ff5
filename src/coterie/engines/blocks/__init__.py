"""The engine that cuts a table into blocks on disk, groups them one by one and holds none but the current one.

May import what `engines` may, but no other engine.
"""
