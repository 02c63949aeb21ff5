"""The loops that find the cheapest, nearest and furthest rows and groups.

May import kernels that stand beside it, and no others.
"""
