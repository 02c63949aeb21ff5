"""All settings of a release: one frozen Config, from Python keywords, a mapping or TOML.

May import: errors, files, hierarchies, wording.
"""
