"""The Goals step: privacy guarantees, how much detail to keep, and who receives the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from coterie.settings.registry import FIELDS, MODELS
from coterie.settings.threshold import PRESETS
from coterie.web import drafts
from coterie.web.configuration import configuration
from coterie.web.forms import bad_numbers, grouped, number_of, read, shown, simple
from coterie.web.goals import models_form
from coterie.web.pages import Fault, Fields, go, posted, render, seen
from coterie.web.project import Project
from coterie.web.table_summary import TableSummary, inspected

ELSEWHERE = ("k", "threshold", "entity")
"""fields that the page shows elsewhere"""


def goals(request: Request) -> Response:
    """Show the page."""
    project, summary = inspected(request)
    values = configuration.readable_values(project)
    draft = drafts.draft_of(project, "goals")
    saved = configuration.faults(project, summary.names, step="goals")
    texts = {**_shown(values, summary), **(draft or {})}
    rows = models_form.read_promises(texts) if draft is not None else models_form.shown_promises(values.get("privacy"))
    quasi, sensitive = configuration.listed(values, "quasi"), configuration.listed(values, "sensitive")
    return render(
        request,
        "goals.html",
        project=project,
        step="goals",
        status=200 if draft is None else 422,
        faults=saved if draft is None else _faults(project, draft, summary),
        submitted=texts,
        summary=summary,
        quasi=[column for column in summary.columns if column.name in quasi],
        sensitive=sensitive,
        free=[name for name in summary.names if name not in {*quasi, *sensitive}],
        promises=[*rows, models_form.ModelRow()],
        models=MODELS,
        variants_of=models_form.variants_of,
        variant_titles={"": "default", **models_form.variant_titles()},
        fields=FIELDS,
        groups=grouped(simple("goals"), but=ELSEWHERE),
        presets=PRESETS.values(),
        unsaved=draft is not None,
        stamp=drafts.stamp_of(project, "goals"),
    )


def _shown(values: Mapping[str, Any], summary: TableSummary) -> dict[str, str]:
    """Return the configuration's settings as the form shows them."""
    texts = shown(simple("goals"), values)
    weights = values.get("weights")
    for column in summary.columns:
        if isinstance(weights, Mapping) and column.name in weights:
            texts[f"weights-{column.index}"] = f"{weights[column.name]:g}"
    return texts


@posted
def change(request: Request, fields: Fields) -> Response:
    """Save the form."""
    project, summary = inspected(request)
    submitted: dict[str, str] = fields
    action = submitted.pop("action", "save")
    if action == "discard":
        drafts.drop_draft(project, "goals")
        return go(f"{project.url}/goals", request)
    if action.startswith("preset-") and (preset := PRESETS.get(action.removeprefix("preset-"))):
        submitted |= {"k": str(preset.rows), "threshold": preset.name}
    if action.startswith("remove-"):
        submitted = {name: text for name, text in submitted.items() if not name.startswith(f"privacy-{action[7:]}-")}
    if _faults(project, submitted, summary):
        return drafts.send_back(request, project, "goals", submitted)
    configuration.change(project, _settings(submitted, summary, configuration.readable_values(project)))
    drafts.drop_draft(project, "goals")
    project = seen(request, project, "goals")
    return go(f"{project.url}/run" if action == "next" else f"{project.url}/goals", request)


def _faults(project: Project, submitted: Mapping[str, str], summary: TableSummary) -> list[Fault]:
    """Return the errors of the form."""
    before = configuration.readable_values(project)
    stale = drafts.changed_elsewhere(drafts.stamp_of(project, "goals"), submitted, saved=_shown(before, summary))
    faults = bad_numbers(submitted, names=summary.names) + models_form.promise_faults(
        models_form.read_promises(submitted)
    )
    if not faults:
        changes = _settings(submitted, summary, before)
        faults = configuration.faults_after(project, changes, summary.names, step="goals")
    return stale + faults


def _settings(submitted: Mapping[str, str], summary: TableSummary, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a form whose numbers are valid."""
    # Settings left at their defaults are not written, except k, which every reader looks for.
    settings = read(simple("goals"), submitted, before, always="k")
    settings["privacy"] = models_form.specs_of(models_form.read_promises(submitted)) or None
    quasi = configuration.listed(before, "quasi")
    weights = {
        column.name: number_of(submitted.get(f"weights-{column.index}", ""), float)
        for column in summary.columns
        if column.name in quasi
    }
    settings["weights"] = {name: weight for name, weight in weights.items() if weight is not None} or None
    return settings
