"""What a cell can be: numbers, dates, texts, codes; and how published cells are written.

May import: arrays, errors, wording.
"""
