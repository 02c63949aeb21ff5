"""Comparison: methods compared on one table, and how to show and save the result."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from coterie.arrays import AnyFrame
from coterie.errors import ConfigError, Problem
from coterie.files import tables
from coterie.wording import Tabular

if TYPE_CHECKING:
    from coterie.charts.charts import Chart, Series

SIZE = (8.0, 5.2)

Status = Literal["done", "refused"]


@dataclass(frozen=True)
class ComparisonRow:
    """One method at one k with one set of privacy models. Figures that were not measured are None."""

    method: str
    """the method, with its non-default options"""
    k: int
    privacy: str = ""
    """privacy models beyond k"""
    status: Status = "done"
    reason: str = ""
    """why the method did not run, if so"""
    gcp: float | None = None
    """loss per cell, 0 to 1"""
    bound: float | None = None
    """the lower bound for any grouping; None for rows published one by one, to which it does not apply"""
    loss_over_bound: float | None = None
    groups: int | None = None
    smallest: int | None = None
    largest: int | None = None
    suppressed: int | None = None
    risk_highest: float | None = None
    """highest prosecutor risk of a record"""
    risk_average: float | None = None
    """its mean over all records, which is the share that a marketer links correctly"""
    risk_above: float | None = None
    """share of records whose risk is above the threshold"""
    query_error: float | None = None
    """median relative error of COUNT queries"""
    query_error_p95: float | None = None
    seconds: float | None = None
    """for grouping"""
    seconds_in_all: float | None = None
    """including publishing and verification"""
    cpu_seconds: float | None = None
    """CPU time, all threads together, which depends less on the machine's load"""

    @property
    def label(self) -> str:
        """Method and privacy models."""
        return f"{self.method}, {self.privacy}" if self.privacy else self.method


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Methods compared on one table."""

    rows: tuple[ComparisonRow, ...]
    planned: int
    """the number of rows when all runs are finished"""
    resumed: int = 0
    """rows reused from earlier calls"""
    kind: str = field(default="file", repr=False)
    native: Any = field(default=None, repr=False)

    @property
    def finished(self) -> bool:
        """Whether every run has finished."""
        return len(self.rows) == self.planned

    @cached_property
    def arrow(self) -> pa.Table:
        """One row per run, as an Arrow table."""
        types = {"int": pa.int64(), "float": pa.float64()}
        columns = [(each.name, types.get(str(each.type).split()[0], pa.string())) for each in fields(ComparisonRow)]
        return pa.Table.from_pylist(self.records(), schema=pa.schema(columns))

    @cached_property
    def frame(self) -> AnyFrame:
        """One row per run, as the caller's kind of frame; Arrow for files."""
        from coterie.files.frames import new_frame

        return new_frame(self.arrow, self.kind, self.native)

    def best(self) -> tuple[ComparisonRow, ...]:
        """Return the row with the least loss for each k and set of privacy models."""
        found: dict[tuple[str, int], ComparisonRow] = {}
        for row in self.rows:
            least = found.get((row.privacy, row.k))
            if row.gcp is not None and (least is None or least.gcp is None or row.gcp < least.gcp):
                found[row.privacy, row.k] = row
        return tuple(found.values())

    def records(self) -> list[dict[str, Any]]:
        """Return one record per run."""
        return [asdict(row) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values for JSON."""
        return {"planned": self.planned, "finished": self.finished, "rows": self.records()}

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the table as .json, .csv, .tsv, .parquet or .feather; "-" writes CSV to standard output."""
        if Path(path).suffix.lower() != ".json":
            tables.write(self.arrow, path, force=force)
            return
        with tables.whole_file(path, force=force) as sink:
            sink.write((json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n").encode())

    def charts(self, privacy: str | None = None) -> tuple[Chart, Chart]:
        """Return the risk–utility map and the loss over k for one set of privacy models, by default the first."""
        from coterie.charts.charts import Axis, lines, points

        done = [row for row in self.rows if row.gcp is not None]
        if not done:
            raise ConfigError([Problem("plot", "no run made a release, so there is nothing to draw")])
        privacy = done[0].privacy if privacy is None else privacy
        shown = [row for row in done if row.privacy == privacy]
        under = f", {privacy}" if privacy else ""
        ks = sorted({row.k for row in shown})
        along = f" Along each line k grows: {', '.join(f'{k:,}' for k in ks)}." if len(ks) > 1 else ""
        risk = points(
            f"Risk and loss{under}",
            _series(shown, "gcp", "risk_average", labelled=_least_loss(shown)),
            description="Each point is a release. Further left, less information is lost; "
            "further down, the risk is lower." + along,
            x=Axis("loss (GCP)", low=0.0),
            y=Axis("average risk of a record", log=True),
            name="risk-utility-map",
            joined=True,
            size=SIZE,
        )
        loss = lines(
            f"Loss by k{under}",
            _series(shown, "k", "gcp"),
            description="Information loss of each method as k increases.",
            x=Axis("k", log=True, ticks=ks),
            y=Axis("loss (GCP)", low=0.0),
            name="loss-over-k",
            size=SIZE,
        )
        return risk, loss

    def plot(self, path: str | os.PathLike[str], *, force: bool = False) -> tuple[Path, ...]:
        """Draw the risk–utility map and the loss over k as .svg, .png or .pdf.

        Args:
            path: "out.svg" gives out-risk.svg and out-loss.svg; further sets of privacy models give out-risk-2.svg
                and so on.
            force: Overwrite existing files.

        Returns:
            The files.
        """
        written: list[Path] = []
        kinds = dict.fromkeys(row.privacy for row in self.rows if row.gcp is not None) or {"": None}
        for at, privacy in enumerate(kinds):
            for chart, target in zip(self.charts(privacy), plot_paths(path, at), strict=True):
                chart.write(target, force=force)
                written.append(target)
        return tuple(written)

    def __repr__(self) -> str:
        refused = sum(row.status == "refused" for row in self.rows)
        told = f", {refused:,} refused" if refused else ""
        return f"<Comparison: {len(self.rows):,} of {self.planned:,} runs{told}>"


def plot_paths(path: str | os.PathLike[str], at: int = 0) -> tuple[Path, Path]:
    """Return the paths of the two plots for each set of privacy models."""
    given = Path(path)
    more = f"-{at + 1}" if at else ""
    risk, loss = (given.with_name(f"{given.stem}-{what}{more}{given.suffix}") for what in ("risk", "loss"))
    return risk, loss


def _series(rows: Sequence[ComparisonRow], x: str, y: str, *, labelled: str = "") -> list[Series]:
    """Return one series per method, by ascending k; only one has its points labelled with k, to avoid overlaps."""
    from coterie.charts.charts import Series

    found = []
    for method in dict.fromkeys(row.method for row in rows):
        own = sorted((row for row in rows if row.method == method), key=lambda row: row.k)
        marks = [f"k={row.k}" for row in own] if method == labelled else ()
        found.append(Series(method, [getattr(row, x) for row in own], [getattr(row, y) for row in own], marks))
    return found


def _least_loss(rows: Sequence[ComparisonRow]) -> str:
    """Return the method with the least loss at the most values of k."""
    wins = Counter(row.method for row in Comparison(tuple(rows), len(rows)).best())
    return wins.most_common(1)[0][0]
