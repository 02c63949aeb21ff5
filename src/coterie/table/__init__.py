"""Tables as integer codes: domains, interval costs, groups and their boxes.

May import: arrays, errors, hierarchies, kernels, settings, values.
"""
