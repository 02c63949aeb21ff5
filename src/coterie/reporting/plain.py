"""Convert results to plain values for JSON: for programs, the web app and the command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.measures.measures import Measures
    from coterie.verification.verify import Verification


def verification_values(found: Verification) -> dict[str, Any]:
    """Convert a verification to plain values."""
    values: dict[str, Any] = {"passed": found.passed}
    for name in ("rows", "groups", "k", "largest", "average", "wanted", "rows_below", "classes_below"):
        values[name] = getattr(found, name)
    values |= {"missing_cells": found.missing_cells, "suppressed": found.suppressed, "quasi": list(found.quasi)}
    values["checks"] = [check._asdict() for check in found.checks]
    values["measured"] = [each._asdict() for each in found.measured]
    plain: dict[str, Any] = finite(values)
    return plain


def measures_values(measures: Measures, *, late: bool = True) -> dict[str, Any]:
    """Convert measures to plain values, those per column under `attributes`; slow ones only if `late`."""
    from dataclasses import asdict

    values = {name: measures[name] for name in measures if late or name not in measures.late}
    return {**values, "attributes": {name: asdict(each) for name, each in measures.attributes.items()}}


def finite(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Replace infinity and NaN, which JSON lacks, with null."""
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
