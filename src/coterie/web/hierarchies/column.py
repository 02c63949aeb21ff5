"""The column of a page of the Hierarchies step, with a short description of its hierarchy."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request

from coterie.hierarchies.check import ColumnValues
from coterie.web.hierarchies import form as hierarchy_forms
from coterie.web.hierarchies.column_values import open_table
from coterie.web.hierarchies.store import StoredHierarchy, open_hierarchy
from coterie.web.project import Project
from coterie.web.table_summary import ColumnSummary, inspected


@dataclass(frozen=True)
class ColumnPage:
    """The column of a page."""

    project: Project
    column: ColumnSummary
    values: ColumnValues

    @property
    def url(self) -> str:
        """The address of its page."""
        return f"{self.project.url}/hierarchies/{self.column.index}"

    def opened(self) -> StoredHierarchy:
        """Return the column's hierarchy as the configuration has it now."""
        return open_hierarchy(self.project, self.column.name)


def place_of(request: Request) -> ColumnPage:
    """Return the column in the address, by its position in the file."""
    project, summary = inspected(request)
    position = int(request.path_params["column"])
    if not 0 <= position < len(summary.columns):
        raise HTTPException(404, "There is no such column. Go back to the list of hierarchies.")
    with open_table(project.table_path) as table:
        values = table.values_of(position)
    return ColumnPage(project, summary.columns[position], values)


def describe(opened: StoredHierarchy, column: ColumnSummary) -> str:
    """Describe a hierarchy in a few words."""
    hierarchy = opened.hierarchy
    if opened.order:
        return "Ordered: published as intervals of ranks"
    if opened.state == "none":
        ranges = column.kind in ("integer", "decimal", "date")
        return "No hierarchy: published as ranges" if ranges else "No hierarchy: published as sets of values"
    if hierarchy is None:
        return "Cannot be used"
    if hierarchy.tree is not None:
        levels = int(hierarchy.tree.heights[0])
        where = f", {opened.file}" if opened.file else ""
        return f"Tree of {len(hierarchy.tree.leaf_of):,} values, {levels} level{'s' if levels != 1 else ''}{where}"
    form = hierarchy_forms.form_of_rule(hierarchy)
    if form.kind == "intervals":
        return f"Intervals of {form.widths}" + (f", from {form.start}" if form.start != "0" else "")
    if form.kind == "dates":
        return "Dates by " + ", ".join(form.levels)
    if form.kind == "prefixes":
        return f"Prefixes of {form.lengths} characters" if form.lengths else "Prefixes, one character less at a time"
    return "Flat: each value is published or hidden"
