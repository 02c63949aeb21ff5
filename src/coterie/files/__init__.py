"""Read and write tables: files, frames and databases outside, Arrow inside. Files are written atomically.

May import: arrays, errors, wording.
"""
