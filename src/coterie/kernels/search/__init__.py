"""Kernels that find the cheapest, nearest and furthest rows and groups.

May import the other modules of `kernels` outside its subpackages.
"""
