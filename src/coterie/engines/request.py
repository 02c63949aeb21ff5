"""Refuse requests that the method or the engine does not support, before any work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from coterie.arrays import AnyTable
from coterie.engines.suppressed import needs_remaining
from coterie.errors import Problem, refuse
from coterie.privacy.kmap import KMap
from coterie.table.recoding import NO_CELLS

if TYPE_CHECKING:
    from coterie.engines.engine import Job
    from coterie.settings.config import Config
    from coterie.table.grouping import Grouping


SET_METHODS = ("auto", "bottom-up", "compact", "kmembers", "optimal", "top-down")
"""methods that search by NCP alone, so that another price of sets takes its place"""


def kind_of(config: Config) -> type[Grouping]:
    """Return the kind of recoding that the method returns."""
    from coterie.methods import find_method

    return find_method(config.method).kind


def check_request(config: Config) -> None:
    """Raise a ConfigError for what the method does not support; reports every problem at once."""
    refuse(_problems(config))


def block_problems(data: AnyTable, job: Job, engine: str) -> list[Problem]:
    """Return what cannot be done block by block, from file to file."""
    config, problems = job.config, []
    if not is_file(data):
        problems.append(Problem("engine", f"{engine} reads files; give the path of one, or engine memory"))
    if not into_file(job.output):
        text = f"{engine} writes the release to a file; set output, or use engine memory"
        problems.append(Problem("engine", text))
    if job.suppress_cells is not None and kind_of(config).by_rows:
        problems.append(Problem("suppress_cells", NO_CELLS))
    return problems + cut_problems(config)


def cut_problems(config: Config) -> list[Problem]:
    """Return what cannot be done block by block, wherever the rows are."""
    problems = _problems(config)
    if config.time_limit is not None and config.engine == "spark":
        text = "a task that is retried must give the same rows; remove it and set the effort of the method"
        problems.append(Problem("time_limit", text))
    elif config.time_limit is not None and needs_remaining(config):
        text = "blocks are grouped twice if rows are suppressed, and must be equal; remove it"
        problems.append(Problem("time_limit", text))
    if config.row_order != "original" and (config.engine == "spark" or kind_of(config).by_rows):
        why = "Spark has no order to keep secret" if config.engine == "spark" else "rows one by one keep their order"
        text = f"{why}; sort the input by something that nobody knows, or give engine memory"
        problems.append(Problem("row_order", text))
    return problems


def is_file(data: AnyTable) -> bool:
    """Return whether a table is a file or a folder: not a frame, standard input or a database table."""
    from coterie.files.databases.place import place_of

    return isinstance(data, str | os.PathLike) and os.fspath(data) != "-" and place_of(data) is None


def into_file(output: object) -> bool:
    """Return whether a release goes to a file, a folder or standard output."""
    from coterie.files.databases.place import place_of

    return output is not None and place_of(output) is None


def _problems(config: Config) -> list[Problem]:
    kind = kind_of(config)
    problems = []
    if kind.by_rows:
        alone = f"method {config.method} publishes rows one by one"
        problems = [Problem(path, f"{alone}: {text}") for path, text in _of_groups(config)]
    if config.cost == "set" and config.method not in SET_METHODS:
        text = f"the method {config.method} cannot minimize the size of sets; use one of {', '.join(SET_METHODS)}"
        problems.append(Problem("cost", text))
    if config.cost == "set" and config.options.get("suppress_above") is not None:
        problems.append(Problem("options.suppress_above", 'is a share of NCP; leave it or cost = "set" out'))
    if config.cost == "set" and any(isinstance(model, KMap) for model in config.privacy):
        problems.append(Problem("cost", f"{KMap.name} counts people by unchanged columns; leave one of the two out"))
    if config.refine and not kind.tight:
        text = f"local search works on local recoding, but {config.method!r} is {kind.recoding}; leave it out"
        problems.append(Problem("refine", text))
    return problems


def _of_groups(config: Config) -> list[tuple[str, str]]:
    """Return the requested settings about groups, and why they do not apply without groups."""
    found = [
        (f"publish.{column}", f"without groups there is no {style}; use interval or bounds")
        for column, style in config.publish.items()
        if style in ("mean", "median")
    ]
    if config.round:
        found.append(("round", "a row is found in the cells of others by their ends; choose another method"))
    if config.privacy:
        found.append(("privacy", "guarantees beyond k-anonymity need groups; choose another method"))
    if config.entity is not None:
        found.append(("entity", "people can be counted in groups only; choose another method"))
    return found


def advice(config: Config) -> str:
    """Return advice for someone who looks for groups in a release with rows published one by one; "" otherwise."""
    from coterie.settings.registry import DEFAULT_METHOD

    # The default spares `verify` the import of the methods.
    if config.method == DEFAULT_METHOD or not kind_of(config).by_rows:
        return ""
    return (
        f"Method {config.method} publishes rows one by one: groups of equal rows are not its guarantee, which was "
        "checked when the release was made and cannot be seen in the file alone."
    )
