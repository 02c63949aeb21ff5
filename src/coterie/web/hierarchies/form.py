"""Forms that build a hierarchy by rule: their fields, parsing and preview."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.errors import ConfigError, Problem
from coterie.hierarchies.bind import tree_paths
from coterie.hierarchies.check import ColumnValues
from coterie.hierarchies.dates import LEVELS
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.values.scalars import parse_number
from coterie.web.hierarchies.column_values import fit_problems, value_texts

KINDS = {
    "intervals": "Intervals, for numbers",
    "dates": "Dates: days, months, quarters, years, decades",
    "prefixes": "Prefixes, for codes such as zip codes",
    "flat": "Flat: a value is published or hidden",
}
SHOWN = 12
"""the number of values in a preview"""
MOST_TRIED = 20_000
"""the number of values that a rule is tried on before it is saved"""


@dataclass(frozen=True)
class RuleForm:
    """The content of the form, as text."""

    kind: str = "intervals"
    widths: str = ""
    start: str = "0"
    levels: tuple[str, ...] = LEVELS
    lengths: str = ""
    mask: str = "*"


def form_of_rule(hierarchy: Hierarchy) -> RuleForm:
    """Return the form of a rule."""
    spec: Any = hierarchy.spec
    if hierarchy.kind == "intervals":
        return RuleForm("intervals", widths=_listed(spec["intervals"]), start=str(spec.get("start", 0)))
    if hierarchy.kind == "dates":
        return RuleForm("dates", levels=tuple(spec["dates"]))
    if hierarchy.kind == "prefixes":
        return RuleForm("prefixes", lengths=_listed(spec["prefixes"]), mask=spec.get("mask", "*"))
    return RuleForm("flat")


def suggested(column: ColumnValues, kind: str) -> RuleForm:
    """Suggest an initial form for values of this kind: integer, decimal, date, code and so on."""
    if kind == "date":
        return RuleForm("dates", levels=("month", "quarter", "year", "decade"))
    if kind == "code":
        return RuleForm("prefixes")
    if kind in ("integer", "decimal"):
        return RuleForm("intervals", widths=_widths(sample_of(column), whole=kind == "integer"))
    return RuleForm("flat", widths="5, 10, 20")


def sample_of(column: ColumnValues) -> ColumnValues:
    """Return the column, or a sample of its values if there are very many, so that the page need not wait."""
    if len(column.values) <= MOST_TRIED:
        return column
    places = np.linspace(0, len(column.values) - 1, MOST_TRIED).astype(np.int64)
    return column._replace(values=column.values.take(pa.array(places)), counts=column.counts[places])


def _widths(column: ColumnValues, *, whole: bool) -> str:
    """Suggest about twenty intervals over the range of the values, then half as many, then a quarter."""
    numbers = [number for number in map(parse_number, value_texts(column)) if number is not None]
    spread = float(max(numbers) - min(numbers)) if numbers else 0.0
    if not 0 < spread < 1e300:
        return "5, 10, 20"
    power = 10.0 ** math.floor(math.log10(spread / 20))
    width = next((step * power for step in (1, 2, 5, 10) if step * power >= spread / 20), 10 * power)
    width = max(width, 2.0) if whole else width
    return ", ".join(f"{width * factor:.10g}" for factor in (1, 2, 4))


def read_form(values: Mapping[str, str]) -> RuleForm:
    """Read the submitted form, whose levels are separated by commas."""
    return RuleForm(
        kind=values.get("kind", ""),
        widths=values.get("widths", "")[:500],
        start=values.get("start", "0")[:100],
        levels=tuple(level for level in values.get("levels", "").split(",") if level),
        lengths=values.get("lengths", "")[:500],
        mask=values.get("mask", "*")[:10],
    )


def rule_of(form: RuleForm) -> Hierarchy:
    """Return the rule that a form defines.

    Raises:
        ConfigError: Its fields are invalid; the paths of the problems are the names of the fields.
    """
    try:
        if form.kind == "intervals":
            return Hierarchy.intervals(*_parts(form.widths), start=form.start.strip() or "0")
        if form.kind == "dates":
            if not form.levels:
                raise ConfigError([Problem("dates", "choose at least one level")])
            return Hierarchy.dates(*form.levels)
        if form.kind == "prefixes":
            return Hierarchy.prefixes(*map(_length, _parts(form.lengths)), mask=form.mask.strip() or "*")
        if form.kind == "flat":
            return Hierarchy.flat()
    except ConfigError as error:
        raise ConfigError([Problem(_FIELDS.get(each.path, each.path), each.text) for each in error.problems]) from None
    raise ConfigError([Problem("kind", "choose a kind of rule")])


_FIELDS = {"intervals": "widths", "dates": "levels", "prefixes": "lengths"}


def _parts(text: str) -> list[str]:
    """Split `5, 10 20` into numbers at commas and spaces."""
    return text.replace(",", " ").replace(";", " ").split()


def _length(text: str) -> Any:  # noqa: ANN401 - anything else is refused where lengths are checked
    number = parse_number(text)
    return int(number) if number is not None and number == int(number) else text


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(str, values))


@dataclass(frozen=True)
class Preview:
    """A rule applied to some values of the column."""

    rows: list[list[str]]
    more: int
    problems: list[Problem]
    levels: int = 0
    tried: int = 0
    """the number of values tried, if not all"""


def preview(hierarchy: Hierarchy, column: ColumnValues) -> Preview:
    """Preview a hierarchy on a column: the paths of some values spread over it, or why it does not fit."""
    values = len(column.values)
    column = sample_of(column)
    tried = len(column.values) if len(column.values) < values else 0
    if problems := fit_problems(hierarchy, column, show_values=True):
        return Preview([], 0, problems, tried=tried)
    paths = tree_paths(hierarchy, column.values)
    step = max(len(paths) / SHOWN, 1.0)
    chosen = [paths[int(at * step)] for at in range(min(SHOWN, len(paths)))]
    width = max(map(len, paths), default=0)
    padded = [[path[0], *[""] * (width - len(path)), *path[1:]] for path in chosen]
    return Preview(padded, values - len(chosen), [], width, tried)
