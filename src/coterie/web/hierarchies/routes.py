"""The Hierarchies step: view, build, import and edit; the command line reads the same files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from coterie.errors import ConfigError, CoterieError, HierarchyError
from coterie.hierarchies.bind import tree_paths
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.web.configuration import configuration
from coterie.web.hierarchies import form as hierarchy_forms
from coterie.web.hierarchies import store as hierarchy_store
from coterie.web.hierarchies import typed
from coterie.web.hierarchies.column import ColumnPage, place_of
from coterie.web.hierarchies.column_values import read_order, value_texts
from coterie.web.hierarchies.edit_tree import EditTree, flat_tree
from coterie.web.hierarchies.overview import entries
from coterie.web.hierarchies.view import show_column
from coterie.web.pages import Fault, Fields, form_of, go, project_of, render, seen
from coterie.web.table_summary import column_names

LARGEST_IMPORT = 8 << 20
"""the maximum size of a hierarchy file in bytes"""
DELIMITERS = {"auto": None, "semicolon": ";", "comma": ",", "tab": "\t"}
HEADERS = {"auto": None, "yes": True, "no": False}


def overview(request: Request) -> Response:
    """Show the list of quasi-identifiers and their hierarchies."""
    project = project_of(request, ready=True)
    faults = configuration.faults(project, column_names(project), step="hierarchies")
    try:
        found = entries(project)
    except ConfigError as error:
        found, faults = [], [Fault("", str(problem)) for problem in error.problems]
    return render(request, "hierarchies.html", project=project, step="hierarchies", faults=faults, entries=found)


def accept(request: Request) -> Response:
    """Mark the list as reviewed and continue."""
    project = seen(request, project_of(request, ready=True), "hierarchies")
    return go(f"{project.url}/goals", request)


def one(request: Request) -> Response:
    """Show one column."""
    place = place_of(request)
    return show_column(request, place, view=request.query_params.get("view", ""))


@typed.column_form("rule")
def rule(request: Request, place: ColumnPage, fields: Fields) -> Response:
    """Preview or save a rule."""
    fields["levels"] = ",".join(fields.every("levels"))
    if fields.get("do") != "save" or typed.rule_faults(place, fields):
        return typed.keep(request, place, "rule", fields, view="start")
    made = hierarchy_forms.rule_of(hierarchy_forms.read_form(fields))
    return _saved(request, place, "rule", spec=made.spec)


@typed.column_form("order")
def ordered(request: Request, place: ColumnPage, fields: Fields) -> Response:
    """Save the order of a column's values, instead of a hierarchy."""
    if typed.order_faults(place, fields):
        return typed.keep(request, place, "order", fields, view="start")
    return _saved(request, place, "order", order=read_order(fields, place.values))


async def from_file(request: Request) -> Response:
    """Import a file in ARX format."""
    form = await form_of(request)
    upload = form.get("file")
    content = await upload.read(LARGEST_IMPORT + 1) if isinstance(upload, UploadFile) else b""
    name = upload.filename or "" if isinstance(upload, UploadFile) else ""
    fields = Fields(form)
    await form.close()
    return await run_in_threadpool(_imported, request, fields, content, name)


def _imported(request: Request, submitted: Mapping[str, str], content: bytes, name: str) -> Response:
    place = place_of(request)
    if typed.conflict(place, submitted):
        return typed.refuse(request, place, [Fault("file", typed.STALE)])
    if not content.strip():
        text = "Choose a file first: CSV, one row per value, up to the root."
        return typed.refuse(request, place, [Fault("file", text)])
    if len(content) > LARGEST_IMPORT:
        return typed.refuse(request, place, [Fault("file", f"The file is larger than {LARGEST_IMPORT >> 20} MB.")])
    with TemporaryDirectory(dir=place.project.folder) as folder:
        path = Path(folder) / "import.csv"
        path.write_bytes(content)
        try:
            made = Hierarchy.from_csv(
                path,
                delimiter=DELIMITERS.get(submitted.get("delimiter", "auto")),
                header=HEADERS.get(submitted.get("header", "auto")),
            )
        except CoterieError as error:
            told = error.problems if isinstance(error, ConfigError | HierarchyError) else []
            texts = [str(problem) for problem in told] or [str(error)]
            shown = [text.replace(str(path), name or "you chose") for text in texts[:50]]
            return typed.refuse(request, place, [Fault("file", text) for text in shown])
    return _saved(request, place, "import", tree=made)


@typed.column_form()
def from_values(request: Request, place: ColumnPage, _: Fields) -> Response:
    """Start a tree with all values of the column under the root."""
    values = value_texts(place.values)
    if not values or len(values) > hierarchy_store.MOST_VALUES:
        text = f"An edited tree can have 1 to {hierarchy_store.MOST_VALUES:,} values; the column has {len(values):,}."
        return typed.refuse(request, place, [Fault("", f"{text} Use a rule instead.")])
    root = "*"
    while root in values:
        root += "*"
    return _saved(request, place, "values", tree=flat_tree(values, root=root))


@typed.column_form()
def to_tree(request: Request, place: ColumnPage, _: Fields) -> Response:
    """Turn a rule into the tree that it makes, to be edited by hand."""
    opened = place.opened()
    if opened.hierarchy is None or opened.state != "rule":
        return go(place.url, request)
    if len(place.values.values) > hierarchy_store.MOST_VALUES:
        text = f"The column has {len(place.values.values):,} values; up to {hierarchy_store.MOST_VALUES:,}"
        return typed.refuse(request, place, [Fault("", f"{text} can be edited.")])
    try:
        made = Hierarchy.from_rows(tree_paths(opened.hierarchy, place.values.values))
    except HierarchyError as error:
        return typed.refuse(request, place, [Fault("", problem.text) for problem in error.problems])
    return _saved(request, place, "tree", tree=made)


@typed.column_form()
def remove(request: Request, place: ColumnPage, _: Fields) -> Response:
    """Remove the hierarchy or order of a column from the configuration; a file stays where it is."""
    _saved(request, place, "nothing")
    return go(f"{place.project.url}/hierarchies", request)


def download(request: Request) -> Response:
    """Download the hierarchy as CSV in ARX format."""
    place = place_of(request)
    opened = place.opened()
    if opened.hierarchy is None:
        return go(place.url, request)
    values = None if opened.hierarchy.tree is not None else place.values.values
    headers = {"Content-Disposition": f'attachment; filename="hierarchy-{place.column.index + 1}.csv"'}
    return Response(opened.hierarchy.csv_text(values), media_type="text/csv; charset=utf-8", headers=headers)


def _saved(
    request: Request,
    place: ColumnPage,
    what: str,
    *,
    spec: object = None,
    order: Sequence[str] = (),
    tree: Hierarchy | EditTree | None = None,
) -> Response:
    """Discard unsaved input, save a rule, an order or a tree, and show the column again."""
    hierarchy_store.forget_draft(place.project, place.column.index)
    typed.forget(place)
    if tree is None:
        hierarchy_store.save_spec(place.project, place.column.name, spec, order=order)
    else:
        hierarchy_store.save_tree(place.project, place.column.name, tree)
    return go(f"{place.url}?saved={what}", request)
