"""Every setting, told once: one class a group of settings, one attribute a setting. A new file here is found by itself.

May import what `settings` may, but nothing heavy: `coterie --help` reads it.
"""

from coterie.settings.fields._setting import Group, setting

__all__ = ["Group", "setting"]
