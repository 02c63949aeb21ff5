"""The command line: code shared by all commands. Each command has a file in `commands`.

May import: api, arrays, charts, comparison, datasets, disclosure, engines, errors, evaluation, files, hierarchies,
kernels, measures, methods, publishing, releases, reporting, settings, suggesting, web, wording.
"""
