"""Registries of what settings refer to by name: settings, methods, privacy models and measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.files.registry import Registry

if TYPE_CHECKING:
    from coterie.settings.fields._setting import Setting

FIELDS: Registry[Setting] = Registry("coterie.settings.fields")
"""every setting"""
DEFAULT_METHOD = "auto"
METHODS: Registry[Any] = Registry("coterie.methods")
"""every method: a `coterie.methods.Method` each"""
MODELS: Registry[Any] = Registry("coterie.privacy")
"""every privacy model: a subclass of `coterie.privacy.Model` each"""
MEASURES: Registry[Any] = Registry("coterie.measures")
"""every measure of loss: a `coterie.measures.losses.Measure` each"""
