"""The parts of a report that help decide about publication: the verdict, and who made which decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.reporting import model
from coterie.settings.registry import FIELDS

if TYPE_CHECKING:
    from coterie.releases.release import Release


def verdict_part(release: Release, *, external: bool) -> model.Verdict:
    """Return the verdict. Its evidence has small counts, so the external variant leaves it out."""
    verdict = release.verdict
    return model.Verdict(
        state=verdict.state,
        headline=verdict.headline,
        questions=[
            model.VerdictQuestion(
                name=name,  # type: ignore[arg-type]
                question=question.title,
                state=question.state,
                evidence=[] if external else list(question.evidence),
                advice=list(question.advice),
                accepted=list(question.accepted),
            )
            for name, question in verdict.questions.items()
        ],
    )


def decisions_part(release: Release) -> list[model.Decision]:
    """List the decisions, each made by a person or by default."""
    made = []
    for name in (name for name, each in FIELDS.items() if each.protects):
        value, default = getattr(release.config, name), type(release.config).model_fields[name].default
        made.append(model.Decision(setting=name, value=_text(value), by="default" if value == default else "person"))
    return made


def _text(value: object) -> str:
    if value is None or value in ((), {}):
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {each}" for name, each in value.items())
    if isinstance(value, tuple):
        return ", ".join(each if isinstance(each, str) else str(each.title) for each in value)
    return str(value)
