"""Everything that decides a release: one frozen Config, from Python, a mapping or TOML.

May import: errors, files, hierarchies, wording.
"""
