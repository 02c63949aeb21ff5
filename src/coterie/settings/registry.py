"""What plugs in by name: settings, methods, privacy models and so on, found in their packages when they are asked for.

Settings name methods and models without knowing their code: a package is loaded by its name, and its modules add what
they have. So a new method is one new file. Other distributions add theirs by an entry point of the group `coterie`
that names a module.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from coterie.settings.fields._setting import Setting

Item = TypeVar("Item")


class Registry(Mapping[str, Item], Generic[Item]):
    """Items by name, in the order in which their modules add them; loaded at the first look."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._items: dict[str, Item] = {}
        self._loaded = False

    def add(self, name: str, item: Item) -> None:
        """Add an item under a name of its own."""
        if name in self._items:
            raise RuntimeError(f"two items of {self._package} are called {name!r}")
        self._items[name] = item

    def _load(self) -> dict[str, Item]:
        if not self._loaded:
            package = importlib.import_module(self._package)
            for module in pkgutil.iter_modules(package.__path__):
                if not module.name.startswith("_"):
                    importlib.import_module(f"{self._package}.{module.name}")
            self._loaded = True
            load_plugins()
        return self._items

    def __getitem__(self, name: str) -> Item:
        return self._load()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())


@cache
def load_plugins() -> None:
    """Import the modules that other distributions name in the entry-point group `coterie`, once."""
    from importlib.metadata import entry_points

    for point in entry_points(group="coterie"):
        point.load()


FIELDS: Registry[Setting] = Registry("coterie.settings.fields")
"""every setting"""
DEFAULT_METHOD = "auto"
METHODS: Registry[Any] = Registry("coterie.methods")
"""every method: a `coterie.methods.Method` each"""
MODELS: Registry[Any] = Registry("coterie.privacy")
"""every privacy model: a subclass of `coterie.privacy.Model` each"""
