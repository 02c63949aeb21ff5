"""What a release lost, by the boxes of its groups and by its published labels.

May import: arrays, errors, hierarchies, publishing, table, values.
"""
