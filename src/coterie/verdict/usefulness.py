"""Whether a release is still useful: loss, loss relative to the bound, the worst column, query error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.disclosure.downcoding import loss_by_label
from coterie.disclosure.labels import forms_of
from coterie.releases.bound import in_words
from coterie.settings.limits import limit
from coterie.verdict.question import Findings

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from coterie.arrays import Int64
    from coterie.disclosure.downcoding import CellCounts
    from coterie.measures.measures import Measures
    from coterie.settings.config import Config

# Random queries use at most this many rows, the same before and after.
QUERY_ROWS = 20_000
QUERIES = 200


def usefulness(
    measures: Measures, config: Config, *, queries: float | None = None, no_bound: str = "it needs all rows in memory"
) -> Findings:
    """Assess the utility of the data: its losses, also relative to the bound, and the median query error, if known.

    no_bound: why the loss is not compared with the bound; empty if it is.

    NCP counts any two values of a category without a hierarchy as all of them. Columns that are published as sets are
    therefore judged by the values that the sets list.
    """
    findings = Findings("utility", config.accept)
    gcp, columns = float(measures["gcp"]), {name: float(each.left_open) for name, each in measures.attributes.items()}
    told = f"The information loss (GCP) is {gcp:.4f}"
    if not no_bound and "loss_over_bound" in measures and np.isfinite(ratio := float(measures["loss_over_bound"])):
        findings.figures["loss_over_bound"] = ratio
        near = in_words(ratio)
        told += f", {ratio:.2f} times the lower bound for all groups of at least k rows{near and f': it is {near}'}"
    findings.evidence.append(f"{told}.")
    sets = [f"`{name}`" for name, each in measures.attributes.items() if each.left_open != each.ncp]
    loss = float(np.mean(list(columns.values()))) if sets else gcp
    if sets:
        findings.evidence.append(
            f"Judged by what is left open: {loss:.4f}. Sets ({', '.join(sets)}) count by the values that they list, "
            "where GCP counts any two values as all of them."
        )
    if no_bound:
        findings.evidence.append(f"Not compared with the lower bound: {no_bound}.")
    _judge(findings, loss, columns, config)
    if queries is None:
        findings.evidence.append("Not asked: random COUNT queries, which take ranges and the original.")
    elif np.isfinite(queries):
        findings.figures["query_error"] = queries
        findings.evidence.append(f"Random COUNT queries are wrong by {100 * queries:.0f} % in the median.")
        findings.add(
            "warn" if queries > limit(config.limits, "query-error") else "pass",
            what="queries",
            advice="Increase the weights of the columns that queries use, or use a smaller k.",
        )
    return findings


def useful_by_label(counted: Mapping[str, CellCounts], config: Config) -> Findings:
    """Say what is left of the data by the published cells of each quasi-identifier alone, without the original."""
    findings = Findings("utility", config.accept)
    forms = forms_of(config)
    found = {name: loss_by_label(counts, forms.get(name)) for name, counts in counted.items()}
    columns = {name: loss for name, loss in found.items() if loss is not None}
    unknown = [f"`{name}`" for name in found if name not in columns]
    if unknown:
        findings.evidence.append(
            f"Not measured: {', '.join(unknown)}, whose labels do not show how many values they cover."
        )
    weights = {name: config.weights.get(name, 1.0) for name in columns}
    if not sum(weights.values()):
        findings.add("warn", advice="Give the hierarchies, or run `coterie measure` with the original.")
        return findings
    loss = sum(columns[name] * weight for name, weight in weights.items()) / sum(weights.values())
    findings.evidence.append(
        f"The information loss is about {loss:.4f}, judged by the published cells alone: removed rows do not count."
    )
    _judge(findings, loss, columns, config)
    findings.evidence.append(
        "Not measured: random COUNT queries and the lower bound, which need the original (`coterie measure`)."
    )
    return findings


def _judge(findings: Findings, loss: float, columns: Mapping[str, float], config: Config) -> None:
    """Hold the losses against their limits; name the column that lost most, and those of which nothing is left."""
    findings.figures["loss"] = loss
    findings.add(
        "warn" if loss > limit(config.limits, "loss") else "pass",
        advice="Use fewer quasi-identifiers, a smaller k, or hierarchies that group related values.",
    )
    if not columns:
        return
    worst = max(columns, key=lambda name: columns[name])
    findings.figures |= {"worst_column": worst, "column_loss": dict(columns)}
    findings.evidence.append(f"`{worst}` lost most: {columns[worst]:.4f}.")
    for name, lost in columns.items():
        help_for = "Give it a hierarchy" if name not in config.hierarchies else "Increase its weight (weights)"
        findings.add(
            "warn" if lost > limit(config.limits, "column-loss") else "pass",
            what=name,
            advice=f"Next to nothing is left of `{name}`. {help_for}, or drop it, so that others keep more detail.",
        )


def query_error(original: pa.Table, published: pa.Table, config: Config, *, kept: Int64) -> float | None:
    """Return the median relative error of random COUNT queries on a sample of rows before and after.

    `kept` are the positions of the published rows in the original.
    """
    import pyarrow as pa

    from coterie.errors import CoterieError
    from coterie.evaluation.before_after import BeforeAfter
    from coterie.evaluation.query_workload import Workload, query_errors

    rows: Any = np.arange(len(kept))
    if len(kept) > QUERY_ROWS:
        rows = np.sort(np.random.default_rng(config.seed).choice(len(kept), QUERY_ROWS, replace=False))
    if not len(rows):
        return None
    before = original.select([*config.quasi]).take(pa.array(kept[rows]))
    tables = BeforeAfter(before, published.take(pa.array(rows)), config, np.arange(len(rows), dtype=np.int64))
    try:
        return float(query_errors(tables, Workload(count=QUERIES, seed=0)).summary.median)
    except CoterieError:
        # Means and medians, for example, cannot answer queries.
        return None
