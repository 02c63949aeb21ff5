"""Unsaved input on a column's page: it is shown again until it is saved or discarded."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps

from starlette.requests import Request
from starlette.responses import Response

from coterie.errors import ConfigError
from coterie.settings.fields.hierarchies import checked_orders
from coterie.web import drafts
from coterie.web.configuration import configuration
from coterie.web.hierarchies import form as hierarchy_forms
from coterie.web.hierarchies import store as hierarchy_store
from coterie.web.hierarchies.column import ColumnPage, place_of
from coterie.web.hierarchies.column_values import fit_problems, missing_text, read_order
from coterie.web.pages import Fault, Fields, go, posted

FORMS = ("rule", "order", "table", "notice")
WHAT = "This hierarchy"
STALE = (
    f"{WHAT} was changed in another tab or in an editor. Your last change was not saved; "
    "the page shows the current hierarchy."
)


def stamp_of(place: ColumnPage) -> str:
    """Return a stamp that changes with the hierarchy of a column, in the configuration or in its file."""
    values = configuration.readable_values(place.project)
    spec, order = (
        hierarchy_store.specs_in(values, setting).get(place.column.name) for setting in ("hierarchies", "ordered")
    )
    return drafts.stamp(spec, order, hierarchy_store.file_hash(place.project, hierarchy_store.file_of(spec)))


def conflict(place: ColumnPage, fields: Mapping[str, str]) -> list[Fault]:
    """Return the error of a form that was opened before the hierarchy changed."""
    return drafts.changed_elsewhere(stamp_of(place), fields, what=WHAT)


def keep(request: Request, place: ColumnPage, form: str, fields: Mapping[str, str], *, view: str) -> Response:
    """Keep a form and redirect to it, so that Back and Reload do not submit it again."""
    drafts.keep_draft(place.project, f"{form}-{place.column.index}", {**fields, "column": place.column.name})
    return go(f"{place.url}?view={view}", request)


def kept(place: ColumnPage, form: str) -> dict[str, str] | None:
    """Return the kept fields of a form of this column."""
    fields = drafts.draft_of(place.project, f"{form}-{place.column.index}")
    return fields if fields is not None and fields.get("column") == place.column.name else None


def forget(place: ColumnPage, *forms: str) -> None:
    """Discard kept input after it was saved or given up."""
    for form in forms or FORMS:
        drafts.drop_draft(place.project, f"{form}-{place.column.index}")


def refuse(request: Request, place: ColumnPage, faults: Sequence[Fault], *, view: str = "start") -> Response:
    """Show errors of a request without input worth keeping; they are shown once."""
    return keep(request, place, "notice", {"faults": json.dumps(faults)}, view=view)


def column_form(
    kept: str = "", *, view: str = "start"
) -> Callable[[Callable[[Request, ColumnPage, Fields], Response]], Callable[[Request], Awaitable[Response]]]:
    """Handle a form of a column's page: one whose input is `kept` until it is saved or discarded, or a single button.

    A button does nothing if its page was opened before the hierarchy changed.
    """

    def decorate(handler: Callable[[Request, ColumnPage, Fields], Response]) -> Callable[..., Awaitable[Response]]:
        @posted
        @wraps(handler)
        def answer(request: Request, fields: Fields) -> Response:
            place = place_of(request)
            if kept and fields.get("action") == "discard":
                forget(place, kept)
                return go(f"{place.url}?view={view}", request)
            if not kept and conflict(place, fields):
                return refuse(request, place, [Fault("", STALE)], view=view)
            return handler(request, place, fields)

        return answer

    return decorate


def notices(place: ColumnPage) -> list[Fault]:
    """Return the errors that `refuse` kept, and discard them."""
    fields = kept(place, "notice")
    forget(place, "notice")
    return [] if fields is None else [Fault(field, text) for field, text in json.loads(fields["faults"])]


def rule_faults(place: ColumnPage, fields: Mapping[str, str]) -> list[Fault]:
    """Return the errors of a rule; a preview need not fit the values."""
    try:
        made = hierarchy_forms.rule_of(hierarchy_forms.read_form(fields))
    except ConfigError as error:
        return [Fault(problem.path, problem.text) for problem in error.problems]
    if fields.get("do") != "save":
        return []
    problems = fit_problems(made, hierarchy_forms.sample_of(place.values))
    return [Fault("kind", problem.text) for problem in problems] or conflict(place, fields)


def order_faults(place: ColumnPage, fields: Mapping[str, str]) -> list[Fault]:
    """Return the errors of a submitted order."""
    order = read_order(fields, place.values)
    try:
        checked_orders({place.column.name: tuple(order)})
        wrong = missing_text(order, place.values)
    except ConfigError as error:
        wrong = [f"The order {problem.text}." for problem in error.problems]
    return [Fault("order", text) for text in wrong] or conflict(place, fields)
