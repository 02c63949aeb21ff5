"""Release: the result of `anonymize`, wherever its rows are: in memory, in a file, on Spark.

Results based on counts (verification, measures, risk) cover the whole release. Results based on rows (reports,
explanations, queries) use all rows if they are in memory, and otherwise a sample of whole groups; whatever needs
all rows at once says so if they are not in memory.
"""

from __future__ import annotations

import datetime as dt
import importlib
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Generic, overload

import numpy as np
import pyarrow as pa

from coterie.arrays import AnyTable, Frame_co, Int32, Int64
from coterie.disclosure.risk import ClassCounts, Risk, RiskChange, risk_of_classes
from coterie.files import tables
from coterie.files.destinations import check_apart
from coterie.releases.place import HeldRows, Place
from coterie.releases.stored import StoredRows, needs_rows

if TYPE_CHECKING:
    from coterie.explaining.loss import LossExplanation, WhatIfs
    from coterie.explaining.row import RowExplanation
    from coterie.measures.measures import Measures
    from coterie.methods._method import Progress
    from coterie.publishing.publish import PublishedTable
    from coterie.releases.assign import Assignment
    from coterie.settings.config import Config
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table
    from coterie.verdict.question import Verdict
    from coterie.verification.verify import Verification


def later() -> Any:  # noqa: ANN401 - a module
    """Return the methods of a release that packages above this one implement: see `coterie.api.later`."""
    return importlib.import_module("coterie.api.later")


@dataclass(frozen=True, eq=False)
class Release(Generic[Frame_co]):
    """A verified release: the published table, the proof, and the information loss. Its rows may be anywhere.

    For type checkers, `Release[polars.DataFrame]` has a Polars `frame`, and a plain `Release` any kind.
    """

    config: Config
    """all settings of the release; the same input with these gives the same release"""
    measures: Measures
    """the losses by name; per attribute in `.attributes`"""
    verification: Verification
    """the verification of the published table; without a class per row if rows are not in memory"""
    place: Place = field(repr=False)
    """where the rows are"""
    seconds: Mapping[str, float] = field(default_factory=dict, repr=False)
    """phase → seconds"""
    masked: str = ""
    """the rows and cells that the user's masks suppressed, if any"""
    masks_sha256: str = field(default="", repr=False)
    """the hash of the masks, which the settings do not contain"""
    notes: tuple[str, ...] = ()
    """messages for the user, such as which method was chosen"""
    written: dict[str, str] = field(default_factory=dict, repr=False)
    """name of each written file → SHA-256"""
    keep_index: bool = field(default=False, repr=False)
    """whether `frame` has the index of the input's pandas frame"""

    @cached_property
    def frame(self) -> Frame_co:
        """The published table as the caller's kind of frame, in the same row order; Arrow for files.

        The rows of a pandas frame are numbered from 0 unless `keep_index=True` was given. For a
        Spark DataFrame it is another DataFrame, whose rows have no order.
        """
        found: Frame_co = self.place.frame(self)
        return found

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the published rows in order, some at a time, without loading a file whole."""
        return self.place.batches()

    @property
    def arrow(self) -> pa.Table:
        """The published table as an Arrow table, loaded whole if it is elsewhere."""
        return self.published.table if self.complete else pa.Table.from_batches(self.batches())

    @property
    def original_rows(self) -> int:
        """The number of rows of the original."""
        return self.place.rows

    @property
    def published_rows(self) -> int:
        """The number of rows of the release."""
        return self.verification.rows

    @property
    def blocks(self) -> int:
        """The number of blocks, each grouped separately."""
        return self.place.blocks

    # The available rows: all of them if in memory, otherwise a sample of whole groups, read on first access.

    @property
    def complete(self) -> bool:
        """Whether all rows are in memory. If not, results based on rows use a sample of whole groups."""
        return isinstance(self.place, HeldRows)

    @property
    def held(self) -> HeldRows:
        """The rows in memory."""
        return self.place.held

    @property
    def source(self) -> tables.Source:
        """The original rows in memory, and their source."""
        return self.held.source

    @property
    def table(self) -> Table:
        """Their quasi-identifiers as codes."""
        return self.held.encoded.table

    @property
    def rows(self) -> Int64:
        """Row of `table` → position in `source`."""
        return self.held.encoded.rows

    @property
    def grouping(self) -> Grouping:
        """Row of `table` → group → box."""
        return self.held.grouping

    @property
    def published(self) -> PublishedTable:
        """The published rows in memory."""
        return self.held.published

    @cached_property
    def kind(self) -> type[Grouping]:
        """The kind of recoding: what holds for all releases of its method."""
        from coterie.methods import find_method

        return find_method(self.config.method).kind

    @property
    def by_rows(self) -> bool:
        """Whether rows are published one by one: each is hidden among k, but not in a group of equal rows."""
        return self.kind.by_rows

    def all_rows(self, what: str) -> HeldRows:
        """Return all rows; raise a ConfigError with the reason if only a sample is in memory."""
        if not self.complete:
            raise needs_rows(what, "it needs all rows at once, and they are not in memory")
        return self.held

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the release: guarantees, singling out, inference and utility; `.state` is the worst."""
        found: Verdict = later().verdict_of(self)
        return found

    @property
    def bound(self) -> float:
        """A lower bound on the loss per cell of every grouping with this k: compare with `measures["gcp"]`.

        Rows that are published one by one are in no groups and may lose less.
        """
        if self.complete:
            return self.measures["bound"]
        if self.blocks > 1:
            why = "it needs all rows at once; blocks_bound is the bound of groupings that respect the blocks"
            raise needs_rows("the bound of all groupings", why)
        return self.blocks_bound

    @property
    def blocks_bound(self) -> float:
        """A lower bound on the loss per cell of every grouping that respects the blocks: the sum of their bounds.

        Groups across blocks may lose less. With one block it is `bound`. The original is read once more.
        """
        if self.complete:
            return self.measures["bound"]
        if not isinstance(self.place, StoredRows):
            raise needs_rows("the bound of its blocks", "the original can be read by Spark only")
        return self.place.blocks_bound

    @cached_property
    def groups(self) -> Int32:
        """Position in the original → group number, −1 for a suppressed row."""
        held = self.all_rows("the group of each row")
        labels = np.full(held.rows, -1, dtype=np.int32)
        labels[held.encoded.rows] = held.grouping.labels
        return labels

    # Results from counts, wherever the rows are.

    @cached_property
    def missing(self) -> dict[str, int]:
        """Column of the original → number of missing cells."""
        return self.place.missing()

    @cached_property
    def classes_before(self) -> ClassCounts:
        """The class sizes of the original."""
        return self.place.classes_before(self.config)

    @cached_property
    def classes_after(self) -> ClassCounts:
        """The class sizes of the release; rows published one by one count as hidden among k, however they look."""
        found = self.place.classes_after(self.config)
        return found.among(self.config.k) if self.by_rows else found

    @cached_property
    def risk(self) -> RiskChange:
        """The re-identification risk, before and after."""
        return RiskChange(self._risk(self.classes_before), self.risk_after)

    @cached_property
    def risk_after(self) -> Risk:
        """The re-identification risk of the published table."""
        return self._risk(self.classes_after)

    def _risk(self, classes: ClassCounts) -> Risk:
        config = self.config
        return risk_of_classes(classes, quasi=config.quasi, threshold=config.threshold, fraction=config.fraction)

    def assign(self, data: AnyTable) -> Assignment:
        """Assign later rows to the groups whose published cells admit them, and list those that fit none.

        Args:
            data: Rows with the columns of the original: a frame, a path or "-". Direct identifiers are not needed.
        """
        from coterie.releases.assign import assign_rows

        self.all_rows("assigning later rows")
        return assign_rows(self, data)

    def mapping(self) -> Frame_co:
        """Return the published value of each group and attribute, as the caller's kind of frame.

        One row for each group and attribute: `group`, `rows`, `attribute`, `published`, `lowest`, `highest`, `values`,
        `missing`, `cost`, `weight`, `share`. It contains original values and is not for recipients of the release.
        """
        from coterie.files.frames import new_frame
        from coterie.publishing.mapping import mapping_table

        self.all_rows("the mapping, once the run is over (ask for it by mapping=…)")
        made: Frame_co = new_frame(mapping_table(self), self.source.kind, self.source.native)
        return made

    @overload
    def explain(self, row: None = None, *, nearest: int = 5, show_values: bool = False) -> LossExplanation: ...

    @overload
    def explain(self, row: int, *, nearest: int = 5, show_values: bool = False) -> RowExplanation: ...

    def explain(
        self, row: int | None = None, *, nearest: int = 5, show_values: bool = False
    ) -> RowExplanation | LossExplanation:
        """Explain why a row was generalized as far as it was or, without a row, what drives the loss.

        Args:
            row: Position in the original, the first being 0.
            nearest: The number of its nearest rows to list, by position.
            show_values: Include original values; otherwise there are only positions and figures.
        """
        if row is None:
            driven: LossExplanation = later().explain_loss(self)
            return driven
        self.all_rows("the explanation of a row")
        explained: RowExplanation = later().explain_row(self, row, nearest=nearest, show_values=show_values)
        return explained

    def what_if(
        self,
        *,
        k: Sequence[int] | None = None,
        drop: Sequence[str] | None = None,
        method: str | None = None,
        progress: Progress | None = None,
    ) -> WhatIfs:
        """Estimate the effect of another k, or of one attribute less, by comparing quick runs.

        Args:
            k: The k to try; by default half and twice that of the release.
            drop: Attributes to leave out, one at a time; by default each of them.
            method: The method to run; by default `compact` with effort fast.
            progress: Called with (step, done, total).
        """
        tried: WhatIfs = later().what_if(self, k=k, drop=drop, method=method, progress=progress)
        return tried

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the published table, with the configuration and provenance next to it.

        Args:
            path: .csv, .tsv, .txt (also with .gz), .parquet or .feather; "-" is standard output, without provenance.
                Or a database table, such as "postgresql://user@host/census#people_k10", written in one transaction;
                its configuration goes to people_k10.coterie.toml in the current folder.
            force: Overwrite existing files or tables, but never the input or the configuration in use.
        """
        check_apart(self.place.origin, self.config, output=path)
        self.place.write(self, path, force=force)

    def unpersist(self) -> None:
        """Release the rows cached by Spark's executors; does nothing elsewhere."""
        self.place.unpersist()

    def report(self, path: str | os.PathLike[str], *, variant: str = "internal", force: bool = False) -> None:
        """Write a report on the release, for the person who has to sign it off.

        Args:
            path: .html for a self-contained page, .json for the same as data.
            variant: "internal", or "external": without data values, and without counts below k.
            force: Overwrite an existing file.
        """
        later().write_report(self, path, variant=variant, force=force)

    def _repr_html_(self) -> str:
        return str(later().release_html(self))

    def provenance(self, **more: str) -> dict[str, Any]:
        """Return versions, hashes and the time, as needed to reproduce the release."""
        record: dict[str, Any] = {
            "made": dt.datetime.now(dt.UTC).replace(microsecond=0).isoformat(),
            "coterie": version("coterie"),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "numba", "pyarrow", *self.place.libraries)},
            "rows": self.original_rows,
            "published_rows": self.published_rows,
            **self.place.record(),
        }
        if self.masked:
            record |= {"masks": self.masked, "masks_sha256": self.masks_sha256}
        if self.notes:  # such as which solver took part: with another one, the release may differ
            record["notes"] = list(self.notes)
        return record | more

    def __repr__(self) -> str:
        found, config = self.verification, self.config
        hidden = f"in {found.groups:,} groups of at least {found.k:,}"
        if self.by_rows:
            hidden = f"published one by one, each among {config.k:,}"
        where = f"{self.place.where}, " if self.place.where else ""
        cut = f", {self.blocks:,} blocks" if self.blocks > 1 else ""
        told = f"{where}{found.rows:,} rows {hidden}, GCP {self.measures['gcp']:.4f}, method {config.method}{cut}"
        return f"<Release: {told}>"
