"""One point of a figure: a method run once on a table, timed, checked and measured.

What was measured is written after every point. A run that was interrupted goes on where it stopped; `--fresh` begins
anew.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import harness
from benchmarks.papers.data import Data, data
from coterie.measures.measures import measure_boxes
from coterie.table.grouping import Grouping
from coterie.table.table import Table

RESULTS = harness.RESULTS / "papers"
QUICK = harness.QUICK / "papers"
KEPT = ("gcp", "ncp", "distortion_ratio", "height_distortion_ratio", "discernability", "average_size", "groups")
WARM_ROWS = 2_000

Point = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """What to run. Two trials that differ in nothing but their label are the same point."""

    label: str
    """the name of the curve"""
    data: str
    size: dict[str, Any]
    """which rows and attributes of the table, see `data.py`"""
    method: str
    k: int
    options: dict[str, Any] = field(default_factory=dict)
    repeat: int = 0
    """the method's seed"""
    kind: str = "group"
    """what is measured: one of KINDS"""

    @property
    def key(self) -> str:
        """What tells this point from all others."""
        return json.dumps({**asdict(self), "label": ""}, sort_keys=True)


FIELDS = tuple(each.name for each in fields(Trial))
Kind = Callable[[Trial, Data], Point]
KINDS: dict[str, Kind] = {}


def kind(name: str) -> Callable[[Kind], Kind]:
    """Register what a kind of trial measures."""

    def register(function: Kind) -> Kind:
        KINDS[name] = function
        return function

    return register


class Grouped(NamedTuple):
    """Groups in the codes by which they are judged, and how long they took."""

    grouping: Grouping
    cpu: float
    wall: float


_warm: set[str] = set()


def group(trial: Trial, made: Data, *, threads: int = 1) -> Grouped:
    """Run the method; an error if a group is too small or a row outside its box."""
    from coterie.methods import Run, find_method

    method = find_method(trial.method)
    options = method.options(**trial.options)
    table = made.table
    warmed = json.dumps([trial.data, trial.method, trial.options], sort_keys=True)
    if warmed not in _warm:
        few = Table(table.codes[:WARM_ROWS].copy(), table.domains)
        method.run(few, min(trial.k, 50), options, Run(seed=0, threads=threads))
        _warm.add(warmed)
    fresh = Table(table.codes, table.domains, leaf_counts=table.leaf_counts)
    wall, cpu = time.perf_counter(), time.process_time()
    found = method.run(fresh, trial.k, options, Run(seed=trial.repeat, threads=threads))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    small = int((found.sizes < trial.k).sum()) + int(found.suppressed.sum())
    if small:
        raise AssertionError(f"{trial.method}, k = {trial.k}: {small} groups are too small or rows suppressed")
    return Grouped(found, cpu, wall)


@kind("group")
def measured(trial: Trial, made: Data) -> Point:
    """Loss, sizes and time of one grouping. `threads` among the size of the trial is how many threads it may use."""
    found = group(trial, made)
    boxes, judge = found.grouping.published_boxes(), made.judge
    if made.numbered is not None:  # its intervals are no boxes here
        boxes = Grouping.of(judge.codes, boxes.labels)
    nodes = boxes.chosen_nodes() if made.table is judge else None
    measures = measure_boxes(
        judge.domains, lo=boxes.lo, hi=boxes.hi, nodes=nodes, labels=boxes.labels, k=trial.k, codes=judge.codes
    )
    if measures["outside"]:
        raise AssertionError(f"{trial.method}, k = {trial.k}: {measures['outside']} rows lie outside their boxes")
    return {**{name: rounded(measures[name]) for name in KEPT}, "cpu": rounded(found.cpu), "wall": rounded(found.wall)}


@kind("bound")
def bound(trial: Trial, made: Data) -> Point:
    """What all groups of k rows lose at least, per cell; by NCP, or by WHD where the options say so."""
    from coterie.grouping.bound import lower_bound
    from coterie.grouping.index import build_index
    from coterie.table.costs import Measure

    table = made.judge
    costs = table.costs_of(Measure(**trial.options)) if trial.options else table.costs
    least = lower_bound(table, trial.k, index=build_index(table, costs))
    cell = rounded(least / (table.rows * table.attributes))
    if trial.options:
        return {"distortion_ratio" if trial.options.get("beta") is None else "height_distortion_ratio": cell}
    return {
        "gcp": cell,
        "ncp": rounded(least),
        "discernability": table.rows * trial.k,
        "average_size": trial.k,
    }


def rounded(value: float) -> float:
    """A number with as many digits as mean anything."""
    return value if isinstance(value, int) else float(f"{value:.8g}")


class Notebook:
    """The points of one paper, on disk."""

    def __init__(self, name: str, *, quick: bool = False, fresh: bool = False) -> None:
        self.path = (QUICK if quick else RESULTS) / f"{name}.json"
        self.name, self.quick = name, quick
        known = None if fresh else read(self.path)
        self.points: list[Point] = known["points"] if known else []
        self.runs: list[dict[str, Any]] = known["runs"] if known else []
        self._place = {point_key(point): point for point in self.points}

    def run(self, trials: Iterable[Trial], *, say: Callable[[str], None] = lambda text: None) -> None:
        """Measure what has not been measured yet; forget points that no figure asks for any more."""
        wanted = list({trial.key: trial for trial in trials}.values())
        missing = [trial for trial in wanted if trial.key not in self._place]
        if missing:
            self.runs.append(_where(self.name, quick=self.quick))
        started = time.process_time()
        for done, trial in enumerate(missing, 1):
            before = time.process_time()
            found = KINDS[trial.kind](trial, data(trial.data, trial.size))
            point = {**asdict(trial), **found, "run": len(self.runs) - 1}
            self.points.append(point)
            self._place[trial.key] = point
            self.runs[-1] |= {"points": done, "cpu_seconds": round(time.process_time() - started, 1)}
            self.save()
            say(f"{done}/{len(missing)} {_short(trial)}: {time.process_time() - before:.1f} s")
        labels = {trial.key: trial.label for trial in wanted}
        # In the order of the trials: where some were measured again, differences are theirs alone.
        kept = [self._place[key] | {"label": label} for key, label in labels.items()]
        if kept != self.points:
            self.points = kept
            self._place = {point_key(point): point for point in kept}
            self.save()

    def forget(self, method: str | None) -> None:
        """Drop the points of one method, so that they are measured again."""
        self.points = [point for point in self.points if point["method"] != method]
        self._place = {point_key(point): point for point in self.points}

    def save(self) -> None:
        """Write everything: one line a point, so that differences can be read."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(f"  {json.dumps(point, ensure_ascii=False)}" for point in self.points)
        runs = ",\n".join(f"  {json.dumps(run, ensure_ascii=False)}" for run in self.runs)
        text = f'{{\n "paper": "{self.name}",\n "runs": [\n{runs}\n ],\n "points": [\n{lines}\n ]\n}}\n'
        part = self.path.with_name(f".{self.path.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(self.path)


def read(path: Path) -> dict[str, Any] | None:
    """A notebook's file, if there is one."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def point_key(point: Point) -> str:
    """The key of the trial that a point comes from."""
    return Trial(**{name: point[name] for name in FIELDS}).key


def _short(trial: Trial) -> str:
    size = " ".join(f"{name}={value}" for name, value in trial.size.items())
    return f"{trial.kind} {trial.label} {trial.data} {size} k={trial.k} repeat={trial.repeat}"


def _where(name: str, *, quick: bool) -> dict[str, Any]:
    return {
        "command": f"python -m benchmarks.papers {name}" + (" --quick" if quick else ""),
        "date": dt.datetime.now(dt.UTC).replace(microsecond=0).isoformat(),
        "commit": harness.commit(),
        "python": platform.python_version(),
        **{package: version(package) for package in harness.PACKAGES},
        "machine": harness.machine(harness.load()),
        "nice": os.nice(0),
    }
