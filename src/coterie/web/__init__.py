"""The local page: `coterie serve`. Nothing of it is imported unless it is asked for; it needs the extra `web`.

settings.py   what the server was started with         security.py  who may ask, and what every answer carries
project.py    projects and their folders                recipe.py    a project's coterie.toml
pages.py      templates, steps, faults                  app.py       all routes together
uploads.py, inspect.py, preview.py, facts.py            files that come in, and looking at them
jobs.py, worker.py                                      long work, in processes that can be stopped
step_*.py     one module per step of the page           serve.py     the server itself
"""
