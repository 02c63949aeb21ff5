"""Kernels of the local search: pool groups, re-split their rows, dissolve groups, cut them.

May import what `kernels` may, and `search`.
"""
