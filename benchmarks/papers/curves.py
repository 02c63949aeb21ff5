"""Points → curves with mean and spread over the repeats, and the figures that are made of them."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from benchmarks.papers.trials import Point


class Curve(NamedTuple):
    """One line of a figure."""

    x: tuple[float, ...]
    mean: tuple[float, ...]
    spread: tuple[float, ...]
    """standard deviation over the repeats; 0 where there is one"""
    repeats: tuple[int, ...]

    def at(self, x: float) -> float:
        """The mean at one place."""
        return self.mean[self.x.index(x)]


Curves = dict[str, Curve]


class Panel(NamedTuple):
    """One plot of a figure."""

    title: str
    x: str
    y: str
    curves: Curves
    log_x: bool = False
    log_y: bool = False
    from_zero: bool = True


class Figure(NamedTuple):
    """A figure of a paper, drawn again."""

    name: str
    """its file under docs/papers"""
    title: str
    panels: list[Panel]

    @property
    def digest(self) -> str:
        """A hash of all that is drawn; the file carries it, so that a test can tell whether it is up to date."""
        return hashlib.sha256(json.dumps([self.title, self.panels]).encode()).hexdigest()[:16]


class Factors(NamedTuple):
    """One curve divided by another, point by point."""

    values: tuple[float, ...]

    least = property(lambda self: min(self.values))
    most = property(lambda self: max(self.values))
    mean = property(lambda self: statistics.fmean(self.values))

    def text(self, digits: int = 2) -> str:
        """From … to …, or the only one."""
        if len(self.values) == 1:
            return f"{self.mean:,.{digits}f}"
        return f"{self.least:,.{digits}f} to {self.most:,.{digits}f}"


def pick(points: Iterable[Point], **wanted: Any) -> list[Point]:
    """The points with these values, at the top or in their size; None also picks what is not there."""
    return [point for point in points if all(value_of(point, name) == value for name, value in wanted.items())]


def value_of(point: Point, name: str) -> Any:
    """A value of a point, wherever it stands."""
    return point[name] if name in point else (point["options"] | point["size"]).get(name)


def curves(points: Sequence[Point], x: str, y: str, labels: Sequence[str]) -> Curves:
    """The curves of these labels, in their order; those that have no such points are left out."""
    found = {}
    for label in labels:
        values: dict[float, list[float]] = {}
        for point in points:
            if point["label"] == label and y in point:
                values.setdefault(value_of(point, x), []).append(point[y])
        if values:
            places = sorted(values)
            found[label] = Curve(
                tuple(places),
                tuple(_rounded(statistics.fmean(values[place])) for place in places),
                tuple(_rounded(statistics.stdev(values[place])) if len(values[place]) > 1 else 0.0 for place in places),
                tuple(len(values[place]) for place in places),
            )
    return found


def _rounded(value: float) -> float:
    """Six digits: the last ones may differ from one Python to the next."""
    return float(f"{value:.6g}")


def factors(many: Curves | Sequence[Curves], over: str, under: str) -> Factors:
    """One curve divided by another wherever both have a point and the lower one is not 0."""
    found = []
    for each in [many] if isinstance(many, dict) else many:
        upper, lower = each[over], each[under]
        common = [x for x in upper.x if x in lower.x and lower.at(x) > 0]
        found += [upper.at(x) / lower.at(x) for x in common]
    return Factors(tuple(found))


def slope(curve: Curve) -> float:
    """How fast a curve rises on doubly logarithmic paper: 1 is linear, 2 quadratic."""
    x = [math.log(value) for value in curve.x]
    y = [math.log(value) for value in curve.mean]
    return statistics.linear_regression(x, y).slope
