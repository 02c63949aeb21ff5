"""Whether rows of a release can be singled out by unchanged columns, the order of rows or the tightness of cells.

The judge counts on the quasi-identifiers, as guaranteed. People can be recognized by kept columns just as
well, so here classes are counted on the quasi-identifiers with each kept column, and with all of them. For
sensitive attributes this is only reported: nobody should know them, though an exact salary is often known too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from coterie.disclosure.downcoding import CellCounts, downcode
from coterie.disclosure.labels import forms_of
from coterie.disclosure.order import Reader, order_leaks
from coterie.settings.limits import limit
from coterie.settings.threshold import find_threshold
from coterie.verdict.counts import Exposure, PublishedRows, taken
from coterie.verdict.question import Findings
from coterie.verdict.shares import BUDGET, shapley_shares
from coterie.wording import count_of, percent_text

if TYPE_CHECKING:
    from coterie.settings.config import Config

# The columns responsible are found on at most this many rows; exposed rows are counted on all.
SAMPLE = 100_000
# For rows on disk, every subset of columns is one pass over them.
DISK_BUDGET = 12
MOST_COLUMNS = 6


def singled_out(rows: PublishedRows, config: Config, *, kept: Sequence[str], k: int) -> Findings:
    """Measure how many rows are singled out by the quasi-identifiers with the columns that are kept unchanged."""
    findings = Findings("singling-out", config.accept)
    noun = "people" if rows.counts_people else "rows"
    checked = [column for column in kept if not findings.accepts(column)]
    alone = Exposure.of(rows.sizes(()), k)
    findings.figures |= {"rows": rows.rows, "counted": noun, "k": k, "smallest": alone.smallest}
    _with_kept(findings, rows, config, checked=checked, kept=kept, k=k, alone=alone)
    _with_threshold(findings, config, alone)
    if config.sensitive:
        every = Exposure.of(rows.sizes([*kept, *config.sensitive]), k)
        findings.figures["with_sensitive"] = _values(every, rows.rows)
        findings.evidence.append(
            f"Together with the sensitive columns ({', '.join(config.sensitive)}), which attackers are assumed not to "
            f"know, {_told(every, rows.rows)}; this does not affect the state."
        )
    return findings


def look_at_order(findings: Findings, read: Reader, config: Config, *, names: Sequence[str], k: int) -> None:
    """Warn where the order of rows narrows what is published; k is the class size that is wanted."""
    leaks = order_leaks(read, names, quasi=config.quasi, k=k)
    findings.figures["order"] = [leak._asdict() for leak in leaks]
    for leak in leaks:
        findings.evidence.append(f"{leak.text}.")
        findings.add(
            "warn" if leak.narrowed > limit(config.limits, "order") else "pass",
            what="order",
            advice='Set row_order = "shuffle": rows are then published in a secret order. '
            'To accept the risk: accept = ["singling-out:order"].',
        )


def look_at_tightness(findings: Findings, counted: Mapping[str, CellCounts], config: Config) -> None:
    """Report what tight cells reveal; not all methods publish cells that are no wider than their rows."""
    from coterie.methods import find_method

    if not find_method(config.method).kind.tight:
        return
    forms = forms_of(config)
    found = downcode(counted, forms=forms, rounded=config.round)
    findings.figures["downcoding"] = [each._asdict() for each in found]
    if found:
        worst = max(found, key=lambda each: (each.narrowed, each.exact))
        findings.evidence.append(f"{worst.text}; this does not affect the state.")


def _with_kept(
    findings: Findings,
    rows: PublishedRows,
    config: Config,
    *,
    checked: Sequence[str],
    kept: Sequence[str],
    k: int,
    alone: Exposure,
) -> None:
    """Count on the quasi-identifiers with each kept column and with all of them, and find the responsible columns."""

    def exposure(columns: Sequence[str]) -> Exposure:
        return Exposure.of(rows.sizes(columns), k) if columns else alone

    each = {column: exposure([column]) for column in kept}
    every = exposure(kept)
    decides = every if len(checked) == len(kept) else exposure(checked)
    findings.figures["kept"] = {column: _values(found, rows.rows) for column, found in each.items()}
    findings.figures["published"] = _values(every, rows.rows)
    if kept:
        what = "the kept column" if len(kept) == 1 else "the kept columns"
        findings.evidence.append(f"On the quasi-identifiers with {what} {_listed(kept)}, {_told(every, rows.rows, k)}.")
    else:
        findings.evidence.append(f"On the quasi-identifiers, {_told(alone, rows.rows, k)}; no other column is kept.")
    total = max(rows.rows, 1)
    unique, below = decides.unique / total, decides.below / total
    state = "fail" if unique > limit(config.limits, "unique") else "pass"
    if state == "pass" and below > limit(config.limits, "below-k"):
        state = "warn"
    if state == "pass":
        return
    shares = _shares(rows, checked, k if state == "warn" else 2)
    findings.figures["shares"] = shares
    ranked = sorted(checked, key=lambda column: (-shares[column], -each[column].below))
    if len(ranked) > 1:
        parts = [f"{column} {percent_text(shares[column])}" for column in ranked[:MOST_COLUMNS]]
        what = "below k" if state == "warn" else "unique"
        findings.evidence.append(f"Responsible columns, by their Shapley shares of rows {what}: {', '.join(parts)}.")
    findings.add(state, advice=_advice(_smallest(rows, ranked, config, k)) if ranked else _raise_k(k))  # type: ignore[arg-type]


def _shares(rows: PublishedRows, columns: Sequence[str], k: int) -> dict[str, float]:
    """Return column → its share of the rows in classes below k, which is 2 for unique ones.

    Whole classes are sampled, so that they keep their sizes.
    """
    sample = rows
    if rows.held is not None and rows.rows > SAMPLE:
        of_row, classes = rows.held.classes
        chosen = np.random.default_rng(0).integers(-(-rows.rows // SAMPLE), size=classes) == 0
        some = np.flatnonzero(chosen[of_row])
        sample = taken(rows.held, some) if len(some) else rows
    budget = BUDGET if rows.held is not None else DISK_BUDGET
    found = shapley_shares(columns, lambda some: Exposure.of(sample.sizes(sorted(some)), k).below, budget=budget)
    total = sum(found.values())
    return {column: round(share / total, 4) if total > 0 else 0.0 for column, share in found.items()}


def _smallest(rows: PublishedRows, ranked: Sequence[str], config: Config, k: int) -> list[str]:
    """Return the fewest columns, largest shares first, without which the others stay within the limits."""
    most = limit(config.limits, "below-k") * rows.rows
    for count in range(1, len(ranked)):
        rest = ranked[count:]
        found = Exposure.of(rows.sizes(rest), k)
        if found.below <= most and found.unique <= limit(config.limits, "unique") * rows.rows:
            return list(ranked[:count])
    return list(ranked)


def _advice(columns: Sequence[str]) -> str:
    what = "a quasi-identifier" if len(columns) == 1 else "quasi-identifiers"
    listed, them = _listed(columns), "it" if len(columns) == 1 else "them"
    entries = ", ".join(f'"singling-out:{column}"' for column in columns[:MOST_COLUMNS])
    more = ", …" if len(columns) > MOST_COLUMNS else ""
    return f"Make {listed} {what}, or drop {them}. To accept the risk: accept = [{entries}{more}]."


def _raise_k(k: int) -> str:
    return f"Rows share their quasi-identifiers with fewer than {k}: anonymize the table with k = {k}."


def _with_threshold(findings: Findings, config: Config, alone: Exposure) -> None:
    """Compare the smallest group with the accepted risk."""
    wanted = find_threshold(config.threshold)
    findings.figures["threshold"] = float(wanted.value)
    met = alone.smallest >= wanted.rows or alone.smallest == 0
    risk = f"The highest risk of a record on the quasi-identifiers is {1 / max(alone.smallest, 1):.4g}"
    findings.evidence.append(
        f"{risk}, {'within' if met else 'above'} the accepted {float(wanted.value):.4g} ({wanted.name})."
    )
    findings.add(
        "pass" if met else "warn",
        what="threshold",
        advice=f"k = {wanted.rows} meets {float(wanted.value):.4g}; to accept a higher risk, set threshold.",
    )


def _values(found: Exposure, rows: int) -> dict[str, float]:
    total = max(rows, 1)
    return {
        "unique": found.unique,
        "unique_share": found.unique / total,
        "below_k": found.below,
        "below_k_share": found.below / total,
    }


def _told(found: Exposure, rows: int, k: int | None = None) -> str:
    """Return `12 of 1,000 rows (1.2 %) are unique and 30 (3 %) share them with fewer than 12`."""
    total = max(rows, 1)
    text = f"{found.unique:,} of {count_of(rows, 'row')} ({percent_text(found.unique / total)}) are unique"
    if k is not None:
        text += f" and {found.below:,} ({percent_text(found.below / total)}) are in classes below k = {k:,}"
    return text


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(f"`{column}`" for column in columns[:MOST_COLUMNS])
    return shown + (f" and {len(columns) - MOST_COLUMNS:,} more" if len(columns) > MOST_COLUMNS else "")
