"""The command line: what all commands share. One file a command is in `commands`.

May import: api, arrays, charts, comparison, datasets, disclosure, engines, errors, evaluation, files, hierarchies,
kernels, measures, methods, publishing, reporting, settings, suggesting, web.
"""
