"""The settings: one class per group, one attribute per setting, each defined once. New files here are discovered.

May import what `settings` may, but nothing heavy: `coterie --help` reads it.
"""

from coterie.settings.fields._setting import Group, setting

__all__ = ["Group", "setting"]
