"""Kernels of the methods, one or two files each.

May import what `kernels` may, and `search`.
"""
