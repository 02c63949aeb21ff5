"""The privacy models that a release must satisfy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.settings.fields._setting import Group, setting
from coterie.settings.models import parse_privacy
from coterie.settings.threshold import DEFAULT_K, DEFAULT_THRESHOLD, PRESETS

if TYPE_CHECKING:
    from coterie.privacy.model import Model
else:
    Model = Any  # the class is heavy; `parse_privacy` checks

_PRESETS = ", ".join(f"{each.name} ({float(each.value):.3g})" for each in PRESETS.values())


def _models(value: Any) -> tuple[Model, ...]:  # noqa: ANN401 - models, texts or dicts
    return parse_privacy(value) if value else ()


def _risk(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text.strip()


class Guarantees(Group, title="Guarantees", protects=True):
    """What must hold for every group."""

    k: int = setting(
        DEFAULT_K,
        "Minimum number of rows in every group (equivalence class).",
        more="Every published row shares its quasi-identifiers with at least k − 1 others, so nobody can be singled "
        "out with a probability above 1/k.",
        why=f"The default is the smallest k whose risk, 1/k, is within the default threshold ({DEFAULT_THRESHOLD}).",
        title="k, the minimum group size",
        short="-k",
        commands="verify measure explain attack",
        limits={"ge": 1},
    )
    privacy: tuple[Model, ...] = setting(
        (),
        "Privacy model beyond k-anonymity, such as l-diversity:3:disease or t-closeness:0.2.",
        more="Without a column, a model covers every sensitive attribute. [Privacy models](privacy-models.md) lists "
        "all of them.",
        title="Privacy models",
        metavar="MODEL",
        commands="verify explain",
        before=_models,
        accepts="Model | str | Mapping[str, Any] | Iterable[Model | str | Mapping[str, Any]]",
        complete="privacy",
    )
    threshold: str | float = setting(
        DEFAULT_THRESHOLD,
        f"Largest acceptable re-identification risk of a record: a number up to 1, or {_PRESETS}.",
        more="Reported for comparison; not enforced.",
        title="Risk threshold",
        metavar="RISK",
        commands="compare risk verify",
        read=_risk,
        complete="threshold",
        decides="figures",
    )
