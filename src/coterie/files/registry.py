"""Registries of plug-ins: a new method, privacy model or file format is one new file in its package.

Other distributions add theirs with an entry point in the group `coterie` that names a module.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Registry(Mapping[str, Item], Generic[Item]):
    """Items by name, in the order in which their modules register them; loaded on first access."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._items: dict[str, Item] = {}
        self._loaded = False

    def add(self, name: str, item: Item) -> None:
        """Add an item under a unique name."""
        before = self._items.get(name)
        # A class that a notebook's cell defines again takes its own place.
        if before is not None and f"{before.__class__}{before!r}" != f"{item.__class__}{item!r}":
            raise RuntimeError(f"two items of {self._package} are called {name!r}")
        self._items[name] = item

    def _load(self) -> dict[str, Item]:
        if not self._loaded:
            import_modules(self._package)
            self._loaded = True
            load_plugins()
        return self._items

    def __getitem__(self, name: str) -> Item:
        return self._load()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())


def import_modules(name: str) -> None:
    """Import the public modules of a package, in alphabetical order."""
    package = importlib.import_module(name)
    for module in pkgutil.iter_modules(getattr(package, "__path__", ())):
        if not module.name.startswith("_"):
            importlib.import_module(f"{name}.{module.name}")


@cache
def load_plugins() -> None:
    """Import the modules named by other distributions in the entry-point group `coterie`, once."""
    from importlib.metadata import entry_points

    for point in entry_points(group="coterie"):
        point.load()
