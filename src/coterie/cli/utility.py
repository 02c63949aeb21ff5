"""Print the results of `measure`: losses by name and column, and the requested queries, learning and distributions."""

from __future__ import annotations

import json
from typing import Any

import typer

from coterie.api.utility import DESCRIPTIONS, Utility, UtilityRequest, utility_of
from coterie.cli.run import show_attributes
from coterie.cli.show import ProgressBar, Voice
from coterie.evaluation.before_after import BeforeAfter
from coterie.evaluation.distributions import Distributions
from coterie.evaluation.learning import LearningUtility
from coterie.evaluation.queries import QueryErrors
from coterie.files.tables import read_pair
from coterie.measures.published import measure_tables
from coterie.reporting.plain import finite, measures_values
from coterie.settings.config import Config
from coterie.settings.registry import MEASURES

# For more queries only summary figures are shown; --json has all of them.
_MOST_SHOWN = 40


def show_measures(original: str, published: str, config: Config, *, request: UtilityRequest, as_json: bool) -> None:
    """Measure a published file against its original in every requested way and print the result."""
    with ProgressBar(quiet=as_json) as progress:
        progress("read", 0, 0)
        before, after = read_pair(original, published, config)
        # Losses cannot be read back from means, but the other requested results can still be computed.
        centred = [name for name in config.quasi if config.publish.get(name) in ("mean", "median")]
        measures = None if centred and not request.empty else measure_tables(before, after, config)
        found = utility_of(BeforeAfter(before, after, config), request, progress=progress)
    figures = {**(measures or {}), **found.measures()}
    if as_json:
        losses = figures if measures is None else measures_values(measures.with_values(**found.measures()))
        values: dict[str, Any] = {**losses, **({} if request.empty else {"utility": found.to_dict()})}
        if found.own is not None:
            values["utility"]["own"]["answers"] = own_answers(found.own)
        typer.echo(json.dumps(finite(values), indent=2))
        return
    voice = Voice()
    known = {**{name: each.about for name, each in MEASURES.items()}, **DESCRIPTIONS}
    rows = [[name, "–" if value != value else f"{value:,.6g}", known.get(name, "")] for name, value in figures.items()]
    voice.table(["measure", "value", "what it is"], rows, numbers=["value"])
    voice.say()
    if measures is not None:
        show_attributes(measures, voice)
    else:
        listed = ", ".join(f"{name} ({config.publish[name]})" for name in centred)
        voice.say(f"note: losses cannot be read back from {listed}; the report made with the release has them.")
    show_utility(found, voice)


def show_utility(found: Utility, voice: Voice) -> None:
    """Print the results beyond the measures: by column, query and pair."""
    for title, errors in (("COUNT queries", found.queries), ("SUM queries", found.sums)):
        if errors is not None:
            _show_errors(title, errors, voice)
    if found.own is not None:
        _show_own(found.own, voice)
    if found.learning is not None:
        _show_learning(found.learning, voice)
    if found.distributions is not None:
        _show_distributions(found.distributions, voice)


def own_answers(errors: QueryErrors) -> list[dict[str, Any]]:
    """Return the answers to the user's own queries, one by one."""
    figures = zip(errors.queries, errors.actual.tolist(), errors.estimate.tolist(), errors.errors.tolist(), strict=True)
    return [
        {"name": query.name, "actual": actual, "estimate": estimate, "error": error}
        for query, actual, estimate, error in figures
    ]


def _percent(value: float | None) -> str:
    return "–" if value is None or value != value else f"{100 * value:,.1f} %"


def _amount(value: float) -> str:
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.6g}"


def _show_errors(title: str, errors: QueryErrors, voice: Voice) -> None:
    """Print the errors of random queries by number of predicates."""
    voice.say()
    sizes = [len(query.where) for query in errors.queries]
    rows = []
    for size in sorted(set(sizes)):
        some = errors.where([place for place, each in enumerate(sizes) if each == size]).summary
        figures = [_percent(each) for each in (some.median, some.mean, some.p95)]
        rows.append([f"{size}", f"{some.queries:,}", f"{some.skipped:,}", *figures])
    head = [f"{title}: columns", "queries", "answer 0", "median error", "mean", "95th percentile"]
    voice.table(head, rows, numbers=head)


def _show_own(errors: QueryErrors, voice: Voice) -> None:
    answers = own_answers(errors)
    if len(answers) > _MOST_SHOWN:
        return
    voice.say()
    rows = [
        [each["name"], _amount(each["actual"]), _amount(each["estimate"]), _percent(each["error"])] for each in answers
    ]
    voice.table(["query", "answer", "estimate", "error"], rows, numbers=["answer", "estimate", "error"])


def _show_learning(found: LearningUtility, voice: Voice) -> None:
    voice.say()
    rows = []
    for name, score in (
        ("release", found.release),
        ("original", found.original),
        ("most frequent class", found.majority),
    ):
        accuracy = f"{_percent(score.accuracy)} ± {100 * score.spread:.1f}"
        rows.append([name, accuracy, _percent(score.balanced), "–" if score.auc is None else f"{score.auc:.3f}"])
    head = [f"{found.target}: learnt from", "accuracy", "mean of classes", "AUC"]
    voice.table(head, rows, numbers=head[1:])
    if found.kept is not None:
        voice.say(f"The release keeps {_percent(found.kept)} of the original's gain over the most frequent class.")


def _show_distributions(found: Distributions, voice: Voice) -> None:
    voice.say()
    rows = []
    for each in found.columns.values():
        levels = ", ".join(f"{level.label} {100 * level.share:.0f} %" for level in each.levels if level.share > 0)
        rows.append([each.name, f"{each.distance:.4f}", levels])
    voice.table(["column", "distance", "published as"], rows, numbers=["distance"])
    changed = sorted(found.associations, key=lambda each: -abs(each.difference or 0.0))[:10]
    if not changed:
        return
    voice.say()
    pairs = [
        [f"{each.first} – {each.second}", each.measure.replace("_", " "), _two(each.before), _two(each.after)]
        for each in changed
    ]
    voice.table(["pairs that changed most", "association", "before", "after"], pairs, numbers=["before", "after"])


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
