"""The end of an out-of-core run: suppressed rows, writing, verification, and renaming into place."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Int64
from coterie.engines.belongs import count_strangers, refuse_strangers
from coterie.engines.blocks.shuffle import ShuffledStripes
from coterie.engines.blocks.verify import verify_written
from coterie.engines.blocks.write import BlockStripes
from coterie.engines.centres import Centres
from coterie.engines.finished import check_limit, give_name, notes_of, stored_rows, total
from coterie.engines.mapping import join_mappings
from coterie.files.batches import open_table, without_rows
from coterie.files.rows_file import write_rows
from coterie.files.streams import Target, WrittenFile, write_release
from coterie.measures.measures import ClassSizes
from coterie.measures.sums import BlockSums, measures_of
from coterie.publishing.publish import may_show
from coterie.releases.place import write_settings
from coterie.releases.release import Release
from coterie.settings.memory import give_back
from coterie.verification.models import FileCheck
from coterie.verification.sql import RowReader, people_column

if TYPE_CHECKING:
    from coterie.engines.blocks.state import WorkFolder
    from coterie.engines.blocks.store import FinishedTable
    from coterie.engines.engine import Job
    from coterie.engines.phases import Phases


class _Draft(NamedTuple):
    """A release that was written and verified, but not yet renamed."""

    path: Path
    written: WrittenFile
    checked: FileCheck
    secret: ShuffledStripes | None
    """what put its rows into another order"""
    removed: Int64
    """the rows of the original that it lacks"""


@dataclass(frozen=True, eq=False)
class Ending:
    """The state when all blocks are finished."""

    made: FinishedTable
    work: WorkFolder
    job: Job
    target: Target
    phases: Phases

    def finish(self) -> Release:
        """Write and verify the release, and rename it into place if it passes."""
        plan, job, table = self.made.plan, self.job, self.made.original
        sums = total(self.made.finished, plan)
        check_limit(self.made.finished, plan)
        shown = may_show(plan.book.config, suppressed=sums.suppressed, starred=sums.starred)
        draft = self._draft(sums, shown=shown)
        if shown and sums.suppressed and not draft.checked.verification.passed:
            # Suppressed rows are shown only if they satisfy every guarantee; removing them does not change the others.
            draft = self._draft(sums, shown=False)
        draft.checked.verification.raise_for_failure()
        with self.phases("check input"):
            give_back()
            strangers = self._strangers(draft)
            # Stamps can be forged. All passes must have read the content with the recorded hash.
            table.check_content()
            refuse_strangers(strangers)
        place = stored_rows(job, plan, draft.checked, draft.written, self.target, draft.removed, original=table)
        release = Release(
            config=job.settled("blocks"),
            measures=measures_of(sums, plan, classes=ClassSizes(*draft.checked.classes)),
            verification=draft.checked.verification,
            place=place,
            seconds=self.phases.seconds,
            notes=notes_of(self.made.finished, plan),
            masked=plan.book.mask.note,
            masks_sha256=plan.book.mask.sha256,
            written={Path(job.place).name: draft.written.sha256},
        )
        self.work.note(naming=draft.written.sha256)
        if os.fspath(job.place) != "-":
            if draft.secret is not None:
                write_rows(job.place, map(place.positions, draft.secret.order()), force=job.force)
            write_settings(release, job.place, force=job.force)
        give_name(draft.path, job.place, force=job.force)
        if job.mapping is not None:
            parts = [self.made.store.path(block, "mapping") for block in range(plan.blocks)]
            removed = len(draft.removed) > 0
            join_mappings(job.mapping, plan, sums, parts, removed=removed, force=job.force, like=table)
        return release

    def _strangers(self, draft: _Draft) -> Counter[str]:
        """Count rows that are published with values of others: both tables are read once more, side by side."""
        table, config = self.made.original, self.made.plan.book.config
        wanted = [name for name in table.schema.names if name in {*config.quasi, *config.published_unchanged}]
        before = RowReader(without_rows(table.batches(wanted), draft.removed))
        written = open_table(draft.path, self.target.reading(config)).batches()
        after = RowReader(written if draft.secret is None else draft.secret.restored(written))
        centres = Centres(config)
        found: Counter[str] = Counter()
        left = self.made.plan.book.all_rows - len(draft.removed)
        most = max(1, self.made.store.stripe_rows // 2)  # two tables are in memory here, while writing has one
        while left:
            rows = min(left, most)
            found += count_strangers(before.take(rows), after.take(rows), config, centres=centres)
            left -= rows
        before.end()
        after.end()
        return found + centres.strangers()

    def _draft(self, sums: BlockSums, *, shown: bool) -> _Draft:
        """Write the release to the run's folder, and verify the written file."""
        made, target, config = self.made, self.target, self.made.plan.book.config
        removed = made.suppressed if sums.suppressed and not shown else np.zeros(0, dtype=np.int64)
        hidden = sums.suppressed if shown else 0
        path = self.work.path / f"release{target.suffix}"
        if path.exists():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        with self.phases("write"):
            give_back()
            stripes = BlockStripes(made, shown, removed, hidden > 0, one_dictionary=target.format == "feather")
            people = None if config.entity is None else people_column(made.original, config.entity, removed)
            secret = ShuffledStripes(stripes, self.work.spare, people) if config.row_order == "shuffle" else None
            written = write_release((secret or stripes).stripes(self.job.progress), path, target)
        with self.phases("verify"):
            give_back()
            table = open_table(path, target.reading(config))
            people = people if secret is None else secret.shuffled_people()
            checked = verify_written(
                made, table, self.work.spare, memory=self.job.memory, shown=shown, hidden=hidden, people=people
            )
        return _Draft(path, written, checked, secret, removed)
