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
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.engines.plan import settings_text
from coterie.errors import ConfigError, DataError, Problem
from coterie.files.locks import LOCK, Lock, is_abandoned, lock_folder, work_path

if TYPE_CHECKING:
    from coterie.files.batches import Stamp
    from coterie.settings.config import Config


RUN = "run.json"


@dataclass(frozen=True)
class WorkFolder:
    """The intermediate results of a run."""

    path: Path
    resumed: bool
    """whether it is from an earlier run"""
    lock: Lock
    """held during the run"""

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

    def _facts(self) -> dict[str, Any]:
        description: dict[str, Any] = json.loads((self.path / RUN).read_text(encoding="utf-8"))
        return description

    def note_plan(self, sha256: str) -> None:
        """Record the plan of the blocks; refuse to resume with another one."""
        description = self._facts()
        before = description.get("plan")
        if before is not None and before != sha256:
            raise _changed(self.path, "cut the table differently from")
        if before is None:
            _write(self.path / RUN, description | {"plan": sha256})

    def note_name(self, sha256: str) -> None:
        """Record which release is about to be renamed: a resumed run may find it in place already."""
        _write(self.path / RUN, self._facts() | {"naming": sha256})

    def clean(self) -> None:
        """Remove the output of an unfinished pass, but not finished blocks."""
        for folder in (self.rows, self.spare):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (self.rows, self.blocks, self.spare):
            folder.mkdir(exist_ok=True)
        for partial in (*self.path.glob("release*"), *self.blocks.glob("*.part")):
            _remove(partial)

    def refused(self, error: OSError) -> DataError:
        """Return the error for a failed write."""
        return _refused(self.path, error)

    def remove(self) -> None:
        """Remove the folder, first the file that identifies the run, since a partial folder cannot be resumed.

        The lock goes last: a run that is killed in between leaves a folder that the next one recognizes as abandoned,
        and a run that takes a lock right after is not robbed of its files.
        """
        (self.path / RUN).unlink(missing_ok=True)
        with suppress(OSError):
            for each in self.path.iterdir():
                if each.name != LOCK:
                    _remove(each)
            (self.path / LOCK).unlink(missing_ok=True)
            self.path.rmdir()
        self.lock.give_back()


def open_work(
    output: str | os.PathLike[str],
    config: Config,
    stamp: Stamp,
    *,
    block_rows: int,
    resume: bool,
    force: bool,
    mapping: bool = False,
    masks: str = "",
) -> WorkFolder:
    """Create the work folder of a run, or open that of an earlier run.

    Args:
        output: The path of the release.
        config: The settings.
        stamp: Which file is read.
        block_rows: Rows of a block at most.
        resume: Go on with what an earlier run has done, if it was the same.
        force: Start again in place of an earlier run.
        mapping: Whether blocks keep what their groups are published as.
        masks: What tells the masks of rows and cells from others.

    Raises:
        ConfigError: There is an earlier run, and neither `resume` nor `force` was given.
        DataError: The earlier run had another input or other settings, or the folder cannot be written.
    """
    path = work_path(output)
    lock = _locked(path)
    try:
        description = _description(config, stamp, block_rows, mapping=mapping) | {"masks": masks}
        return _opened(path, lock, description, resume=resume, force=force)
    except BaseException:
        lock.give_back()
        raise


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


def _locked(path: Path) -> Lock:
    """Lock a folder, or raise a ConfigError that names the process that has it."""
    try:
        return lock_folder(path)
    except OSError as error:
        raise _refused(path, error) from None


def _description(config: Config, stamp: Stamp, block_rows: int, *, mapping: bool) -> dict[str, Any]:
    return {
        "coterie": version("coterie"),
        "input_sha256": stamp.sha256,
        "input_size": stamp.size,
        "settings": settings_text(config),
        "block_rows": block_rows,
        "mapping": mapping,
    }


def _opened(path: Path, lock: Lock, description: dict[str, Any], *, resume: bool, force: bool) -> WorkFolder:
    old = _read(path)
    if old is not None and resume:
        _refuse_other(path, old, description)
        work = WorkFolder(path, resumed=True, lock=lock)
    else:
        if old is not None and not force:
            done = len(list((path / "blocks").glob("*.json")))
            text = f"an earlier run to this file was interrupted with {done:,} blocks finished"
            hint = "Continue it with resume=True, or start over with force=True."
            raise ConfigError([Problem("output", text)], hint=hint)
        work = _fresh(path, lock, description)
    try:
        work.clean()
    except OSError as error:
        raise _refused(path, error) from None
    return work


def _fresh(path: Path, lock: Lock, description: dict[str, Any]) -> WorkFolder:
    try:
        for each in path.iterdir():
            if each.name != LOCK:
                _remove(each)
        _write(path / RUN, description)
    except OSError as error:
        raise _refused(path, error) from None
    return WorkFolder(path, resumed=False, lock=lock)


def _remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        description: dict[str, Any] = json.loads((path / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return description


def _write(path: Path, description: dict[str, Any]) -> None:
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(description, indent=1), encoding="utf-8")
    temporary.replace(path)


def _refuse_other(path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    texts = {
        "coterie": "used a different version of coterie from",
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
        hint=f"Start over with force=True, or remove {path}.",
    )


def _refused(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path} cannot be written: {error.strerror or 'output error'}.",
        hint="Check the folder's permissions and free space.",
    )
