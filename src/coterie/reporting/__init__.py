"""Reports on a release: their content as plain data, and the HTML page.

May import: arrays, charts, disclosure, errors, evaluation, files, grouping, hierarchies, methods, releases,
settings, values, verdict, verification, wording.
"""
