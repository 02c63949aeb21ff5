"""The log of a comparison's finished runs, which lets a second call resume where the first one stopped.

The file has one line of JSON per run: its key and its figures, but no data values. The key is a hash of the input,
of all settings that can change the figures, of coterie's version, and of the names of the figures, which tell versions
in development apart that measured others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.comparison.comparison import ComparisonRow
from coterie.errors import DataError
from coterie.files import tables
from coterie.settings.registry import FIELDS

if TYPE_CHECKING:
    from coterie.settings.config import Config

# Settings that never change a figure.
SILENT = (*(name for name, setting in FIELDS.items() if setting.decides == "nothing"), "keep", "drop")
_FIELDS = {each.name for each in fields(ComparisonRow)}


def run_key(source: str, config: Config, **more: object) -> str:
    """Return the key of a run: a hash of its input's hash, its settings, and all else that affects the figures."""
    from coterie import __version__

    settings = {name: value for name, value in config.to_dict().items() if name not in SILENT}
    secret = config.method_options().secrets
    settings["options"] = {name: value for name, value in settings["options"].items() if name not in secret}
    populations = [_population(model) for model in config.privacy]
    whose = {"coterie": __version__, "figures": sorted(_FIELDS)}
    parts = {"input": source, "settings": settings, "populations": populations, **whose, **more}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _population(model: Any) -> str:  # noqa: ANN401 - a privacy model
    """Return the hash of the population that a privacy model compares with, if any."""
    population = getattr(model, "population", None)
    return "" if population is None else tables.source_hash(tables.read(population, header=True))


def read_kept(path: Path | None) -> dict[str, ComparisonRow]:
    """Return key → finished run; empty if there is no file yet."""
    if path is None or not path.exists():
        return {}
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return {str(line["key"]): _row(line["run"]) for line in lines}
    except (ValueError, KeyError, TypeError, OSError):
        raise DataError(
            f"{path} is not a results file of a comparison.", hint="Choose another results file, or remove this one."
        ) from None


def _row(values: Mapping[str, Any]) -> ComparisonRow:
    return ComparisonRow(**{name: value for name, value in values.items() if name in _FIELDS})


def keep(path: Path | None, key: str, row: ComparisonRow) -> None:
    """Append a finished run to the file, even while other processes append to it."""
    if path is None:
        return
    kept = {**read_kept(path), key: row}
    with tables.whole_file(path, force=True) as sink:
        for each, run in kept.items():
            sink.write((json.dumps({"key": each, "run": asdict(run)}, ensure_ascii=False) + "\n").encode())
