"""The engine that cuts a table into blocks on disk and groups them one by one, with one block in memory at a time.

May import what `engines` may, but no other engine.
"""
