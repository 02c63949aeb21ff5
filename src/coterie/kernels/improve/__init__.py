"""The loops of the local search: pool groups, part their rows anew, give groups up, cut them.

May import what `kernels` may, and `search`.
"""
