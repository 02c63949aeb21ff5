"""`coterie risk` and `coterie attack`: re-identification risk, and what an attacker could learn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import flags
from coterie.cli.flags import option, switch
from coterie.cli.options import names
from coterie.cli.show import ProgressBar, Voice

if TYPE_CHECKING:
    from coterie.disclosure.attack import Attack
    from coterie.disclosure.columns import ColumnRisk
    from coterie.disclosure.risk import Risk

# Pairs of quasi-identifiers that are listed.
MOST_PAIRS = 10
# People that `--show` lists.
MOST_PEOPLE = 50


@flags.takes_settings("risk")
def risk(
    *,
    data: Annotated[str, typer.Argument(metavar="FILE")],
    release: Annotated[str | None, typer.Argument(metavar="[RELEASE]")] = None,
    settings: flags.Settings,
    population: str | None = option(
        None, "FILE", "Population table that the data were sampled from, one row per person."
    ),
    fraction: flags.Fraction = None,
    as_json: flags.AsJson = False,
) -> None:
    """Estimate re-identification risk, of one table or before and after anonymization.

    FILE is an original table or a release. With RELEASE, FILE is the original and both are measured.

    The prosecutor knows that a person is in the table, the journalist compares it with a population, the marketer links
    all records. Quasi-identifiers are ranked by the risk they add.
    """
    from coterie.api.anonymize import read_table
    from coterie.api.risk import risk as measure
    from coterie.disclosure.columns import rank_columns
    from coterie.disclosure.risk import check_population, find_threshold
    from coterie.engines.request import advice

    about: dict[str, Any] = {"threshold": find_threshold(settings.threshold), "fraction": fraction}
    check_population(population, fraction)
    with ProgressBar() as progress:
        progress("read", 0, 0)
        if population is not None:
            about["population"] = read_table(population, settings.replace(header=True, skip_rows=0))
        tables = [read_table(data, settings)]
        tables += [] if release is None else [read_table(release, settings.for_release())]
        progress("measure risk", 0, 0)
        found = [measure(table, config=settings, **about) for table in tables]
        progress("rank columns", 0, 0)
        ranked = rank_columns(tables[0], quasi=settings.quasi)
    if as_json:
        values: dict[str, Any] = dict(zip(("before", "after"), (each.to_dict() for each in found), strict=False))
        values = values if release is not None else found[0].to_dict()
        values["columns"] = [each._asdict() for each in ranked.single]
        values["pairs"] = [each._asdict() for each in ranked.pairs]
        typer.echo(json.dumps(values, indent=2))
        return
    voice = Voice()
    _print_risks(found, voice)
    if told := advice(settings):
        voice.say(f"note: {told}")
    voice.say()
    _print_columns(ranked.single, voice)
    if ranked.pairs:
        voice.say()
        _print_columns(ranked.pairs[:MOST_PAIRS], voice)


def _print_risks(found: list[Risk], voice: Voice) -> None:
    limit = found[0].threshold
    lines = [
        ["rows", *(f"{risk.rows:,}" for risk in found)],
        ["groups", *(f"{risk.classes:,}" for risk in found)],
        ["unique records", *(f"{risk.uniques:,} ({100 * risk.unique_share:.2f} %)" for risk in found)],
    ]
    for name in ("prosecutor", "journalist"):
        known = [attacker for risk in found if (attacker := getattr(risk, name)) is not None]
        above = [f"{attacker.above:,} ({100 * attacker.share_above:.2f} %)" for attacker in known]
        if known:
            lines.append([f"{name}: highest risk", *(f"{attacker.highest:.4f}" for attacker in known)])
            lines.append([f"{name}: average risk", *(f"{attacker.average:.4f}" for attacker in known)])
            lines.append([f"{name}: above {float(limit.value):.4g}", *above])
    lines.append(["marketer: right links", *(f"{100 * risk.marketer:.2f} %" for risk in found)])
    if found[0].population is not None:
        lines.append(["population", *(f"{risk.population:,}" for risk in found)])
    if found[0].unique_matches is not None:
        lines.append(["match one person only", *(f"{risk.unique_matches:,}" for risk in found)])
    if found[0].population_uniques is not None:
        known = [each for risk in found if (each := risk.population_uniques) is not None]
        about = [f"about {each.estimate:,.0f} ({100 * each.share:.2f} %, {each.chosen})" for each in known]
        lines.append(["unique in the population", *about])
    head = ["", "before", "after"] if len(found) == 2 else ["", "table"]
    voice.table(head, lines, numbers=head[1:])
    voice.say()
    voice.say(f"threshold {float(limit.value):.4g}, groups of at least {limit.rows}: {limit.source}")
    if any(risk.counted == "people" for risk in found):
        told = ", ".join(risk.counted for risk in found)
        voice.say(f"groups are counted in: {told}")


def _print_columns(ranked: tuple[ColumnRisk, ...], voice: Voice) -> None:
    head = ["column", "adds risk", "adds uniques", "distinct", "distinction", "separation"]
    if ranked and len(ranked[0].columns) > 1:
        head[0] = "pair"
    rows = [
        [
            " + ".join(each.columns),
            f"{each.adds:.4f}",
            f"{each.adds_uniques:,}",
            f"{each.distinct:,}",
            f"{each.distinction:.4f}",
            f"{each.separation:.4f}",
        ]
        for each in ranked
    ]
    voice.table(head, rows, numbers=head[1:])


@flags.takes_settings("attack")
def attack(
    *,
    published: Annotated[str, typer.Argument(metavar="RELEASE")],
    known: str = option(..., "FILE", "Table of known people, with the attributes the attacker knows."),
    on: list[str] | None = option(
        None, "COLUMNS", "Attributes the attacker knows. [default: all quasi-identifiers in FILE]"
    ),
    also: list[str] | None = option(None, "RELEASE", "Another release of the same people; may be repeated."),
    settings: flags.Settings,
    show: bool = switch("--show", "List people with their candidates and most likely values. This shows data."),
    as_json: flags.AsJson = False,
) -> None:
    """Try to re-identify known people in a release, and count what an attacker could learn.

    RELEASE is the published table. Only counts are printed unless you add --show.
    """
    from coterie.api.risk import attack as run_attack

    with ProgressBar() as progress:
        progress("match people", 0, 0)
        found = run_attack(published, known, on=names(on) if on else None, also=also or (), config=settings)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
        return
    voice = Voice()
    _print_attack(found, voice)
    if show:
        voice.say()
        _print_people(found, voice)


def _print_attack(found: Attack, voice: Voice) -> None:
    share = 100 / max(found.people, 1)
    voice.summary(
        [
            ("attacker knows", ", ".join(found.on)),
            ("people", f"{found.people:,}, of whom {found.matched:,} have candidates among {found.rows:,} rows"),
            ("candidates", f"at least {found.fewest:,}, median {found.median:,.0f}"),
            ("identity", f"confidence at most {found.highest:.4f}, on average {found.average:.4f}"),
            ("pinned down", f"{found.pinned:,} people ({share * found.pinned:.2f} %) have one candidate only"),
            ("below k", f"{found.below:,} people ({share * found.below:.2f} %) have fewer than {found.k:,}"),
        ]
    )
    for leak in found.order:
        voice.say(f'order of rows  {leak.text}; row_order = "shuffle" prevents it')
    for each in found.downcoding:
        voice.say(f"downcoding     {each.text}")
    if found.joint is not None:
        voice.say(f"intersection   {found.joint.text}; publish one of them, or later rows in the same groups (assign)")
    if not found.sensitive:
        return
    rows = [
        [
            each.column,
            f"{each.baseline:.4f}",
            f"{each.average:.4f}",
            f"{each.highest:.4f}",
            f"{each.pinned:,}",
            f"{each.above_baseline:,}",
            f"{each.lift:.2f}",
            "" if each.right is None else f"{each.right:.4f}",
            "" if each.baseline_right is None else f"{each.baseline_right:.4f}",
        ]
        for each in found.sensitive.values()
    ]
    head = ["sensitive", "baseline", "average", "highest", "known for sure", "above baseline", "lift"]
    head += ["guessed right", "by baseline"]
    if all(each.right is None for each in found.sensitive.values()):
        head, rows = head[:-2], [row[:-2] for row in rows]
    voice.say()
    voice.table(head, rows, numbers=head[1:])


def _print_people(found: Attack, voice: Voice) -> None:
    """Print the people with the fewest candidates first."""
    import numpy as np

    order = np.argsort(np.where(found.candidates > 0, found.candidates, np.iinfo(np.int64).max), kind="stable")
    table = found.table().take(order[:MOST_PEOPLE])
    rows = [
        ["" if cell is None else f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row.values()]
        for row in table.to_pylist()
    ]
    voice.table(table.column_names, rows)
    if found.people > MOST_PEOPLE:
        voice.say(f"… and {found.people - MOST_PEOPLE:,} more")
