"""The verdict on a release in a file: classes are counted on disk; what needs the original looks at a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.errors import CoterieError
from coterie.verdict.people import look_for_people
from coterie.verdict.question import Findings, Verdict
from coterie.verdict.usefulness import query_error, usefulness
from coterie.verdict.verdict import joined, promises, verdict_of_file
from coterie.verification.arrow import ArrowCounter

if TYPE_CHECKING:
    from coterie.releases.place import HeldRows
    from coterie.releases.release import Release
    from coterie.verification.sql import HiddenColumn


def verdict_of_stored(release: Release) -> Verdict:
    """Return the verdict on a release that lies in a file."""
    config, found, path = release.config, release.verification, release.place.path
    if path is None or not path.exists():
        parts = [Findings(name, config.accept) for name in ("singling-out", "inference")]
        for part in parts:
            part.evidence.append("Not measured: the release is not in a file on this machine.")
            part.add("warn", advice="Write the release to a file, and run `coterie verify --strict` on it.")
        return joined(promises(found), *parts, usefulness(release.measures, config))
    sample = _sample(release)
    queries = None
    if sample is not None:
        queries = query_error(sample.source.table, sample.published.table, config, kept=sample.published.kept)
    # A release has a header, whatever its input had.
    return verdict_of_file(
        path,
        config.replace(header=True, skip_rows=0),
        found,
        who=_people(release, sample),
        useful=usefulness(release.measures, config, queries=queries),
        people=lambda findings: _look_for_people(findings, release, sample),
    )


def _sample(release: Release) -> HeldRows | None:
    """Whole classes of the release with their originals; None if the original cannot be read again."""
    try:
        return release.held
    except CoterieError:
        return None


def _people(release: Release, sample: HeldRows | None) -> HiddenColumn | None:
    """Return the person of each published row, from the original, which alone names them."""
    from coterie.releases.stored import StoredRows

    if release.config.entity is None or sample is None or not isinstance(release.place, StoredRows):
        return None
    if release.place.shuffled:
        return None
    return release.place.persons(release.config.entity)


def _look_for_people(findings: Findings, release: Release, sample: HeldRows | None) -> None:
    """Add what a sample of whole classes says of people that nobody has named."""
    config = release.config
    if config.entity is not None and config.row_order == "shuffle":
        text = "With further columns, rows were counted instead of people, because their order is secret."
        findings.evidence.append(text)
    if sample is None:
        what = "people were not counted" if config.entity else "nothing was looked for that numbers people"
        findings.evidence.append(f"With further columns, {what}: the original cannot be read again.")
        return
    known, told = (sample.verification.class_of_row, sample.verification.groups), len(findings.evidence)
    held = ArrowCounter(sample.published.table, (), known=known)
    look_for_people(findings, held, config, original=sample.source.table, kept=sample.published.kept, k=config.k)
    if held.table.num_rows < release.published_rows and len(findings.evidence) > told:
        findings.evidence.append(f"This was seen in a sample of {held.table.num_rows:,} rows in whole groups.")
