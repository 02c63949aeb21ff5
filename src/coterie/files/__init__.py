"""Tables in and out: files, frames and databases at the edge, Arrow inside. Files appear whole or not at all.

May import: arrays, errors.
"""
