"""Bundled tables for examples and benchmarks. See `SOURCES.md` for their origin.

May import: errors, hierarchies.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.hierarchies.hierarchy import Hierarchy

__all__ = ["ADULT_QUASI", "ADULT_SENSITIVE", "adult", "adult_hierarchies", "adult_hierarchy_files", "adult_path"]

_FOLDER = Path(__file__).parent

ADULT_QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
"""The quasi-identifiers of Adult that most papers use."""

ADULT_SENSITIVE = "salary-class"
"""The column of Adult that most papers protect. Li, Wong, Fu and Pei (2006) count it among the quasi-identifiers."""


def adult(*, complete: bool = False, part: Literal["train", "test"] | None = None) -> pa.Table:
    """Return the Adult table of the UCI repository: 48,842 people from the 1994 US census.

    Args:
        complete: leave out rows with a missing value (workclass, occupation or native country); 45,222 rows remain.
        part: only the original training rows (32,561, of which 30,162 complete) or test rows (16,281; 15,060).

    Returns:
        The rows in their original order, training rows first; the column `part` distinguishes them.
    """
    import pyarrow.compute as pc
    from pyarrow import parquet

    if part not in (None, "train", "test"):
        from coterie.errors import ConfigError, Problem

        raise ConfigError([Problem("part", f"there is no part {part!r}; there are train and test")])
    table = parquet.ParquetFile(adult_path()).read().replace_schema_metadata(None)
    if part is not None:
        table = table.filter(pc.equal(table["part"], part))
    return table.drop_null() if complete else table


def adult_path() -> Path:
    """Return the path of the Adult table's Parquet file."""
    return _FOLDER / "adult.parquet"


def adult_hierarchy_files() -> dict[str, Path]:
    """Return the hierarchy files of Adult by column: `;`-delimited, from the value to the root, without header."""
    return {path.stem: path for path in sorted((_FOLDER / "adult").glob("*.csv"))}


def adult_hierarchies() -> dict[str, Hierarchy]:
    """Return hierarchies for nine columns of Adult, with the heights in Table 2 of Li, Wong, Fu and Pei (2006).

    Ages in ranges of 5, 10 and 20 years; taxonomies for the others. All values are equally far from the root.
    """
    from coterie.hierarchies.hierarchy import Hierarchy

    trees = {column: Hierarchy.from_csv(path) for column, path in adult_hierarchy_files().items()}
    return {"age": Hierarchy.intervals(5, 10, 20), **trees}
