"""The hierarchy editors: the tree, edited step by step, and the table, edited one page of rows at a time."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from coterie.errors import HierarchyError
from coterie.web import drafts
from coterie.web.hierarchies import operations as hierarchy_ops
from coterie.web.hierarchies import store as hierarchy_store
from coterie.web.hierarchies import tree_view as hierarchy_view
from coterie.web.hierarchies import typed
from coterie.web.hierarchies.column import ColumnPage, place_of
from coterie.web.hierarchies.edit_tree import TOP, from_whole, label_weights, rows, with_weights
from coterie.web.hierarchies.operations import EditOutcome, EditRequest
from coterie.web.hierarchies.view import editor
from coterie.web.pages import Fault, Fields, go, is_htmx, number_in, posted, render


@posted
def edit(request: Request, fields: Fields) -> Response:
    """Edit the tree."""
    place = place_of(request)
    asked = hierarchy_ops.read_asked(fields, fields.every("values"))
    wanted = hierarchy_ops.numbers(fields.get("open", "")) if "open" in fields else None
    focus = asked.nodes[0] if asked.nodes else TOP
    faults: list[Fault] = []
    told = ""
    chosen: tuple[int, ...] = ()
    with place.project.lock:
        draft = _draft(place)
        try:
            if fields.get(drafts.STAMP, now := typed.stamp_of(place)) != now and asked.what != "find":
                raise HierarchyError(typed.STALE)
            if asked.what == "find":
                chosen = tuple(hierarchy_view.find(draft.tree, fields.get("label", "")))
                told = f"{len(chosen):,} found and selected." if chosen else "Nothing was found."
                focus = chosen[0] if chosen else focus
            elif asked.what == "undo":
                told = "Undone." if hierarchy_store.undo(place.project, *_names(place)) else "There is nothing to undo."
            else:
                done = _change(place, draft, asked)
                focus, told = done.focus, done.told
        except HierarchyError as error:
            faults = [Fault("", str(problem)) for problem in error.problems] or [Fault("", str(error))]
            chosen = asked.nodes
    if not is_htmx(request):
        return typed.refuse(request, place, faults, view="tree") if faults else go(place.url)
    opened = place.opened()
    values = editor(place, opened, wanted=wanted, focus=focus, chosen=chosen)
    values |= {"told": told, "edit_faults": faults, "found": fields.get("label", "") if asked.what == "find" else ""}
    values["stamp"] = typed.stamp_of(place)
    return render(request, "_tree_editor.html", project=place.project, place=place, opened=opened, **values)


def _change(place: ColumnPage, draft: hierarchy_store.Draft, asked: EditRequest) -> EditOutcome:
    if asked.what == "place-all":
        lost = hierarchy_view.counts_of(draft.tree, place.values).lost
        asked = asked._replace(what="place", values=tuple(value.text for value in lost))
    done = hierarchy_ops.apply(draft.tree, asked)
    if done.tree != draft.tree:
        hierarchy_store.keep_draft(place.project, *_names(place), before=draft.tree, after=done.tree)
    return done


def _names(place: ColumnPage) -> tuple[int, str]:
    return place.column.index, place.column.name


def _draft(place: ColumnPage) -> hierarchy_store.Draft:
    opened = place.opened()
    if opened.hierarchy is None or opened.hierarchy.tree is None:
        raise HTTPException(409, "The tree no longer exists; it was removed or replaced. Reload the page.")
    return hierarchy_store.open_draft(place.project, place.column.index, opened)


def branch(request: Request) -> Response:
    """Show the children of a group as lines of the tree, when it is expanded or more are requested."""
    place = place_of(request)
    tree = _draft(place).tree
    node, first = number_in(request, "node", -1), number_in(request, "first")
    if node not in tree.children:
        raise HTTPException(404, "This group no longer exists. Reload the page.")
    shown = hierarchy_view.TreeView(tree, hierarchy_view.counts_of(tree, place.values).rows, {node})
    return render(request, "_tree_lines.html", node=node, first=first, tree=tree, outline=shown, chosen=())


@typed.column_form("table", view="table")
def table(request: Request, place: ColumnPage, fields: Fields) -> Response:
    """Save a page of the table."""
    rows_form = hierarchy_view.TablePage.read(fields)
    with place.project.lock:
        draft = _draft(place)
        if fields.get("do") == "level":
            # Nothing is saved yet; the input is kept as a draft.
            wider = rows_form.wider() | {drafts.STAMP: fields.get(drafts.STAMP, "")}
            return typed.keep(request, place, "table", wider, view="table")
        if typed.conflict(place, fields) or rows_form.faults(draft.tree):
            return typed.keep(request, place, "table", fields, view="table")
        typed.forget(place, "table")
        first = rows_form.first
        made = rows_form.replaced_in(draft.tree)
        assert made.tree is not None
        after = with_weights(from_whole(made.tree), label_weights(draft.tree))
        if rows(after) != rows(draft.tree):
            hierarchy_store.keep_draft(place.project, *_names(place), before=draft.tree, after=after)
    step = {"before": -hierarchy_view.TABLE_ROWS, "after": hierarchy_view.TABLE_ROWS}.get(fields.get("do", ""), 0)
    return go(f"{place.url}?view=table&from={max(first + step, 0)}&saved=table", request)


@typed.column_form(view="table")
def undo(request: Request, place: ColumnPage, _: Fields) -> Response:
    """Go one step back, from the table."""
    hierarchy_store.undo(place.project, *_names(place))
    return go(f"{place.url}?view=table", request)
