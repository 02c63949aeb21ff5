"""The parts of a report that attack the release: linking, attribute disclosure, the three questions of WP216."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.disclosure.attack import Attack, attack_table
from coterie.reporting import model
from coterie.reporting.hide import Hider
from coterie.reporting.sentences import OPEN, QUESTIONS
from coterie.verification.arrow import ArrowCounter
from coterie.verification.models import measure_columns

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.verification.models import Measured

# The number of people to look for; more would take longer without changing the result.
MOST_PEOPLE = 10_000
CONFIDENCES = ("baseline", "average", "highest", "lift")
"""figures of an attack on a sensitive attribute that are not counts"""


def attacked(release: Release) -> Attack | None:
    """Link the published people by their original quasi-identifiers; None if no column can be compared.

    Columns published as means or medians do not determine the original values and are ignored.
    """
    config = release.config
    on = [name for name in config.quasi if config.publish.get(name) not in ("mean", "median")]
    if not on:
        return None
    positions = release.published.kept
    if len(positions) > MOST_PEOPLE:
        drawn = np.random.default_rng(config.seed).choice(len(positions), MOST_PEOPLE, replace=False)
        positions = positions[np.sort(drawn)]
    known = release.source.table.select([*on, *config.sensitive]).take(pa.array(positions))
    return attack_table(release.published.table, known, on=on, config=config, sensitive=config.sensitive)


def linking_part(release: Release, attack: Attack | None, hider: Hider) -> model.Linking | None:
    """Report identity disclosure by linking."""
    if attack is None:
        return None
    return model.Linking(
        on=list(attack.on),
        people=attack.people,
        sampled=attack.people < release.published_rows,
        matched=hider.count(attack.matched, of=attack.people),
        pinned=hider.count(attack.pinned, of=attack.people),
        below_k=hider.count(attack.below, of=attack.people),
        fewest=hider.count(attack.fewest),
        median=hider.figure(attack.median),
        highest=hider.figure(attack.highest),
        average=hider.figure(attack.average),
    )


def disclosure_part(release: Release, attack: Attack | None, hider: Hider) -> list[model.Disclosure]:
    """Report attribute disclosure of each sensitive attribute."""
    found = _measured(release)
    made = []
    for column in release.config.sensitive:
        tried = None if attack is None else attack.sensitive[column]
        people = 0 if attack is None else attack.people
        made.append(
            model.Disclosure(
                column=column,
                worst_group={each.name: hider.figure(each.value) for each in found if each.column == column},
                known_for_sure=None if tried is None else hider.count(tried.pinned, of=people),
                above_baseline=None if tried is None else hider.count(tried.above_baseline, of=people),
                **{name: hider.figure(getattr(tried, name, None)) for name in CONFIDENCES},
                **{name: _counted(getattr(tried, name, None), people, hider) for name in ("right", "baseline_right")},
            )
        )
    return made


def _counted(share: float | None, people: int, hider: Hider) -> float | None:
    """Return a share of people, or None if too few people are, or are not, among them."""
    return None if share is None else hider.share(round(share * people), of=people)


def _measured(release: Release) -> tuple[Measured, ...]:
    """Return the models' values in the worst class; empty if classes are not what protects rows."""
    if release.by_rows or not release.config.sensitive:
        return ()
    found, table = release.held.verification, release.published.table
    counter = ArrowCounter(table, (), known=(found.class_of_row, len(found.sizes)))
    return measure_columns(counter, release.config, release.config.sensitive, names=table.column_names)


def questions_part(
    release: Release, risk: model.Risk, linking: model.Linking | None, disclosure: list[model.Disclosure]
) -> list[model.Question]:
    """Answer the three questions with figures of the other parts, so that hidden figures stay hidden."""
    parts = {
        "singling out": _singling_out(release, risk),
        "linkability": _linkability(release, linking),
        "inference": _inference(release, disclosure),
    }
    return [
        model.Question(name=name, question=QUESTIONS[name], answer=answer, evidence=evidence, open=OPEN[name])  # type: ignore[arg-type]
        for name, (answer, evidence) in parts.items()
    ]


def number(value: float | None) -> str:
    """Format a figure for a sentence."""
    if value is None:
        return "a hidden number of"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _percent(value: float | None) -> str:
    return "hidden" if value is None else f"{100 * value:.4g} %"


def _singling_out(release: Release, risk: model.Risk) -> tuple[str, list[str]]:
    k, before, after = release.config.k, risk.before, risk.after
    by_rows = release.by_rows
    alone = after.uniques == 0 or by_rows
    answer = (
        f"Not by the quasi-identifiers: every published record is hidden among at least {k} {risk.counted}."
        if alone and release.verification.passed
        else "Yes: some records are unique."
    )
    evidence = [
        f"Before, {number(before.uniques)} records ({_percent(before.unique_share)}) were unique on their "
        "quasi-identifiers"
        + (
            ", each published row is now one of k boxes that contain it."
            if by_rows
            else f"; after, {number(after.uniques)}."
        ),
        f"The highest risk of a record is {number(after.prosecutor.highest)} (before: "
        f"{number(before.prosecutor.highest)}), the average {number(after.prosecutor.average)}.",
    ]
    if risk.columns:
        first = next((each for each in risk.columns if len(each.columns) == 1), None)
        if first is not None and first.adds is not None:
            evidence.append(
                f"In the original, {first.columns[0]} adds most to the average risk: {first.adds:.4g} of "
                f"{number(before.prosecutor.average)}."
            )
    return answer, evidence


def _linkability(release: Release, linking: model.Linking | None) -> tuple[str, list[str]]:
    k = release.config.k
    if linking is None:
        return (
            "Not measured: every quasi-identifier is published as a mean or median, which does not determine "
            "the original values.",
            [],
        )
    drawn = f"{number(linking.people)} of the published people, drawn at random,"
    who = drawn if linking.sampled else "All published people"
    answer = f"Not to one record: anyone who knows the quasi-identifiers finds at least {k} candidates for each person."
    if linking.below_k != 0:
        answer = "In part: some people have fewer than k candidates."
    evidence = [
        f"{who} were looked for by {', '.join(linking.on)}: {number(linking.pinned)} have one candidate, "
        f"{number(linking.below_k)} fewer than {k}.",
        f"Candidates: at least {number(linking.fewest)}, median {number(linking.median)}. Confidence in the right "
        f"record: at most {number(linking.highest)}, on average {number(linking.average)}.",
    ]
    left = [name for name in release.config.quasi if name not in linking.on]
    if left:
        evidence.append(f"Published as means or medians and therefore not compared: {', '.join(left)}.")
    return answer, evidence


def _inference(release: Release, disclosure: list[model.Disclosure]) -> tuple[str, list[str]]:
    if not disclosure:
        return "Not measured: no column was named as sensitive.", []
    tried = [each for each in disclosure if each.average is not None]
    sure = [each.column for each in tried if each.known_for_sure != 0]
    evidence = []
    for each in disclosure:
        if each.average is not None:
            evidence.append(
                f"{each.column}: the likeliest value of a person is known with confidence {number(each.average)} on "
                f"average and {number(each.highest)} at most, against {number(each.baseline)} without any linking; "
                f"{number(each.known_for_sure)} people have candidates that all share one value."
            )
        worst = each.worst_group
        if "distinct l" in worst:
            evidence.append(
                f"{each.column}: distinct values in the least diverse group: {number(worst['distinct l'])}; "
                f"the group furthest from the table is at a distance of t = {number(worst.get('t (equal)'))}."
            )
    if not tried:
        answer = "Measured by groups only: the quasi-identifiers could not be compared."
    elif sure:
        answer = f"Yes, for some people and {', '.join(sure)}: all of their candidates share one value."
    else:
        answer = "Linking reveals no value with certainty; the increase in confidence is below."
    return answer, evidence
