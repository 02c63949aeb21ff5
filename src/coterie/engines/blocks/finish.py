"""The end of an out-of-core run: suppressed rows, writing, verification, and renaming into place."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.engines.belongs import count_strangers, refuse_strangers
from coterie.engines.blocks.shuffle import ShuffledStripes
from coterie.engines.blocks.verify import WrittenCheck
from coterie.engines.blocks.write import BlockStripes
from coterie.engines.bound import blocks_bound
from coterie.engines.centres import Centres
from coterie.engines.finished import check_limit, notes_of, total
from coterie.engines.mapping import WholeMapping
from coterie.files import tables
from coterie.files.batches import TableFile, open_table
from coterie.files.output import appear, provenance_path, replace_folder
from coterie.files.rows_file import write_rows
from coterie.files.streams import Target, WrittenFile, write_release
from coterie.measures.measures import ClassSizes
from coterie.measures.sums import BlockSums, measures_of
from coterie.publishing.suppressed import may_show
from coterie.releases.release import Release
from coterie.releases.stored import StoredRows
from coterie.settings.memory import give_back
from coterie.settings.toml import provenance_toml
from coterie.verification.models import FileCheck
from coterie.verification.sql import RowReader

if TYPE_CHECKING:
    from coterie.engines.blocks.state import WorkFolder
    from coterie.engines.blocks.store import BlockStore
    from coterie.engines.engine import Job
    from coterie.engines.finished import FinishedBlock
    from coterie.engines.phases import Phases
    from coterie.engines.plan import Plan
    from coterie.settings.config import Config


class _Draft(NamedTuple):
    """A release that was written and verified, but not yet renamed."""

    path: Path
    written: WrittenFile
    checked: FileCheck
    secret: ShuffledStripes | None
    """what put its rows into another order"""


@dataclass(frozen=True, eq=False)
class Ending:
    """The state when all blocks are finished."""

    table: TableFile
    plan: Plan
    store: BlockStore
    finished: tuple[FinishedBlock, ...]
    work: WorkFolder
    job: Job
    target: Target
    phases: Phases

    def finish(self) -> Release:
        """Write and verify the release, and rename it into place if it passes."""
        plan, job = self.plan, self.job
        sums = total(self.finished, plan)
        check_limit(self.finished, plan)
        shown = may_show(plan.book.config, suppressed=sums.suppressed, starred=sums.starred)
        draft = self._draft(sums, shown=shown)
        if shown and sums.suppressed and not draft.checked.verification.passed:
            # Suppressed rows are shown only where they keep every promise; without them the others are what they were.
            draft = self._draft(sums, shown=False)
        draft.checked.verification.raise_for_failure()
        with self.phases("check input"):
            whole = draft.checked.verification.rows == sums.rows
            strangers = self._strangers(draft, shown=whole)
            # Stamps can be set back. What was read in several passes has to be what the hash in the settings names.
            self.table.check_content()
            refuse_strangers(strangers)
        release = Release(
            config=_settled(job),
            measures=measures_of(sums, plan, classes=ClassSizes(*draft.checked.classes)),
            verification=draft.checked.verification,
            place=self._place(draft, lacks=draft.checked.verification.rows < sums.rows),
            seconds=self.phases.seconds,
            notes=notes_of(self.finished, plan),
            masked=plan.book.mask.note,
            masks_sha256=plan.book.mask.sha256,
            written={Path(job.place).name: draft.written.sha256},
        )
        self.work.note_name(draft.written.sha256)
        if draft.secret is not None and os.fspath(job.place) != "-":
            write_rows(job.place, _positions(draft.secret, release), force=job.force)
        _publish(draft.path, release, job)
        if job.mapping is not None:
            parts = [self.store.mapping(block) for block in range(plan.blocks)]
            removed = draft.checked.verification.rows < sums.rows
            WholeMapping(plan, sums, parts, removed).write(job.mapping, force=job.force, like=self.table)
        return release

    def _strangers(self, draft: _Draft, *, shown: bool) -> Counter[str]:
        """Count rows that are published with values of others: both tables are read once more, side by side."""
        config, rows, size = self.plan.book.config, self.plan.book.all_rows, self.store.stripe_rows
        wanted = [name for name in self.table.schema.names if name in {*config.quasi, *config.published_unchanged}]
        before = RowReader(self.table.batches(wanted))
        written = open_table(draft.path, self.target.reading(config)).batches()
        after = RowReader(written if draft.secret is None else draft.secret.restored(written))
        centres = Centres(config)
        found: Counter[str] = Counter()
        for stripe in range(-(-rows // size)):
            original = before.take(min(size, rows - stripe * size))
            if not shown:
                inside = self.store.published(self.finished, stripe, original.num_rows)
                original = original.filter(pa.array(inside))
            if original.num_rows:
                found += count_strangers(original, after.take(original.num_rows), config, centres=centres)
        before.end()
        after.end()
        return found + centres.strangers()

    def _place(self, draft: _Draft, *, lacks: bool) -> StoredRows:
        """Return the release's rows on disk, and the removed rows of the original."""
        removed = [np.zeros(0, dtype=np.int64)]
        rows, size = self.plan.book.all_rows, self.store.stripe_rows
        for stripe in range(-(-rows // size) if lacks else 0):
            inside = self.store.published(self.finished, stripe, min(size, rows - stripe * size))
            removed.append(stripe * size + np.flatnonzero(~inside))
        return StoredRows(
            path=Path(self.job.place),
            original=self.table,
            book=self.plan.book,
            blocks=self.plan.blocks,
            sizes=draft.checked.sizes,
            people=draft.checked.people,
            removed=np.concatenate(removed),
            output_sha256=draft.written.sha256,
            reading=self.target.reading(self.plan.book.config),
            bounder=partial(blocks_bound, plan=self.plan),
        )

    def _draft(self, sums: BlockSums, *, shown: bool) -> _Draft:
        """Write the release to the run's folder, and verify the written file."""
        plan, target, config = self.plan, self.target, self.plan.book.config
        path = self.work.path / f"release{target.suffix}"
        if path.exists():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        with self.phases("write"):
            give_back()
            one = target.format == "feather"
            stripes = BlockStripes(self.table, plan, self.store, self.finished, shown, sums.suppressed, one)
            check = WrittenCheck(self.table, plan, self.store, self.finished, self.work.spare)
            secret = None
            if config.row_order == "shuffle":
                people = check.people_of([column.name for column in stripes.publisher.columns], shown=shown)
                secret = ShuffledStripes(stripes, self.work.spare, people)
            written = write_release((secret or stripes).stripes(self.job.progress), path, target)
        with self.phases("verify"):
            give_back()
            table = open_table(path, target.reading(config))
            hidden = sums.suppressed if shown else 0
            check = check if secret is None else replace(check, people=secret.shuffled_people())
            checked = check.verify(table, memory=self.job.memory, shown=shown, hidden=hidden)
        return _Draft(path, written, checked, secret)


def _settled(job: Job) -> Config:
    """Return the configuration with machine-dependent settings filled in, to give the same release elsewhere."""
    return job.config.replace(engine="blocks", block_rows=job.block_rows)


def _positions(secret: ShuffledStripes, release: Release) -> Iterator[Int64]:
    """Yield published row → position in the original, some rows at a time."""
    place = release.place
    assert isinstance(place, StoredRows)
    for places in secret.order():
        yield place.positions(places)


def _publish(draft: Path, release: Release, job: Job) -> None:
    """Write the release's settings, then rename it into place, so that no release is without its settings."""
    if os.fspath(job.place) == "-":
        with draft.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    target = Path(job.place)
    text = provenance_toml(release.config, release.provenance())
    with tables.whole_file(provenance_path(target), force=job.force) as sink:
        sink.write(text.encode())
    if draft.is_dir():
        replace_folder(draft, target)
    else:
        appear(draft, target.resolve(), force=job.force)
