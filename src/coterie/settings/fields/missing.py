"""Missing values, suppression and the counting of losses."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Literal

from coterie.settings.fields._setting import READING, Group, setting


def _cells(texts: str | Sequence[str]) -> list[str]:
    """Parse cells from comma-separated flags, or from the lines of a field; the empty cell is always included."""
    if isinstance(texts, str):
        return ["", *dict.fromkeys(text.strip() for text in texts.splitlines() if text.strip())]
    return [cell for row in csv.reader(texts) for cell in (row or [""])]


LeafCounts = Literal["present", "hierarchy"]


def _lines(cells: object) -> str:
    return "\n".join(str(cell) for cell in cells if cell) if isinstance(cells, list | tuple) else ""


class Missing(Group, title="Suppression and missing values", commands="explain"):
    """Missing values and suppressed rows."""

    missing: Literal["category", "suppress", "error"] = setting(
        "category",
        "Missing quasi-identifiers: category (a separate value), suppress (drop the row) or error.",
        more="As a category, missing values are generalized together with others only to the root.",
        title="Missing quasi-identifiers",
        choices={
            "category": "treat as a separate value",
            "suppress": "suppress the row",
            "error": "stop with an error",
        },
        metavar="POLICY",
        commands="measure explain compare",
        protects=True,
    )
    missing_values: tuple[str, ...] = setting(
        ("",),
        "Cells of a text file that count as missing, such as ,NA,?",
        title="Missing-value markers",
        unless="Applies to text files only.",
        metavar="TEXTS",
        screen="data",
        commands=READING,
        aliases=("na_values",),
        read=_cells,
        show=_lines,
    )
    leaf_counts: LeafCounts = setting(
        "present",
        "Leaves that information loss counts: those present in the data, or all of the hierarchy.",
        title="Leaves that information loss counts",
        choices={"present": "values present in the data", "hierarchy": "all values of the hierarchy"},
        metavar="WHICH",
        commands="measure explain compare",
    )
    suppressed: Literal["auto", "remove"] = setting(
        "auto",
        "Suppressed rows: auto (publish them as * where the guarantees allow it) or remove.",
        title="Suppressed rows",
        choices={"auto": "publish as * where the guarantees allow it", "remove": "remove"},
        metavar="POLICY",
        protects=True,
    )
    suppress_at_most: float | None = setting(
        None,
        "Suppression limit: the largest share of rows that the method may suppress.",
        more="Methods suppress rows only if one of their options says so, such as `suppress_above` of kaca.",
        unless="Rows that you suppress yourself (missing values, a mask) do not count.",
        title="Suppression limit in percent",
        unit="percent",
        metavar="PERCENT",
        aliases=("suppression_limit",),
        limits={"ge": 0, "le": 100},
        protects=True,
    )
