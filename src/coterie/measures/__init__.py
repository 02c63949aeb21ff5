"""What a release lost, by the boxes of its groups and by its published labels.

May import: arrays, errors, hierarchies, publishing, settings, table, values, wording.
"""
