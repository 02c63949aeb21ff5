"""The local web app: `coterie serve`. It is only imported when needed and requires the `web` extra.

Each screen is a folder; shared modules are here: `app` creates the application, `routes` lists all routes, `security`
checks requests, `jobs` and `worker` run long work in separate processes that can be stopped.

May import: api, arrays, charts, disclosure, engines, errors, explaining, files, hierarchies, kernels, methods,
publishing, reporting, settings, suggesting, table, values, wording.
"""
