"""Whether a sensitive value can be inferred for people whose records cannot be singled out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.settings.limits import limit
from coterie.verdict.counts import PublishedRows
from coterie.verdict.question import Findings
from coterie.wording import count_of, percent_text

if TYPE_CHECKING:
    from coterie.settings.config import Config


class Inferred(NamedTuple):
    """What groups disclose about a sensitive attribute."""

    rows: int
    """rows whose group shares one value"""
    groups: int
    """groups that share one value"""
    gain: float
    """the largest increase of a value's share in a group over its share in the release"""
    base: float
    """the share of the most frequent value: the best guess without the release"""
    values: int
    """distinct values in the release, not counting missing"""


def infer_column(rows: PublishedRows, column: str) -> Inferred:
    """Count the groups that share one value of a column, and the largest gain over the base rate."""
    cells = rows.cells(column)
    held = cells.rows > 0
    total = max(int(cells.rows.sum()) + cells.missing, 1)
    shares = np.append(cells.rows, cells.missing) / total
    inferred = groups = 0
    gain = 0.0
    for pairs in rows.values(column):
        known = pairs.value < len(cells.values)
        single = np.logical_and(pairs.values == 1, known[pairs.starts])
        inferred += int(pairs.sizes[single].sum())
        groups += int(single.sum())
        gains = (pairs.rows / pairs.sizes[pairs.of] - shares[pairs.value])[known]
        gain = max(gain, float(gains.max(initial=0.0)))
    base = float(cells.rows.max(initial=0)) / total
    return Inferred(inferred, groups, gain, base, int(held.sum()))


def inference(rows: PublishedRows, config: Config, *, sensitive: Sequence[str]) -> Findings:
    """Measure what can be inferred about people's sensitive attributes."""
    findings = Findings("inference", config.accept)
    if not sensitive:
        findings.evidence.append("No column is declared sensitive, so nothing was measured.")
    for column in sensitive:
        found = infer_column(rows, column)
        share = found.rows / max(rows.rows, 1)
        findings.figures[column] = found._asdict() | {"share": share}
        if found.values < 2:
            findings.evidence.append(f"`{column}` has the same value everywhere, so groups reveal nothing new.")
            continue
        findings.evidence.append(
            f"`{column}`: {count_of(found.rows, 'row')} ({percent_text(share)}) in {count_of(found.groups, 'group')} "
            f"whose rows all share one value; in some group, a value is more likely by {found.gain:.2f} than in the "
            f"whole release, where the most frequent value has a share of {found.base:.2f}."
        )
        findings.add(
            "warn" if share > limit(config.limits, "inferred") else "pass",
            what=column,
            advice=f'Add "l-diversity:2:{column}" to privacy. To accept the risk: accept = ["inference:{column}"].',
        )
    return findings
