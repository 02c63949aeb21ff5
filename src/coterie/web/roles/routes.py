"""The Roles step: each column's role, the reason for the suggestion, and its contribution to the risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from coterie.errors import ConfigError
from coterie.settings.changes import per_column
from coterie.settings.registry import FIELDS
from coterie.settings.roles import PUBLISHED
from coterie.suggesting.toml import ROLE_SETTINGS
from coterie.web import drafts
from coterie.web.configuration import configuration
from coterie.web.jobs import jobs_of
from coterie.web.pages import Fault, Fields, go, is_htmx, posted, render, seen
from coterie.web.project import Project, read_json, write_json
from coterie.web.roles.column_risk import Risks, risk_folder, risks_of
from coterie.web.table_summary import TableSummary, inspected

ROLES = {role: (FIELDS[setting].label, FIELDS[setting].hint) for role, setting in ROLE_SETTINGS.items()}
ROLES["undecided"] = ("Undecided", "No role yet. Every column needs a role before a run.")
PAGE = 200
"""columns shown at once"""
STALE = (
    "Roles were changed in another tab or in an editor. Your last change was not saved; "
    "this page shows the saved roles."
)


def roles(request: Request) -> Response:
    """Show the page, or only its rows when htmx asks."""
    project, summary = inspected(request)
    chosen = _roles(project, summary)
    find, only = request.query_params.get("find", "").strip(), request.query_params.get("only", "")
    risks = risks_of(project)
    columns = [
        column
        for column in summary.columns
        if find.casefold() in column.name.casefold() and only in ("", chosen[column.name])
    ]
    context: dict[str, Any] = {
        "columns": columns[:PAGE],
        "more": max(len(columns) - PAGE, 0),
        "find": find,
        "only": only,
        "roles": ROLES,
        **_shared(request, project, summary, chosen, risks),
    }
    if is_htmx(request) and request.method == "GET":
        return render(request, "_role_rows.html", project=project, **context)
    wrong = _faults(project, summary)
    if request.query_params.get("stale"):
        wrong = [Fault("", STALE), *wrong]
    status = 422 if wrong and ("refused" in request.query_params or "stale" in request.query_params) else 200
    return render(request, "roles.html", project=project, step="roles", status=status, faults=wrong, **context)


def _faults(project: Project, summary: TableSummary) -> list[Fault]:
    """Return the errors of the roles, or of the whole file, which then has none."""
    try:
        configuration.read_values(project)
    except ConfigError as error:
        return configuration.as_faults(error.problems)
    return configuration.faults(project, summary.names, step="roles")


def _shared(
    request: Request, project: Project, summary: TableSummary, chosen: Mapping[str, str], risks: Risks | None
) -> dict[str, Any]:
    """Return the counts, and the risk if it is known for exactly these quasi-identifiers."""
    quasi = [name for name in summary.names if chosen[name] == "quasi"]
    state = jobs_of(request).state(risk_folder(project))
    fresh = risks is not None and sorted(risks.quasi) == sorted(quasi)
    return {
        "chosen": chosen,
        "counts": {role: sum(each == role for each in chosen.values()) for role in ROLES},
        "facts": summary,
        "risks": risks if fresh else None,
        "measuring": state.active,
        "stale": not fresh and not state.active and state.state != "failed",
        "failed": state.message if state.state == "failed" else "",
        "stamp": drafts.stamp_of(project, "roles"),
    }


def _roles(project: Project, summary: TableSummary) -> dict[str, str]:
    """Return column → role, from the configuration."""
    values = configuration.readable_values(project)
    found = dict.fromkeys(summary.names, "undecided")
    entity = values.get("entity")
    if isinstance(entity, str) and entity in found:
        found[entity] = "identifier"  # removed like one
    for role, setting in ROLE_SETTINGS.items():
        found |= {name: role for name in configuration.listed(values, setting) if name in found}
    return found


@posted
def change(request: Request, form: Fields) -> Response:
    """Save the roles in the form, or set many at once."""
    project, summary = inspected(request)
    stamp = form.get(drafts.STAMP, "")
    if stamp and stamp != drafts.stamp_of(project, "roles"):
        # Roles are saved as they are chosen: a choice based on outdated roles is not saved.
        if is_htmx(request):
            return render(request, "_roles_stale.html", project=project)
        return go(f"{project.url}/roles?stale=1")
    chosen = _roles(project, summary)
    before = dict(chosen)
    action, many = form.get("action", ""), form.get("many", "")
    wanted = [(name.removeprefix("role-"), role) for name, role in form.items() if name.startswith("role-")]
    if action == "many":
        wanted += [(place, many) for place in form.every("column")]
    for place, role in wanted:
        if place.isdecimal() and int(place) < len(summary.columns) and role in ROLES:
            chosen[summary.names[int(place)]] = role
    if action == "suggested":
        chosen = {column.name: column.role for column in summary.columns}
    if chosen != before or action in ("next", "suggested"):
        _save(project, summary.names, chosen)
        _measure(request, project, summary, chosen)
    if is_htmx(request) and not action:
        shared = _shared(request, project, summary, chosen, risks_of(project))
        return render(request, "_risk.html", project=project, columns=[], **shared)
    if action == "next":
        wrong = configuration.faults(project, summary.names, step="roles")
        if wrong:
            return go(f"{project.url}/roles?refused=1")
        seen(request, project, "roles")
        return go(f"{project.url}/hierarchies")
    query = urlencode({name: form[name] for name in ("find", "only") if form.get(name)})
    return go(f"{project.url}/roles{'?' + query if query else ''}")


def _save(project: Project, names: Sequence[str], chosen: Mapping[str, str]) -> None:
    """Write roles to the configuration. A column's other settings are set aside until needed again."""
    with project.lock:
        values = configuration.read_values(project)
        changes: dict[str, Any] = {}
        for role, setting in ROLE_SETTINGS.items():
            listed = values.get(setting)
            old = [name for name in (listed if isinstance(listed, list) else []) if chosen.get(name) == role]
            changes[setting] = old + [name for name in names if chosen[name] == role and name not in old]
        entity = values.get("entity")
        if any(entity in changes[setting] for setting in PUBLISHED):
            changes["entity"] = None
        used = {*changes["quasi"], *changes["sensitive"]}
        aside = read_json(project.folder / "aside.json")
        for setting in per_column():
            known = {**aside.get(setting, {}), **values.get(setting, {})}
            aside[setting] = known
            changes[setting] = {name: value for name, value in known.items() if name in used} or None
        write_json(project.folder / "aside.json", aside)
        configuration.change(project, changes)


def _measure(request: Request, project: Project, summary: TableSummary, chosen: Mapping[str, str]) -> None:
    """Start computing the columns' contributions with these roles."""
    quasi = [name for name in summary.names if chosen[name] == "quasi"]
    others = [name for name in summary.names if chosen[name] in ("sensitive", "keep", "undecided")]
    jobs_of(request).start("risk", risk_folder(project), project, quasi=quasi, others=others)


def risk(request: Request) -> Response:
    """Show the progress of the risk and, once known, each column's contribution. POST starts the computation."""
    project, summary = inspected(request)
    chosen, risks = _roles(project, summary), risks_of(project)
    if request.method == "POST":
        _measure(request, project, summary, chosen)
        if not is_htmx(request):
            return go(f"{project.url}/roles")
    shared = _shared(request, project, summary, chosen, risks)
    columns = summary.columns[:PAGE] if shared["risks"] is not None else []
    return render(request, "_risk.html", project=project, columns=columns, **shared)
