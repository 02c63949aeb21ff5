"""The folder of a run: rows by leaf, finished blocks, the release before it has its name.

It stands beside the output, so that the release can be given its name in one step. If a run is killed, the folder
stays: `resume` then goes on with the blocks that are missing. It holds codes of the original rows and is as
confidential as they are; only its owner may read it. When the run is over, it is gone.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.engines.plan import settings_text
from coterie.errors import ConfigError, DataError, Problem

if TYPE_CHECKING:
    from coterie.files.batches import Stamp
    from coterie.settings.config import Config


@dataclass(frozen=True)
class WorkFolder:
    """Where a run keeps what it has done."""

    path: Path
    resumed: bool
    """whether an earlier run has left it"""

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
        """Folder for DuckDB, where its memory is not enough."""
        return self.path / "spare"

    def _facts(self) -> dict[str, Any]:
        description: dict[str, Any] = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        return description

    def note_plan(self, sha256: str) -> None:
        """Keep which plan the blocks follow; refuse to go on by another one."""
        description = self._facts()
        before = description.get("plan")
        if before is not None and before != sha256:
            raise _changed(self.path, "cuts the table otherwise than")
        if before is None:
            _write(self.path / "run.json", description | {"plan": sha256})

    def clean(self) -> None:
        """Remove what an unfinished pass may have left, but not finished blocks."""
        for folder in (self.rows, self.spare):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (self.rows, self.blocks, self.spare):
            folder.mkdir(exist_ok=True)
        for partial in (*self.path.glob("release*"), *self.blocks.glob("*.part")):
            shutil.rmtree(partial) if partial.is_dir() else partial.unlink()

    def refused(self, error: OSError) -> DataError:
        """What to say when the disk refuses."""
        return _refused(self.path, error)

    def remove(self) -> None:
        """The run is over."""
        shutil.rmtree(self.path, ignore_errors=True)


def work_path(output: str | os.PathLike[str]) -> Path:
    """Where the folder of a run stands: out.parquet → .out.parquet.coterie; for standard output, of this process."""
    if os.fspath(output) == "-":
        return Path(tempfile.gettempdir()) / f"coterie-{os.getpid()}"
    target = Path(output).resolve()
    return target.with_name(f".{target.name}.coterie")


def open_work(
    output: str | os.PathLike[str],
    config: Config,
    stamp: Stamp,
    *,
    block_rows: int,
    resume: bool,
    force: bool,
    mapping: bool = False,
) -> WorkFolder:
    """Start a folder for a run, or take up the one that an earlier run has left.

    Args:
        output: Where the release goes.
        config: The settings.
        stamp: Which file is read.
        block_rows: Rows of a block at most.
        resume: Go on with what an earlier run has done, if it was the same.
        force: Start again in place of an earlier run.
        mapping: Whether blocks keep what their groups are published as.

    Raises:
        ConfigError: There is an earlier run, and neither `resume` nor `force` was asked for.
        DataError: The earlier run had another input or other settings, or the folder cannot be written.
    """
    path = work_path(output)
    description = {
        "coterie": version("coterie"),
        "input_sha256": stamp.sha256,
        "input_size": stamp.size,
        "settings": settings_text(config),
        "block_rows": block_rows,
        "mapping": mapping,
    }
    old = _read(path)
    if old is not None and resume:
        _refuse_other(path, old, description)
        work = WorkFolder(path, resumed=True)
    else:
        if old is not None and not force:
            done = len(list((path / "blocks").glob("*.json")))
            text = f"an earlier run to this file was stopped with {done:,} blocks finished"
            hint = "Continue it with resume=True, or start over with force=True."
            raise ConfigError([Problem("output", text)], hint=hint)
        work = _fresh(path, description)
    try:
        work.clean()
    except OSError as error:
        raise _refused(path, error) from None
    return work


def _fresh(path: Path, description: dict[str, Any]) -> WorkFolder:
    try:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o700)
        _write(path / "run.json", description)
    except OSError as error:
        raise _refused(path, error) from None
    return WorkFolder(path, resumed=False)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        description: dict[str, Any] = json.loads((path / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return description


def _write(path: Path, description: dict[str, Any]) -> None:
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(description, indent=1), encoding="utf-8")
    temporary.replace(path)


def _refuse_other(path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    texts = {
        "coterie": "was made by another version of coterie than",
        "input_sha256": "read another input than",
        "input_size": "read another input than",
        "settings": "had other settings than",
        "block_rows": "had blocks of another size than",
        "mapping": "differs in whether a mapping is wanted from",
    }
    for name, text in texts.items():
        if old.get(name) != new[name]:
            raise _changed(path, text)


def _changed(path: Path, text: str) -> DataError:
    return DataError(
        f"The run that was stopped {text} this one, so its blocks are of no use.",
        hint=f"Start over with force=True, or remove {path}.",
    )


def _refused(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path} cannot be written: {error.strerror or 'output error'}.",
        hint="Check the folder's rights and the space left.",
    )
