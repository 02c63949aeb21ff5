"""The judge: whether a published table keeps its promises, from its cells alone.

It shares no code with what makes releases: of files it takes readers, of `settings` the amount of memory, of `values`
the names of published columns; of configurations, hierarchies and privacy models it reads plain fields.

May import: arrays, errors, files, settings, values, wording.
"""
