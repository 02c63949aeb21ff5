"""Cell values: numbers, dates, text and codes, and the notation of published cells.

May import: arrays, errors, files, wording.
"""
