"""The judge: verify a published table from its cells alone.

It shares no code with what makes releases: it uses the readers of `files`, the memory limit of `settings`, and the
names of published columns of `values`; of configurations, hierarchies and privacy models it reads plain fields.

May import: arrays, errors, files, settings, values, wording.
"""
