"""StoredRelease: what `anonymize` gives back where the release lies in a file and is never held whole."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.measures.measures import Measures
    from coterie.settings.config import Config
    from coterie.verdict.question import Verdict
    from coterie.verification.verify import Verification


@dataclass(frozen=True, eq=False)
class StoredRelease:
    """A verified release in a file: where it is, the proof, and what it cost."""

    path: Path
    """the file, or the folder of Parquet files"""
    config: Config
    """everything that decided the release; run again, it gives the same"""
    measures: Measures
    """what was lost, by name; per attribute in `.attributes`"""
    verification: Verification
    """what the check of the written file found; it has no class for each row"""
    rows: int
    """rows of the original"""
    blocks: int
    """into how many it was cut"""
    input_sha256: str = field(repr=False)
    output_sha256: str = field(repr=False)
    """of the file; for a folder, of the digests of its files in their order"""
    seconds: Mapping[str, float] = field(default_factory=dict, repr=False)
    """phase → seconds"""
    notes: tuple[str, ...] = ()
    """what the user should know, such as which method was chosen"""

    @cached_property
    def verdict(self) -> Verdict:
        """What the release is to be judged by: promises, singling out, inference and utility; `.state` is the worst."""
        from coterie.releases.release import later

        found: Verdict = later().verdict_of_stored(self)
        return found

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The published rows, some at a time."""
        from coterie.files.batches import open_table

        yield from open_table(self.path, self.config).batches()

    @property
    def arrow(self) -> pa.Table:
        """The published table, read whole."""
        import pyarrow as pa

        return pa.Table.from_batches(self.batches())

    def provenance(self, **more: str) -> dict[str, Any]:
        """Versions, hashes and the time: what it takes to make the same release again."""
        record: dict[str, Any] = {
            "made": dt.datetime.now(dt.UTC).replace(microsecond=0).isoformat(),
            "coterie": version("coterie"),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "numba", "pyarrow", "duckdb")},
            "rows": self.rows,
            "published_rows": self.verification.rows,
            "blocks": self.blocks,
            "input_sha256": self.input_sha256,
            "output_sha256": self.output_sha256,
        }
        return record | more

    def __repr__(self) -> str:
        found = self.verification
        return (
            f"<StoredRelease: {self.path.name}, {found.rows:,} rows in {found.groups:,} groups of at least "
            f"{found.k:,}, GCP {self.measures['gcp']:.4f}, method {self.config.method}, {self.blocks:,} blocks>"
        )
