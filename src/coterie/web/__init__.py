"""The local page: `coterie serve`. Nothing of it is imported unless it is asked for; it needs the extra `web`.

Each screen is a folder; here is what they share: `app` lists all routes, `security` decides who may ask, `jobs` and
`worker` do long work in processes that can be stopped.

May import: api, arrays, charts, disclosure, engines, errors, files, hierarchies, kernels, methods, publishing,
reporting, settings, suggesting, table, values, wording.
"""
