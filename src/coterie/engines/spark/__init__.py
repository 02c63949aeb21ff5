"""The engine that groups blocks on the executors of a Spark cluster.

May import what `engines` may, but no other engine.
"""
