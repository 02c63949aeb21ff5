"""The list of the Hierarchies step: every quasi-identifier with the state of its hierarchy.

A table may have two thousand of them: the configuration is read once for all, the table's file is opened once, and
results are cached until the hierarchy or the table changes.
"""

from __future__ import annotations

from typing import NamedTuple

from coterie.web.configuration import configuration
from coterie.web.drafts import stamp
from coterie.web.hierarchies import column_values
from coterie.web.hierarchies import form as hierarchy_forms
from coterie.web.hierarchies.column import describe
from coterie.web.hierarchies.column_values import missing_text
from coterie.web.hierarchies.store import StoredHierarchy, open_spec
from coterie.web.project import Project
from coterie.web.table_summary import ColumnSummary, summary_of

MOST_KEPT = 10_000
"""cached answers: a few words each"""
_kept: dict[str, str] = {}


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
    with column_values.open_table(project.table_path) as table:
        for name in configuration.listed(values, "quasi"):
            if name not in known:
                continue
            opened = open_spec(project, name, values)
            good, wrong = _fits(project, opened, known[name].index, table)
            found.append(Entry(known[name], opened, describe(opened, known[name]), good, wrong))
    return found


def _fits(
    project: Project, opened: StoredHierarchy, position: int, table: column_values.TableFile
) -> tuple[bool | None, str]:
    """Return whether a hierarchy or an order covers all values of its column, and what is wrong otherwise."""
    if opened.order:
        lacking = "; ".join(missing_text(opened.order, table.values_of(position)))
        return not lacking, lacking
    if opened.hierarchy is None:
        return (None, "") if opened.state == "none" else (False, "; ".join(map(str, opened.problems)))
    files = configuration.stamps(project, [opened.file] if opened.file else [])
    key = stamp(opened.spec, files, table.path, table.changed, position)
    wrong = _kept.get(key)
    if wrong is None:
        values = table.values_of(position)
        # A rule is applied to each value; here a sample is enough, and the run checks all of them.
        sample = values if opened.hierarchy.tree is not None else hierarchy_forms.sample_of(values)
        wrong = "; ".join(problem.text for problem in column_values.fit_problems(opened.hierarchy, sample))
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[key] = wrong
    return not wrong, wrong
