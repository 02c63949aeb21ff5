"""Anonymize microdata by clustering and local recoding, with verified guarantees.

Names are loaded on first use, so `import coterie` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from coterie import datasets, errors, spark
    from coterie.api.anonymize import Release, anonymize, measure, verify
    from coterie.api.compare import Comparison, compare
    from coterie.api.risk import attack, risk
    from coterie.api.suggest import suggest
    from coterie.api.utility import Utility, utility
    from coterie.disclosure.joint import check_joint
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
    from coterie.evaluation.query_workload import Workload
    from coterie.hierarchies.hierarchy import Hierarchy, dates, flat, intervals, prefixes
    from coterie.privacy import AlphaK, BetaLikeness, DeltaDisclosure, KAnonymity, KMap, LDiversity, TCloseness
    from coterie.settings.config import Config

_HOMES = {
    "coterie.api.anonymize": ("Release", "anonymize", "measure", "verify"),
    "coterie.api.compare": ("Comparison", "compare"),
    "coterie.api.risk": ("attack", "risk"),
    "coterie.api.suggest": ("suggest",),
    "coterie.api.utility": ("Utility", "utility"),
    "coterie.settings.config": ("Config",),
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
    "coterie.hierarchies.hierarchy": ("Hierarchy", "dates", "flat", "intervals", "prefixes"),
    "coterie.disclosure.joint": ("check_joint",),
    "coterie.privacy": (
        "AlphaK",
        "BetaLikeness",
        "DeltaDisclosure",
        "KAnonymity",
        "KMap",
        "LDiversity",
        "TCloseness",
    ),
    "coterie.evaluation.query_workload": ("Workload",),
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
    "suggest",
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
