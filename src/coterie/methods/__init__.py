"""Methods, one file each. New files here are discovered; see `_method.py`.

May import: arrays, errors, grouping, hierarchies, kernels, settings, table.
"""

from coterie.methods._method import Method, Options, Run, all_methods, find_method, method

__all__ = ["Method", "Options", "Run", "all_methods", "find_method", "method"]
