"""compare(): methods × k × privacy models on one table, which is read and encoded once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from coterie.arrays import AnyTable
from coterie.comparison.comparison import Comparison, ComparisonRow
from coterie.comparison.finished import keep, read_kept, run_key
from coterie.engines.memory.source import prepare
from coterie.errors import Cancelled, ConfigError, Problem
from coterie.files.tables import source_hash
from coterie.settings.config import AnyConfig, Config
from coterie.settings.keywords import CompareKeywords
from coterie.settings.signature import spelled_out

if TYPE_CHECKING:
    from coterie.methods._method import Progress
    from coterie.privacy.model import Model

__all__ = ["Comparison", "ComparisonRow", "compare"]

KS = (2, 5, 10, 50)
QUERIES = 1000
# What only chooses another method would be measured twice.
NOT_IN_ALL = ("auto",)
ALONE = "none"

Methods = str | Sequence[str]


@dataclass(frozen=True)
class PlannedRun:
    """A run to execute."""

    method: str
    privacy: str
    config: Config
    key: str

    @property
    def label(self) -> str:
        """The run's name in progress messages."""
        more = f", {self.privacy}" if self.privacy else ""
        return f"{self.method}, k = {self.config.k:,}{more}"

    def row(self, **figures: Any) -> ComparisonRow:  # noqa: ANN401 - fields of ComparisonRow
        """Return the run's row with these figures."""
        return ComparisonRow(method=self.method, k=self.config.k, privacy=self.privacy, **figures)


@spelled_out
def compare(
    data: AnyTable,
    *,
    config: AnyConfig = None,
    methods: Methods = "all",
    k: int | Sequence[int] = KS,
    privacy: Any = None,  # noqa: ANN401 - models, texts, or lists of them
    queries: int = QUERIES,
    results: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings: Unpack[CompareKeywords],
) -> Comparison:
    """Anonymize a table with several methods and k, and compare loss, risk, query error and time.

    Args:
        data: A frame, a path or "-".
        config: A Config, a dict or the path of a TOML file. Its method and k are replaced by the following.
        methods: "all", or names. Options follow a name after colons: "compact:effort=fast".
        k: One k or several.
        privacy: Privacy models to compare, one by one; those of an inner list (or "A+B" as text) are combined,
            "none" is k alone. By default those of the configuration.
        queries: The number of COUNT queries for the comparison; 0 for none.
        results: A file for finished runs, from which a later call resumes.
        fresh: Repeat all runs, whatever the file contains.
        progress: Called with (step, done, total).
        cancelled: Called now and then; return True to stop.
        **settings: The fields of `Config`.

    Raises:
        ConfigError: The request is invalid. A method that cannot satisfy it is not an error but a row with the reason.
        Cancelled: The user stopped it; `.finished` is the comparison so far.
    """
    from coterie.comparison.runs import NO_MEMORY, Runner

    base = Config.build(config, **settings)
    path = None if results is None else Path(results)
    kept = read_kept(path)
    prepared = prepare(data, base, publishes=False)
    plan = _plan(base, source_hash(prepared.source), methods=methods, ks=k, privacy=privacy, queries=queries)
    for each in plan:
        each.config.check_columns(prepared.source.table.column_names, publishes=False)
    known = {} if fresh else {each.key: kept[each.key] for each in plan if each.key in kept}
    runner = Runner(prepared, base, queries=queries, progress=progress, cancelled=cancelled)
    rows = dict(known)

    def so_far() -> Comparison:
        ordered = tuple(rows[each.key] for each in plan if each.key in rows)
        source = prepared.source
        return Comparison(ordered, len(plan), len(known), source.kind, source.native)

    try:
        for each, row in runner.rows([each for each in plan if each.key not in known], done=len(known)):
            rows[each.key] = row
            if row.reason != NO_MEMORY:  # there may be more of it another time
                keep(path, each.key, row)
    except (KeyboardInterrupt, Cancelled):
        where = f" and kept in {path}; the same call resumes from there" if path is not None else ""
        raise Cancelled(
            f"Stopped: {len(rows):,} of {len(plan):,} runs are finished{where}.", finished=so_far()
        ) from None
    return so_far()


def _plan(
    base: Config, source: str, *, methods: Methods, ks: int | Sequence[int], privacy: object, queries: int
) -> list[PlannedRun]:
    """Return every run once: by privacy models, then by k, then by method."""
    sizes = [ks] if isinstance(ks, int) else list(ks)
    names = list(method_names(methods))
    problems = [Problem("k", "give at least one")] if not sizes else []
    problems += [Problem("methods", "give at least one, or all")] if not names else []
    problems += [Problem("queries", "must be 0 or more")] if queries < 0 else []
    if problems:
        raise ConfigError(problems)
    plan: dict[str, PlannedRun] = {}
    for models, text in _variants(base, privacy):
        for size in sizes:
            for name in names:
                config = _with_method(base.replace(privacy=models, k=size), name)
                key = run_key(source, config, queries=queries)
                plan.setdefault(key, PlannedRun(name, text, config, key))
    return list(plan.values())


def method_names(methods: Methods) -> Iterator[str]:
    """Return the requested methods with their options."""
    from coterie.methods import all_methods

    listed = methods.split(",") if isinstance(methods, str) else methods
    for name in (str(each).strip() for each in listed):
        if name == "all":
            yield from (each for each in all_methods() if each not in NOT_IN_ALL)
        elif name:
            yield name


def _with_method(config: Config, text: str) -> Config:
    """Return the configuration with a method such as "compact:effort=fast"; its own method keeps its options."""
    name, *parts = text.split(":")
    if not parts:
        return config.replace(method=name)
    options: dict[str, str] = {}
    for part in parts:
        option, equals, value = part.partition("=")
        if not equals:
            raise ConfigError([Problem("methods", f"{text!r}: options are NAME=VALUE, as in compact:effort=fast")])
        options[option.strip()] = value.strip()
    return config.replace(method=name, options=options)


def _variants(base: Config, privacy: object) -> list[tuple[tuple[Any, ...], str]]:
    """Return the sets of privacy models, each with its text."""
    if privacy is None:
        return [(base.privacy, _text(base.privacy))]
    entries = list(privacy) if isinstance(privacy, list | tuple) else [privacy]
    found = []
    for entry in entries:
        together = list(entry) if isinstance(entry, list | tuple) else [entry]
        parts = [part for each in together for part in _parts(each)]
        models = base.replace(privacy=parts).privacy
        found.append((models, _text(models)))
    return found


def _parts(entry: Any) -> list[Any]:  # noqa: ANN401 - a model or its text
    """Split `A+B` into its models; a plus within a file name does not count."""
    if not isinstance(entry, str):
        return [entry]
    return [part.strip() for part in re.split(r"\+(?=\s*[a-z-]+:)", entry) if part.strip() not in ("", ALONE)]


def _text(models: Sequence[Model]) -> str:
    return " + ".join(model.title for model in models)
