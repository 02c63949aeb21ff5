"""The views of the Hierarchies step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from coterie.errors import CoterieError, HierarchyError
from coterie.hierarchies.dates import LEVELS
from coterie.hierarchies.faults import doubts
from coterie.settings.registry import FIELDS
from coterie.web.hierarchies import form as hierarchy_forms
from coterie.web.hierarchies import tree_view as hierarchy_view
from coterie.web.hierarchies import typed
from coterie.web.hierarchies.column import ColumnPage, describe
from coterie.web.hierarchies.column_values import lost_text, order_offered, value_texts
from coterie.web.hierarchies.form import RuleForm
from coterie.web.hierarchies.store import MOST_VALUES, StoredHierarchy, open_draft
from coterie.web.pages import Fault, number_in, render

LOST_SHOWN = 300


def show_column(request: Request, place: ColumnPage, *, view: str = "") -> Response:
    """Show the page of one column, with unsaved input."""
    opened = place.opened()
    if view not in ("tree", "table", "start"):
        view = "tree" if opened.state == "tree" else "start"
    if view in ("tree", "table") and opened.state != "tree":
        view = "start"
    values: dict[str, Any] = {}
    sent_back = typed.notices(place)
    wrong = [Fault("", str(problem)) for problem in opened.problems]
    unsaved = typed.kept(place, "table" if view == "table" else "rule") if view != "tree" else None
    try:
        if view == "tree":
            values = editor(place, opened)
        elif view == "table":
            values, faults = table(place, opened, request, unsaved)
            sent_back += faults
    except HierarchyError as error:
        view = "start"
        wrong.append(Fault("", str(error)))
    if view == "start":
        sent_back += [] if unsaved is None else typed.rule_faults(place, unsaved)
        unsaved_order = typed.kept(place, "order")
        sent_back += [] if unsaved_order is None else typed.order_faults(place, unsaved_order)
        values = start(place, opened, None if unsaved is None else hierarchy_forms.read_form(unsaved))
        values |= order_form(place, opened, unsaved_order)
    return render(
        request,
        "hierarchy.html",
        project=place.project,
        step="hierarchies",
        status=422 if sent_back else 200,
        faults=[*sent_back, *wrong],
        unsaved=unsaved is not None,
        stamp=typed.stamp_of(place),
        **{"place": place, "opened": opened, "view": view, "what": describe(opened, place.column), **values},
    )


def start(place: ColumnPage, opened: StoredHierarchy, form: RuleForm | None) -> dict[str, Any]:
    """Return the context of the build and import section."""
    rule = opened.hierarchy if opened.state == "rule" else None
    submitted = form
    if form is None:
        known = hierarchy_forms.form_of_rule(rule) if rule is not None else None
        form = known or hierarchy_forms.suggested(place.values, place.column.kind)
    shown = None
    try:
        if submitted is not None or rule is not None:
            shown = hierarchy_forms.preview(hierarchy_forms.rule_of(form), place.values)
    except CoterieError:
        shown = None  # the errors say why
    return {
        "form": form,
        "kinds": hierarchy_forms.KINDS,
        "levels": LEVELS,
        "preview": shown,
        "editable": len(place.values.values) <= MOST_VALUES,
        "most_values": MOST_VALUES,
    }


def order_form(place: ColumnPage, opened: StoredHierarchy, unsaved: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the context of the order of values."""
    if not order_offered(place.values, place.column.kind, opened.order):
        return {"order": None}
    # Without an order, all values are shown for a person to arrange.
    text = "\n".join(opened.order or value_texts(place.values)) if unsaved is None else unsaved.get("order", "")
    return {"order": text, "ordered": FIELDS["ordered"], "order_unsaved": unsaved is not None}


def editor(
    place: ColumnPage,
    opened: StoredHierarchy,
    *,
    wanted: Collection[int] | None = None,
    focus: int = 0,
    chosen: Collection[int] = (),
) -> dict[str, Any]:
    """Return the context of the tree editor, with the `wanted` groups expanded, one node focused and some chosen."""
    assert opened.hierarchy is not None
    draft = open_draft(place.project, place.column.index, opened)
    tree = draft.tree
    counts = hierarchy_view.counts_of(tree, place.values)
    shown = {node for node in (focus, *chosen) if node in tree.labels}
    opening = hierarchy_view.open_nodes(tree, wanted)
    opening |= {above for node in shown for above in tree.path(node)[1:]}
    whole = opened.hierarchy.tree
    return {
        "tree": tree,
        "outline": hierarchy_view.TreeView(tree, counts.rows, opening, shown),
        "lost": counts.lost,
        "shown_lost": LOST_SHOWN,
        "lost_text": lost_text(counts.lost) if counts.lost else "",
        "undo": draft.undo,
        "focus": focus if focus in tree.labels else 0,
        "chosen": set(chosen) & set(tree.labels),
        "doubts": doubts(whole) if whole is not None else [],
        "told": "",
        "found": "",
        "edit_faults": [],
    }


def table(
    place: ColumnPage, opened: StoredHierarchy, request: Request, unsaved: Mapping[str, str] | None
) -> tuple[dict[str, Any], list[Fault]]:
    """Return the context of the table editor, and the errors of unsaved rows."""
    assert opened.hierarchy is not None
    draft = open_draft(place.project, place.column.index, opened)
    faults: list[Fault] = []
    if unsaved is not None:
        shown = hierarchy_view.TablePage.read(unsaved)
        faults = [*typed.conflict(place, unsaved), *shown.faults(draft.tree)]
    else:
        shown = hierarchy_view.TablePage.of(draft.tree, first=number_in(request, "from"))
    counts = hierarchy_view.counts_of(draft.tree, place.values)
    return {
        "table": shown,
        "total": len(draft.tree.values),
        "undo": draft.undo,
        "most_levels": hierarchy_view.LEVELS,
        "lost_text": lost_text(counts.lost) if counts.lost else "",
    }, faults
