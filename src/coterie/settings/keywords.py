"""The settings as keywords of Python, for editors and type checkers: made by scripts/make_docs.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from coterie.hierarchies.hierarchy import Hierarchy
    from coterie.privacy.model import Model


class SharedKeywords(TypedDict, total=False):
    """What every function takes that has settings."""

    quasi: str | Iterable[str]
    """Quasi-identifiers: attributes that others may know about a person."""
    sensitive: str | Iterable[str]
    """Sensitive attributes, which nobody should be able to infer."""
    identifiers: str | Iterable[str]
    """Direct identifiers, such as names and social security numbers."""
    keep: str | Iterable[str]
    """Columns to publish unchanged, on purpose."""
    drop: str | Iterable[str]
    """Columns to remove because nobody needs them."""
    entity: str | None
    """Column that identifies the person a row belongs to; k then counts people, not rows."""
    hierarchies: Mapping[str, Hierarchy | str | PathLike[str] | Mapping[str, Any] | list[Any]]
    """Generalization hierarchy of a column: a CSV file, flat, or a rule such as prefixes:5,3, intervals:5,10,20 or
    dates:month,year."""
    types: Mapping[str, Literal["number", "category", "date"]]
    """Type of a column: number, category or date."""
    ordered: Mapping[str, Iterable[str]]
    """Values of a category in their order, from the lowest to the highest."""
    weights: Mapping[str, float]
    """Weight of a column: the larger, the more of its detail is kept."""
    round: Mapping[str, float]
    """Step of a column of numbers: the ends of its intervals are rounded outward to multiples of it."""
    publish: Mapping[str, Literal["interval", "bounds", "mean", "median", "ancestor", "set"]]
    """Format of a column's generalized values: interval, bounds, mean, median, ancestor or set."""
    method: str
    """Method that groups the rows; `coterie methods` lists them."""
    options: Mapping[str, Any]
    """Option of the method; `coterie methods NAME` lists them."""
    cost: Literal["ncp", "set"]
    """Cost of a category without a hierarchy in the search: ncp (two values cost as much as all) or set (by their
    number)."""
    refine: bool
    """Reduce information loss by local search after the method."""
    time_limit: float | None
    """Stop improving after this many seconds and take the best grouping so far."""
    seed: int
    """Random seed."""
    missing: Literal["category", "suppress", "error"]
    """Missing quasi-identifiers: category (a separate value), suppress (drop the row) or error."""
    missing_values: str | Iterable[str]
    """Cells of a text file that count as missing, such as ,NA,?"""
    leaf_counts: Literal["present", "hierarchy"]
    """Leaves that information loss counts: those present in the data, or all of the hierarchy."""
    suppressed: Literal["auto", "remove"]
    """Suppressed rows: auto (publish them as * where the guarantees allow it) or remove."""
    suppress_at_most: float | None
    """Suppression limit: the largest share of rows that the method may suppress."""
    delimiter: str | None
    """Delimiter of a text file; \t is a tab."""
    encoding: str | None
    """Encoding of a text file, such as utf-8 or latin-1."""
    header: bool | None
    """Whether the first line of a text file is a header."""
    formulas: Literal["keep", "escape", "refuse"]
    """Cells of text files that a spreadsheet would run as formulas: keep, escape (by an apostrophe) or refuse."""
    skip_rows: int
    """Lines above the header of a text file, to be skipped."""
    purpose: str | None
    """Purpose of the release, in one sentence, for the report."""
    recipient: str | None
    """Recipient of the release, for the report."""
    release_model: Literal["public", "agreement", "enclave"] | None
    """Release model, for the report: public, agreement or enclave."""
    author: str | None
    """Author of the release, who is responsible for it, for the report."""
    bound_effort: str | None
    """Effort for the lower bound on the loss: quick, good, best, or a number of seconds."""
    threads: int | None
    """Number of threads."""
    engine: Literal["auto", "memory", "blocks", "spark"]
    """Engine: auto, memory, blocks (on disk) or spark (on a cluster)."""
    memory: str | None
    """Memory limit, such as 2GB."""
    block_rows: int | None
    """Maximum number of rows in a block."""
    limits: Mapping[str, float]
    """Limits of the verdict, as shares: unique (0.01), below-k (0), inferred (0), order (0.01), loss (0.5), column-loss
    (0.9), query-error (0.5)."""
    accept: str | Iterable[str]
    """Warnings of the verdict that you accept, such as singling-out:income or utility."""
    row_order: Literal["original", "shuffle"]
    """Order of the published rows: original, or shuffle (a secret order)."""


class CompareKeywords(SharedKeywords, total=False):
    """Settings of `coterie.compare`."""

    fraction: float | None
    """Sampling fraction: the share of the population that is in the table, for risk and the report."""
    threshold: str | float
    """Largest acceptable re-identification risk of a record: a number up to 1, or ema (0.09), cms (0.0909), strict
    (0.05)."""


class RiskKeywords(SharedKeywords, total=False):
    """Settings of `coterie.risk`."""

    k: int
    """Minimum number of rows in every group (equivalence class)."""
    privacy: Model | str | Mapping[str, Any] | Iterable[Model | str | Mapping[str, Any]]
    """Privacy model beyond k-anonymity, such as l-diversity:3:disease or t-closeness:0.2."""


class VerifyKeywords(CompareKeywords, total=False):
    """Settings of `coterie.verify`."""

    privacy: Model | str | Mapping[str, Any] | Iterable[Model | str | Mapping[str, Any]]
    """Privacy model beyond k-anonymity, such as l-diversity:3:disease or t-closeness:0.2."""


class Keywords(VerifyKeywords, total=False):
    """Settings."""

    k: int
    """Minimum number of rows in every group (equivalence class)."""
