"""Limits of the verdict: what triggers its warnings, and which warnings a person has accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from coterie.errors import Problem
from coterie.wording import did_you_mean


class Limit(NamedTuple):
    """A limit of the verdict."""

    default: float
    text: str


LIMITS: dict[str, Limit] = {
    "unique": Limit(
        0.01, "share of rows that may be unique on the quasi-identifiers with the kept columns; above: fail"
    ),
    "below-k": Limit(0.0, "share of rows that may share these values with fewer than k; above: warn"),
    "inferred": Limit(0.0, "share of rows whose group may have one sensitive value in common; above: warn"),
    "order": Limit(0.01, "share of numeric cells that the order of rows may narrow down further; above: warn"),
    "loss": Limit(0.5, "information loss (GCP, or what sets leave open) of the release; above: warn"),
    "column-loss": Limit(0.9, "information loss of a single quasi-identifier; above: warn"),
    "query-error": Limit(0.5, "median relative error of random COUNT queries; above: warn"),
}
"""name → default and meaning; all of them are shares from 0 to 1"""

ACCEPTABLE = ("singling-out", "inference", "utility")
"""questions of the verdict whose warnings a person may accept; a violated guarantee cannot be accepted"""


def limit_problems(limits: Mapping[str, float]) -> list[Problem]:
    """Return the problems of the configured limits."""
    problems = []
    for name, value in limits.items():
        if name not in LIMITS:
            text = f"unknown limit{did_you_mean(name, LIMITS)}; the limits are {', '.join(LIMITS)}"
            problems.append(Problem(f"limits.{name}", text))
        elif not 0 <= value <= 1:
            problems.append(Problem(f"limits.{name}", "must be a share from 0 to 1"))
    return problems


def accept_problems(accept: Sequence[str]) -> list[Problem]:
    """Return the problems of the accepted warnings: each must be `question` or `question:column`."""
    problems = []
    for entry in accept:
        question, colon, what = entry.partition(":")
        if question == "promises":
            problems.append(Problem("accept", "a broken guarantee cannot be accepted; change the guarantee instead"))
        elif question not in ACCEPTABLE or (colon and not what):
            known = ", ".join(ACCEPTABLE)
            text = f"expected a question ({known}), or one with a column, such as singling-out:income"
            problems.append(Problem("accept", text))
    return list(dict.fromkeys(problems))


def limit(limits: Mapping[str, float], name: str) -> float:
    """Return a limit: the configured one, or the default."""
    return limits.get(name, LIMITS[name].default)
