"""The settings: one class per group, one attribute per setting, each defined once. New files here are discovered.

May import what `settings` may, but nothing heavy: `coterie --help` reads it.
"""

from coterie.files.registry import import_modules
from coterie.settings.fields._setting import Group, setting

__all__ = ["Group", "setting"]

# All at once: the order of the settings, and so of options and forms, must not depend on which group is imported first.
import_modules(__name__)
