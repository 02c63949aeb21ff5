"""The charts of a report, drawn from its data alone, so that hidden figures cannot show here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coterie.charts.charts import Axis, Chart, Rule, Series, bars, lines
from coterie.reporting import model

SMALL = (5.4, 3.0)
SHARE = Axis("share of rows", shown="percent", digits=3, low=0)


def size_text(each: model.Bin) -> str:
    """Format the class sizes of a bar."""
    if each.largest is None:
        return f"{each.smallest:,} or more"
    return f"{each.smallest:,}" if each.largest == each.smallest else f"{each.smallest:,}–{each.largest:,}"


def class_size_chart(report: model.Report) -> Chart:
    """Chart the equivalence-class size distribution."""
    risk = report.risk
    small = sum(each.before_share or 0.0 for each in risk.class_sizes if (each.largest or report.k) < report.k)
    told = f"Before, about {100 * small:.0f} % of the rows were in classes of fewer than {report.k} {risk.counted}"
    told += "; after, none." if not risk.notes else "."
    how: dict[str, Any] = {"counted": risk.counted, "name": "class-sizes"}
    return size_bars(risk.class_sizes, after=not risk.notes, description=told, **how)


def size_bars(bins: Sequence[model.Bin], *, counted: str, after: bool, **how: Any) -> Chart:  # noqa: ANN401 - as for bars
    """Draw the shares of rows by class size, before and, where classes are published, after."""
    names = [size_text(each) for each in bins]
    series = [Series("before", names, [each.before_share or 0.0 for each in bins])]
    if after:
        series.append(Series("after", names, [each.after_share or 0.0 for each in bins]))
    return bars("Class sizes", series, x=Axis(f"{counted} in the class"), y=SHARE, **how)


def risk_chart(report: model.Report) -> Chart | None:
    """Chart the share of records at each risk; None if all class sizes are hidden."""
    curve = sorted(report.risk.curve, key=lambda point: point.risk)
    if not curve:
        return None
    limit, highest = report.risk.threshold, report.risk.after.prosecutor.highest or 0.0
    series = [
        Series("before", [point.risk for point in curve], [point.before or 0.0 for point in curve]),
        Series("after", [point.risk for point in curve], [point.after or 0.0 for point in curve]),
    ]
    return lines(
        "Risk curve",
        series,
        description=f"How many records have at least a given risk. After publishing, no record has more than "
        f"{highest:.4g}; the threshold is {limit.value:.4g}.",
        x=Axis("risk of a record (prosecutor), at least", log=True, digits=3, ticks=_ticks(curve[0].risk)),
        y=Axis("share of records", shown="percent", digits=3, low=0, high=1.05),
        name="risk-curve",
        steps="before",
        rules=[Rule(limit.value, f"threshold {limit.value:.3g}")],
    )


def _ticks(least: float) -> tuple[float, ...]:
    """Return the ticks 1, 0.5, 0.2, 0.1, 0.05, … down to the lowest risk."""
    steps = [factor / 10**power for power in range(8) for factor in (1, 0.5, 0.2)]
    shown = [step for step in steps if step >= least] or [1.0]
    return tuple(shown if len(shown) <= 9 else shown[::3])


def loss_chart(report: model.Report) -> Chart:
    """Chart the loss of each attribute."""
    parts = sorted(report.utility.attributes, key=lambda each: -(each.ncp or 0.0))
    worst = parts[0]
    told = "Mean normalized certainty penalty of each quasi-identifier, 0 (nothing lost) to 1 (nothing left)."
    return loss_bars(
        {each.name: each.ncp or 0.0 for each in parts},
        description=f"{told} {worst.name} lost most: {worst.ncp or 0.0:.3g}.",
        name="loss",
        size=(7.2, 1.1 + 0.32 * len(parts)),
    )


def loss_bars(losses: Mapping[str, float], **how: Any) -> Chart:  # noqa: ANN401 - as for bars
    """Draw the loss of each attribute."""
    series = [Series("loss", list(losses), list(losses.values()))]
    axes: dict[str, Any] = {"x": Axis("quasi-identifier"), "y": Axis("loss (NCP)", digits=3, low=0)}
    return bars("Loss by attribute", series, sideways=True, **axes, **how)


def level_chart(report: model.Report) -> Chart | None:
    """Chart the generalization levels of each attribute's cells."""
    found = [each for each in report.utility.distributions if each.levels]
    if not found:
        return None
    names = [each.name for each in found]
    exact = [each.levels[0].after or 0.0 for each in found]
    nothing = [(each.levels[-1].after or 0.0) if len(each.levels) > 1 else 0.0 for each in found]
    some = [max(1.0 - one - other, 0.0) for one, other in zip(exact, nothing, strict=True)]
    return bars(
        "Generalization of cells",
        [
            Series("any value", names, nothing),
            Series("the value itself", names, exact),
            Series("interval, label or set", names, some),
        ],
        description="For each quasi-identifier: cells published unchanged, generalized cells, and fully suppressed "
        "cells.",
        name="levels",
        **_sideways("quasi-identifier", "share of cells", height=0.55 * len(found)),
    )


def _sideways(names: str, shares: str, *, height: float) -> dict[str, Any]:
    """Return the layout of horizontal bars from 0 to 100 %."""
    share = Axis(shares, shown="percent", digits=3, low=0, high=1)
    return {"x": Axis(names), "y": share, "sideways": True, "size": (7.2, 1.2 + height)}


def confidence_chart(report: model.Report) -> Chart | None:
    """Chart what linking reveals about sensitive values."""
    found = [each for each in report.disclosure if each.average is not None]
    if not found:
        return None
    names = [each.column for each in found]
    return bars(
        "Confidence in a sensitive value",
        [
            Series("without linking", names, [each.baseline or 0.0 for each in found]),
            Series("with linking, on average", names, [each.average or 0.0 for each in found]),
            Series("with linking, at most", names, [each.highest or 0.0 for each in found]),
        ],
        description="How sure an attacker can be of the likeliest value of a person: by the most frequent value of the "
        "release, and by the candidates that fit the person.",
        name="confidence",
        **_sideways("sensitive column", "confidence", height=0.7 * len(found)),
    )


def distribution_charts(report: model.Report) -> list[Chart]:
    """Draw one chart for each attribute whose values may be shown."""
    charts = []
    for at, each in enumerate(report.utility.distributions):
        if not each.shares:
            continue
        names = [share.label for share in each.shares]
        long = max(map(len, names)) > 9 and len(names) <= 14
        charts.append(
            bars(
                f"Distribution of {each.name}",
                [
                    Series("before", names, [share.before or 0.0 for share in each.shares]),
                    Series("after", names, [share.after or 0.0 for share in each.shares]),
                ],
                description=f"Total variation distance {each.distance or 0.0:.3g} "
                "(0: identical, 1: nothing in common).",
                x=Axis(each.name),
                y=SHARE,
                name=f"distribution-{at}",
                sideways=long,
                size=(SMALL[0], 1.2 + 0.28 * len(names)) if long else SMALL,
            )
        )
    return charts
