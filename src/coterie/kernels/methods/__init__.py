"""The loops of the methods, a file or two each.

May import what `kernels` may, and `search`.
"""
