"""Decide what the external variant of a report hides.

Counts of rows or people between 1 and k − 1 are hidden. So is anything from which such a count could be derived: its
share, and a total whose other parts are shown. Class sizes are merged until every bar stands for no row or for at
least k. All other figures are rounded, since an exact fraction reveals its denominator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie.arrays import Int64
from coterie.settings.registry import MODELS
from coterie.wording import count_of

DIGITS = 3


class Hider:
    """Decides what may be shown. The internal variant shows everything."""

    def __init__(self, k: int, *, external: bool, rows: int, published: int) -> None:
        self.k = k
        self.external = external
        # A reader has the release; the number of input rows would reveal how many are missing.
        self.rows_hidden = external and 0 < rows - published < k

    def count(self, number: float | None, *, of: int | None = None) -> int | None:
        """Return the count, or None if it or the rest of `of` is below k."""
        if number is None or (self.external and (self._small(number) or (of is not None and self._small(of - number)))):
            return None
        return int(number)

    def share(self, number: float, *, of: int) -> float | None:
        """Return a count's share, or None if the count is hidden."""
        if self.count(number, of=of) is None:
            return None
        return self.figure(number / of if of else 0.0)

    def figure(self, value: float | None) -> float | None:
        """Round a figure that is not a count in the external variant; infinite ones are None."""
        if value is None or not np.isfinite(value):
            return None
        return float(f"{value:.{DIGITS}g}") if self.external else float(value)

    def of_rows(self, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Return a figure from which the number of input rows could be derived, or None if it must be hidden."""
        return None if self.rows_hidden else value

    def _small(self, number: float) -> bool:
        return 0 < number < self.k


def rows_by_size(edges: Sequence[int], counts: Int64, rows: Int64) -> Int64:
    """Return bin → rows of the classes of these sizes; arguments as for `joined_edges`."""
    held = np.zeros(len(edges), dtype=np.int64)
    np.add.at(held, np.searchsorted(edges, np.maximum(counts, 1), side="right") - 1, rows)
    return held


def joined_edges(edges: Sequence[int], counts: Int64, rows: Int64, k: int) -> list[int]:
    """Return the remaining edges after merging bins until each contains no row or at least k.

    Args:
        edges: The smallest size of each bin, ascending; the last bin is unbounded.
        counts: Class → its size.
        rows: Class → its number of rows.
        k: The fewest rows of a non-empty bin.
    """
    held = rows_by_size(edges, counts, rows)
    kept: list[int] = []
    room = 0
    for edge, inside in zip(edges, held.tolist(), strict=True):
        # A bin that is too small is merged with the next one, the last one with the one before it.
        if not kept or room == 0 or room >= k:
            kept.append(edge)
            room = 0
        room += inside
    while len(kept) > 1 and 0 < room < k:
        last = kept.pop()
        room += int(sum(held[at] for at, edge in enumerate(edges) if kept[-1] <= edge < last))
    return kept


def plain_configuration(values: Mapping[str, Any], *, shapes: Mapping[str, str]) -> dict[str, Any]:
    """Return a configuration without any data values and secrets: hierarchies and orders appear only by shape."""
    left_out = ("missing_values", "hierarchies", "ordered", "privacy", "options")
    plain = {name: value for name, value in values.items() if name not in left_out}
    plain["options"] = {name: value for name, value in values.get("options", {}).items() if not _speaks(value)}
    plain["privacy"] = [_without_path(model) for model in values.get("privacy", [])]
    plain["hierarchies"] = dict(shapes)
    plain["ordered"] = {name: count_of(len(order), "value") for name, order in values.get("ordered", {}).items()}
    return {name: value for name, value in plain.items() if value not in ({}, [])}


def _speaks(value: object) -> bool:
    """Return whether an option is free text; numbers, switches and keywords of its method are not."""
    if isinstance(value, str):
        return not value.replace("-", "").isalpha() or len(value) > 20
    if isinstance(value, Mapping):
        return any(_speaks(inner) for inner in value.values())
    return isinstance(value, list) and any(_speaks(inner) for inner in value)


def _without_path(model: Any) -> Any:  # noqa: ANN401 - a text or a dict
    """Return a privacy model without the path of its population."""
    if isinstance(model, Mapping):
        return {name: value for name, value in model.items() if name != "population"}
    name, *parts = str(model).split(":")
    return ":".join([name, *parts[:1]]) if name in MODELS and MODELS[name].counts == "population" else model
