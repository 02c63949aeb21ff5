"""The list of the Hierarchies step: every quasi-identifier with the state of its hierarchy.

A table may have two thousand of them: the configuration is read once for all, the table's file is opened once, and
results are cached until the hierarchy or the table changes.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from typing import NamedTuple

from coterie.web.configuration import configuration
from coterie.web.hierarchies import column_values
from coterie.web.hierarchies import form as hierarchy_forms
from coterie.web.hierarchies.column import describe
from coterie.web.hierarchies.order import missing_text
from coterie.web.hierarchies.store import StoredHierarchy, open_spec
from coterie.web.project import Project
from coterie.web.table_summary import ColumnSummary, summary_of

MOST_KEPT = 10_000
"""cached answers: a few words each"""
_kept: OrderedDict[bytes, str] = OrderedDict()
_lock = threading.Lock()


class Entry(NamedTuple):
    """One quasi-identifier in the list."""

    column: ColumnSummary
    opened: StoredHierarchy
    what: str
    good: bool | None
    """whether the hierarchy or the order covers all values; None if there is neither"""
    wrong: str


def entries(project: Project) -> list[Entry]:
    """Return the quasi-identifiers with the state of their hierarchies."""
    summary = summary_of(project)
    values = configuration.read_values(project)
    known = {column.name: column for column in summary.columns} if summary is not None else {}
    found = []
    with column_values.ValueReader(project.table_path) as reader:
        for name in configuration.listed(values, "quasi"):
            if name not in known:
                continue
            opened = open_spec(project, name, values)
            good, wrong = _fits(project, opened, known[name], reader)
            found.append(Entry(known[name], opened, describe(opened, known[name]), good, wrong))
    return found


def _fits(
    project: Project, opened: StoredHierarchy, column: ColumnSummary, reader: column_values.ValueReader
) -> tuple[bool | None, str]:
    """Return whether a hierarchy or an order covers all values of its column, and what is wrong otherwise."""
    if opened.order:
        lacking = "; ".join(missing_text(opened.order, reader.values_of(column.index)))
        return not lacking, lacking
    if opened.hierarchy is None:
        return (None, "") if opened.state == "none" else (False, "; ".join(map(str, opened.problems)))
    key = _key(project, opened, column, reader)
    with _lock:
        wrong = _kept.get(key)
    if wrong is None:
        values = reader.values_of(column.index)
        # A rule is applied to each value; here a sample is enough, and the run checks all of them.
        sample = values if opened.hierarchy.tree is not None else hierarchy_forms.sample_of(values)
        wrong = "; ".join(problem.text for problem in column_values.fit_problems(opened.hierarchy, sample))
        with _lock:
            _kept[key] = wrong
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
    return not wrong, wrong


def _key(project: Project, opened: StoredHierarchy, column: ColumnSummary, reader: column_values.ValueReader) -> bytes:
    """Return the cache key: the configuration's entry, the file it names, and the table."""
    files = configuration.stamps(project, [opened.file] if opened.file else [])
    said = json.dumps([opened.spec, files, *reader.key, column.index], default=str)
    return hashlib.sha256(said.encode()).digest()
