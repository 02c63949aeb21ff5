"""Coterie hides every record of a table in a group of at least k, and says what that cost.

Names are loaded on first use, so that `import coterie` is quick.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from coterie import datasets, errors, spark
    from coterie.api import Release, anonymize, measure, verify
    from coterie.api_compare import Comparison, compare
    from coterie.api_risk import attack, risk
    from coterie.api_utility import Utility, utility
    from coterie.config import Config
    from coterie.errors import (
        BackendError,
        Cancelled,
        ConfigError,
        CoterieError,
        CoterieWarning,
        DataError,
        HierarchyError,
        InfeasibleError,
        VerificationError,
    )
    from coterie.hierarchy import Hierarchy, dates, flat, intervals, prefixes
    from coterie.joint import check_joint
    from coterie.privacy import AlphaK, BetaLikeness, DeltaDisclosure, KAnonymity, KMap, LDiversity, TCloseness
    from coterie.query_workload import Workload
    from coterie.stored import StoredRelease

_HOMES = {
    "coterie.api": ("Release", "anonymize", "measure", "verify"),
    "coterie.api_compare": ("Comparison", "compare"),
    "coterie.api_risk": ("attack", "risk"),
    "coterie.api_utility": ("Utility", "utility"),
    "coterie.config": ("Config",),
    "coterie.errors": (
        "BackendError",
        "Cancelled",
        "ConfigError",
        "CoterieError",
        "CoterieWarning",
        "DataError",
        "HierarchyError",
        "InfeasibleError",
        "VerificationError",
    ),
    "coterie.hierarchy": ("Hierarchy", "dates", "flat", "intervals", "prefixes"),
    "coterie.joint": ("check_joint",),
    "coterie.privacy": (
        "AlphaK",
        "BetaLikeness",
        "DeltaDisclosure",
        "KAnonymity",
        "KMap",
        "LDiversity",
        "TCloseness",
    ),
    "coterie.query_workload": ("Workload",),
    "coterie.stored": ("StoredRelease",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = ("datasets", "errors", "spark")

__all__ = [
    "AlphaK",
    "BackendError",
    "BetaLikeness",
    "Cancelled",
    "Comparison",
    "Config",
    "ConfigError",
    "CoterieError",
    "CoterieWarning",
    "DataError",
    "DeltaDisclosure",
    "Hierarchy",
    "HierarchyError",
    "InfeasibleError",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "Release",
    "StoredRelease",
    "TCloseness",
    "Utility",
    "VerificationError",
    "Workload",
    "__version__",
    "anonymize",
    "attack",
    "check_joint",
    "compare",
    "datasets",
    "dates",
    "errors",
    "flat",
    "intervals",
    "measure",
    "prefixes",
    "risk",
    "spark",
    "utility",
    "verify",
]


# Type checkers are to complain about names that do not exist.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return importlib.import_module(f"coterie.{name}")
        if name not in _HOME:
            raise AttributeError(f"module 'coterie' has no attribute {name!r}")
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps `coterie.verify` the function: importing the module of that name would put the module there."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _HOME and isinstance(value, ModuleType):
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
