"""What others could learn from a table: risk, linking attacks, joint releases.

May import: arrays, errors, hierarchies, kernels, publishing, settings, values, wording.
"""
