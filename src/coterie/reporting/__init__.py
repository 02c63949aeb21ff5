"""Reports on a release: what they say as plain data, and the page that shows it.

May import: arrays, charts, disclosure, errors, evaluation, files, grouping, hierarchies, methods, settings,
verdict, verification, wording.
"""
