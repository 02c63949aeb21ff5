"""Privacy models as rows of a form: a model, its number, its column and its variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, NamedTuple

from coterie.errors import ConfigError
from coterie.settings.models import parse_model
from coterie.settings.registry import MODELS
from coterie.web.pages import Fault

TERMS: Final = {
    "l-diversity": "Every group has at least l different sensitive values: to be in it gives none of them away.",
    "t-closeness": "In every group sensitive values are spread nearly as in the whole table: at most t apart (0 to 1).",
    "alpha-k": "No sensitive value has more than the share alpha of any group.",
    "beta-likeness": "In no group is a sensitive value more than 1 + beta times as frequent as in the whole table.",
    "delta-disclosure": "In a group a sensitive value is as frequent as in the table, up to a factor of e^delta.",
    "k-map": "Every group matches at least k rows of a table of the whole population, which you name.",
    "k-anonymity": "Every group has at least k rows; the same as the k above.",
}
"""each model in a sentence"""
VARIANTS: Final = {
    "l-diversity": ("distinct", "frequency", "entropy", "recursive"),
    "t-closeness": ("equal", "ordered", "hierarchical"),
    "beta-likeness": ("basic", "enhanced"),
}
VARIANT_TITLES: Final = {name: f"{name} ({model})" for model, names in VARIANTS.items() for name in names}
MORE: Final = {
    "l-diversity": "c, for the recursive variant",
    "alpha-k": "a k of its own, if it is not to be the one above",
    "k-map": "the path of the population's table, with the same quasi-identifiers",
}
FURTHER: Final = {"l-diversity": "c", "alpha-k": "k", "k-map": "population"}
"""model → what its last field holds"""
FIELDS: Final = ("model", "limit", "on", "variant", "further")
_VARIANT_PARTS: Final = ("kind", "distance")


class ModelRow(NamedTuple):
    """One row of the form, as texts."""

    model: str = ""
    limit: str = ""
    on: str = ""
    """a sensitive column, or nothing for all of them"""
    variant: str = ""
    further: str = ""

    @property
    def empty(self) -> bool:
        """Whether the row says nothing."""
        return not self.model

    def values(self) -> dict[str, Any]:
        """The row as a privacy model's fields; those that are empty keep their defaults."""
        submitted = {"model": self.model}
        kind = MODELS.get(self.model)
        for part in kind.parts if kind is not None else ():
            text = self.on if part == "on" else self.variant if part in _VARIANT_PARTS else self.limit
            if part == FURTHER.get(self.model):
                text = self.further
            if text:
                submitted[part] = text
        return submitted


def shown_promises(specs: object) -> list[ModelRow]:
    """The models of a recipe as rows; one that cannot be understood is left to the faults."""
    entries = specs if isinstance(specs, list) else [] if specs is None else [specs]
    return [_shown(entry) for entry in entries]


def _shown(entry: object) -> ModelRow:
    try:
        model = parse_model(entry)
    except ConfigError:
        # Shown as far as it goes, so that it can be mended.
        parts = [part.strip() for part in entry.split(":")] if isinstance(entry, str) else []
        return ModelRow(*parts[:5])
    submitted = {each.name: getattr(model, each.name) for each in fields(model)}  # type: ignore[arg-type]
    first = model.parts[0]
    variant = next((str(submitted[part]) for part in model.parts if part in _VARIANT_PARTS), "")
    last = submitted.get(FURTHER.get(model.name, ""))
    return ModelRow(
        model.name, str(submitted[first]), submitted.get("on") or "", variant, "" if last is None else str(last)
    )


def read_promises(submitted: Mapping[str, str]) -> list[ModelRow]:
    """Rows `privacy-0-model`, `privacy-0-limit`, … of a form, those that say nothing left out."""
    places = sorted(
        int(name.split("-")[1])
        for name in submitted
        if name.startswith("privacy-") and name.endswith("-model") and name.split("-")[1].isdecimal()
    )
    rows = [ModelRow(*(submitted.get(f"privacy-{place}-{field}", "").strip() for field in FIELDS)) for place in places]
    return [row for row in rows if not row.empty]


def promise_faults(rows: Sequence[ModelRow]) -> list[Fault]:
    """What is wrong with the rows, each by itself."""
    faults = []
    for place, row in enumerate(rows):
        try:
            parse_model(row.values())
        except ConfigError as error:
            for problem in error.problems:
                what = problem.path if problem.path in _needed(row.model) else ""
                text = f"{row.model}: {what} {problem.text}" if what else f"{row.model}: {problem.text}"
                faults.append(Fault(f"privacy-{place}-{_field(row.model, problem.path)}", text))
    return faults


def _needed(name: str) -> list[str]:
    model = MODELS.get(name)
    return [each.name for each in fields(model)] if model is not None else []


def _field(model: str, part: str) -> str:
    if part == "on":
        return "on"
    if part in _VARIANT_PARTS:
        return "variant"
    return "further" if part == FURTHER.get(model) else "limit" if part else "model"


def specs_of(rows: Sequence[ModelRow]) -> list[str | dict[str, Any]]:
    """Rows without faults as a recipe writes them."""
    return [parse_model(row.values()).spec for row in rows]
