"""The work folder of a run: rows by leaf, finished blocks, and the release before it is renamed.

It is next to the output, so that the release can be renamed into place in one step. If a run is killed, the folder
remains: `resume` then continues with the missing blocks. It contains codes of the original rows and is as
confidential as they are; only its owner may read it. It is removed when the run is over.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.engines.blocks.store import stored_layout
from coterie.engines.plan import settings_text
from coterie.errors import ConfigError, DataError, Problem
from coterie.files.locks import LOCK, Lock, is_abandoned, lock_folder, work_path

if TYPE_CHECKING:
    from coterie.engines.engine import Job
    from coterie.files.batches import Stamp


RUN = "run.json"


@dataclass(frozen=True)
class WorkFolder:
    """The intermediate results of a run."""

    path: Path
    lock: Lock
    """held during the run"""
    facts: dict[str, Any]
    """what identifies the run, as its folder has it"""

    @property
    def rows(self) -> Path:
        """Folder of rows by leaf."""
        return self.path / "rows"

    @property
    def blocks(self) -> Path:
        """Folder of finished blocks."""
        return self.path / "blocks"

    @property
    def spare(self) -> Path:
        """Folder for DuckDB's temporary files."""
        return self.path / "spare"

    def note(self, **facts: str | int) -> None:
        """Record more facts about the run.

        `naming` is the hash of the release that is about to be renamed: a resumed run may find it in place already.
        """
        self.facts.update(facts)
        temporary = self.path / "run.part"
        temporary.write_text(json.dumps(self.facts, indent=1), encoding="utf-8")
        temporary.replace(self.path / RUN)

    def note_plan(self, sha256: str) -> None:
        """Record the plan of the blocks; refuse to resume with another one."""
        if self.facts.get("plan", sha256) != sha256:
            raise _changed(self.path, "cut the table differently from")
        self.note(plan=sha256)

    def clean(self) -> None:
        """Remove the output of an unfinished pass, but not finished blocks."""
        for folder in (self.rows, self.spare):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (self.rows, self.blocks, self.spare):
            folder.mkdir(exist_ok=True)
        for partial in (*self.path.glob("release*"), *self.blocks.glob("*.part")):
            _remove(partial)

    def remove(self) -> None:
        """Remove the folder, first the file that identifies the run, since a partial folder cannot be resumed.

        The lock goes last: a run that is killed in between leaves a folder that the next one recognizes as abandoned,
        and a run that takes a lock right after is not robbed of its files.
        """
        (self.path / RUN).unlink(missing_ok=True)
        with suppress(OSError):
            _remove_all(self.path)
            (self.path / LOCK).unlink(missing_ok=True)
            self.path.rmdir()
        self.lock.give_back()


def open_work(job: Job, stamp: Stamp, masks: str) -> WorkFolder:
    """Create the work folder of a run, or open that of an earlier run.

    Args:
        job: The job. It may go on with what an earlier run has done, if it was the same, or start again in its place.
        stamp: Which file is read.
        masks: What tells the masks of rows and cells from others.

    Raises:
        ConfigError: There is an earlier run, and neither `resume` nor `force` was given.
        DataError: The earlier run had another input or other settings, or the folder cannot be written.
    """
    path = work_path(job.place)
    facts: dict[str, str | int] = {
        "coterie": version("coterie"),
        "layout": stored_layout(),
        "input_sha256": stamp.sha256,
        "input_size": stamp.size,
        "settings": settings_text(job.config),
        "block_rows": job.block_rows,
        "mapping": job.mapping is not None,
        "masks": masks,
    }
    try:
        with ExitStack() as stack:
            lock = lock_folder(path)
            stack.callback(lock.give_back)
            old = _read(path)
            if old is not None and job.resume:
                _refuse_other(path, old, facts)
                work = WorkFolder(path, lock, old)
            else:
                if old is not None and not job.force:
                    done = len(list((path / "blocks").glob("*.json")))
                    text = f"an earlier run to this file was interrupted with {done:,} blocks finished"
                    hint = "Continue it with resume=True, or start over with force=True."
                    raise ConfigError([Problem("output", text)], hint=hint)
                _remove_all(path)
                work = WorkFolder(path, lock, {})
                work.note(**facts)
            work.clean()
            stack.pop_all()
            return work
    except OSError as error:
        raise refused(path, error) from None


def sweep_work(output: str | os.PathLike[str]) -> None:
    """Remove the folder of a killed run that had not started, or was already being removed: it identifies no run."""
    path = work_path(output)
    if os.fspath(output) == "-" or not path.is_dir() or path.is_symlink() or (path / RUN).exists():
        return
    if not (path / LOCK).exists() or is_abandoned(path / LOCK):
        shutil.rmtree(path, ignore_errors=True)


def was_named(output: str | os.PathLike[str]) -> bool:
    """Return whether an earlier run was stopped while renaming its release, which may then be overwritten.

    Nothing else may be: the existing output must be that very release, or be absent.
    """
    noted = (_read(work_path(output)) or {}).get("naming") if os.fspath(output) != "-" else None
    target = Path(output)
    if noted is None or target.is_dir():
        return noted is not None and not target.exists()
    if not target.exists():
        return True
    with target.open("rb") as file:
        return bool(hashlib.file_digest(file, "sha256").hexdigest() == noted)


def _remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _remove_all(path: Path) -> None:
    """Remove everything in a work folder but its lock."""
    for each in path.iterdir():
        if each.name != LOCK:
            _remove(each)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        description: dict[str, Any] = json.loads((path / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return description


def _refuse_other(path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    texts = {
        "coterie": "used a different version of coterie from",
        # Versions in development share a number. What they have stored does not.
        "layout": "stored its blocks in a different format from",
        "input_sha256": "had a different input from",
        "input_size": "had a different input from",
        "settings": "had different settings from",
        "block_rows": "had a different block size from",
        "mapping": "differs in whether it writes a mapping from",
        "masks": "had different masks from",
    }
    for name, text in texts.items():
        if old.get(name) != new[name]:
            raise _changed(path, text)


def _changed(path: Path, text: str) -> DataError:
    return DataError(
        f"The interrupted run {text} this one, so its blocks cannot be used.",
        hint=f"Start over with force=True instead of resume=True, or remove {path}.",
    )


def refused(path: Path, error: OSError) -> DataError:
    """Return the error for a failed write."""
    return DataError(
        f"{path} cannot be written: {error.strerror or 'output error'}.",
        hint="Check the folder's permissions and free space.",
    )
