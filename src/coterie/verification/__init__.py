"""The judge: whether a published table keeps its promises, from its cells alone.

May import: arrays, errors, files, settings, values.
"""
