"""Release: what `anonymize` gives back."""

from __future__ import annotations

import datetime as dt
import importlib
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa

from coterie.arrays import AnyFrame, AnyTable, Int32, Int64
from coterie.files import tables
from coterie.files.destinations import check_apart
from coterie.files.output import provenance_path
from coterie.files.rows_file import write_rows
from coterie.settings.toml import provenance_toml

if TYPE_CHECKING:
    from coterie.disclosure.risk import Risk, RiskChange
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
    """What is done with a release by packages that stand above this one, in one table: see `coterie.api.later`."""
    return importlib.import_module("coterie.api.later")


@dataclass(frozen=True, eq=False)
class Release:
    """A verified release: the published table, the proof, and what it cost."""

    config: Config
    """everything that decided the release; run again, it gives the same"""
    measures: Measures
    """what was lost, by name; per attribute in `.attributes`"""
    verification: Verification
    """what the check of the published table found"""
    source: tables.Source = field(repr=False)
    table: Table = field(repr=False)
    """the quasi-identifiers as codes"""
    grouping: Grouping = field(repr=False)
    """row of `table` → group → box"""
    rows: Int64 = field(repr=False)
    """row of `table` → position in the original"""
    published: PublishedTable = field(repr=False)
    seconds: Mapping[str, float] = field(default_factory=dict, repr=False)
    """phase → seconds"""
    masked: str = ""
    """what the user's masks suppressed, if anything"""
    masks_sha256: str = field(default="", repr=False)
    """which masks these were: the settings do not hold them"""
    notes: tuple[str, ...] = ()
    """what the user should know, such as which method was chosen"""
    written: dict[str, str] = field(default_factory=dict, repr=False)
    """name of each file that it was written to → SHA-256"""
    keep_index: bool = field(default=False, repr=False)
    """whether `frame` has the index of the pandas frame that came in"""

    @cached_property
    def frame(self) -> AnyFrame:
        """The published table as the kind of frame that came in, in the same row order; Arrow for files.

        The rows of a pandas frame are numbered from 0 unless its index was asked for by `keep_index=True`.
        """
        kept: Int64 | None = self.published.kept
        if len(self.published.kept) == self.source.table.num_rows and self.config.row_order == "original":
            kept = None
        return tables.to_native(
            self.published.table, self.source, kept=kept, recoded=self.config.quasi, keep_index=self.keep_index
        )

    @property
    def arrow(self) -> pa.Table:
        """The published table as an Arrow table."""
        return self.published.table

    @cached_property
    def verdict(self) -> Verdict:
        """What the release is to be judged by: promises, singling out, inference and utility; `.state` is the worst."""
        found: Verdict = later().verdict_of(self)
        return found

    @property
    def bound(self) -> float:
        """A lower bound for the loss per cell of every grouping with this k: compare with `measures["gcp"]`.

        Rows that are published one by one are in no groups and may lose less.
        """
        return self.measures["bound"]

    @cached_property
    def groups(self) -> Int32:
        """Position in the original → group number, −1 for a suppressed row; for `nh`, the number of its ring."""
        labels = np.full(self.source.table.num_rows, -1, dtype=np.int32)
        labels[self.rows] = self.grouping.labels
        return labels

    @cached_property
    def risk(self) -> RiskChange:
        """How likely records can be traced to people, before and after."""
        from coterie.disclosure.risk import RiskChange, risk_of_table

        people = None if self.config.entity is None else self.source.table.column(self.config.entity)
        before = risk_of_table(self.source.table, quasi=self.config.quasi, people=people, **self._limit)
        return RiskChange(before, self.risk_after)

    @cached_property
    def risk_after(self) -> Risk:
        """How likely records of the published table can be traced to people."""
        from coterie.disclosure.risk import risk_of_table

        people = None if self.config.entity is None else self.source.table.column(self.config.entity)
        kept = None if people is None else people.take(pa.array(self.published.kept))
        among = None if self.grouping.rings is None else self.config.k
        return risk_of_table(self.published.table, quasi=self.config.quasi, people=kept, among=among, **self._limit)

    @property
    def _limit(self) -> dict[str, Any]:
        return {"threshold": self.config.threshold, "fraction": self.config.fraction}

    def assign(self, data: AnyTable) -> Assignment:
        """Place later rows into the groups whose published cells admit them, and say which fit none.

        Args:
            data: Rows with the columns of the original: a frame, a path or "-". Identifiers are not needed.
        """
        from coterie.releases.assign import assign_rows

        return assign_rows(self, data)

    def mapping(self) -> AnyFrame:
        """What each group is published as, attribute by attribute, as the kind of frame that came in.

        One row for each group and attribute: `group`, `rows`, `attribute`, `published`, `lowest`, `highest`, `values`,
        `missing`, `cost`, `weight`, `share`. It holds original values and is not for recipients of the release.
        """
        from coterie.files.frames import new_frame
        from coterie.publishing.mapping import mapping_table

        return new_frame(mapping_table(self), self.source.kind, self.source.native)

    @overload
    def explain(self, row: None = None, *, nearest: int = 5, show_values: bool = False) -> LossExplanation: ...

    @overload
    def explain(self, row: int, *, nearest: int = 5, show_values: bool = False) -> RowExplanation: ...

    def explain(
        self, row: int | None = None, *, nearest: int = 5, show_values: bool = False
    ) -> RowExplanation | LossExplanation:
        """Why a row is as coarse as it is; without a row, which attributes and groups drive the loss.

        Args:
            row: Position in the original, the first being 0.
            nearest: How many of its nearest rows to name, by position.
            show_values: Also give original values; without it there are positions and figures only.
        """
        if row is None:
            driven: LossExplanation = later().explain_loss(self)
            return driven
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
        """What another k, or one attribute less, would change: run again, quickly, and compared with a run as quick.

        Args:
            k: The k to try; half and twice that of the release when left out.
            drop: Attributes to leave out, one at a time; each of them when left out.
            method: The method to run; `compact` with effort fast when left out.
            progress: Told (step, done, total).
        """
        tried: WhatIfs = later().what_if(self, k=k, drop=drop, method=method, progress=progress)
        return tried

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the published table, and beside it the configuration with what is needed to trace the release.

        Args:
            path: .csv, .tsv, .txt (also with .gz), .parquet or .feather; "-" is standard output, with nothing beside.
                Or a table of a database, such as "postgresql://user@host/census#people_k10", made in one transaction;
                its configuration goes to people_k10.coterie.toml in the current folder.
            force: Overwrite files or a table that are there, but never the input or the configuration in use.
        """
        check_apart(self.source.origin, self.config, output=path)
        if str(path) == "-":
            self.written["standard output"] = tables.write(self.published.table, path, like=self.source)
            return
        # Begun first, so that a folder that takes no file is found out before a table is in its place.
        with tables.whole_file(provenance_path(path), force=force) as sink:
            digest = tables.write(self.published.table, path, like=self.source, force=force)
            if (place := tables.place_of(path)) is not None:
                record = self.provenance(output=place.name)
            else:
                self.written[Path(path).name] = digest
                record = self.provenance(output_sha256=digest)
            # Elsewhere, with less memory, `auto` might take another engine, and so make another release.
            settled = self.config.replace(engine="memory") if self.config.engine == "auto" else self.config
            sink.write(provenance_toml(settled, record).encode())
        if self.config.row_order == "shuffle":
            write_rows(path, self.published.kept, force=force)

    def report(self, path: str | os.PathLike[str], *, variant: str = "internal", force: bool = False) -> None:
        """Write a report on the release, for the person who has to sign it.

        Args:
            path: .html for a page that needs nothing else, .json for the same as data.
            variant: "internal", or "external": without any value of the data, and without counts below k.
            force: Overwrite a file that is there.
        """
        later().write_report(self, path, variant=variant, force=force)

    def _repr_html_(self) -> str:
        return str(later().release_html(self))

    def provenance(self, **more: str) -> dict[str, Any]:
        """Versions, hashes and the time: what it takes to make the same release again."""
        record: dict[str, Any] = {
            "made": dt.datetime.now(dt.UTC).replace(microsecond=0).isoformat(),
            "coterie": version("coterie"),
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "numba": version("numba"),
            "pyarrow": version("pyarrow"),
            "rows": self.source.table.num_rows,
            "published_rows": self.published.table.num_rows,
        }
        if self.source.sha256 is not None:
            record["input_sha256"] = self.source.sha256
        elif self.source.kind == "file":  # a database, which has no bytes to hash
            record["input"] = self.source.name
        if self.masked:
            record |= {"masks": self.masked, "masks_sha256": self.masks_sha256}
        return record | more

    def __repr__(self) -> str:
        found = self.verification
        hidden = f"in {found.groups:,} groups of at least {found.k:,}"
        if self.grouping.rings is not None:
            hidden = f"published one by one, each among {self.config.k:,}"
        return f"<Release: {found.rows:,} rows {hidden}, GCP {self.measures['gcp']:.4f}, method {self.config.method}>"
