"""anonymize(), verify(), measure(): read → encode → group → publish → verify → measure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from coterie import io
from coterie.config import Config
from coterie.encode import Encoded, encode
from coterie.errors import InfeasibleError
from coterie.measures import Measures, measure_boxes
from coterie.measures_release import measure_release
from coterie.publish import check_styles, publish
from coterie.release import Release
from coterie.verify import Verification, verify_table

if TYPE_CHECKING:
    from coterie.boxes import Grouping
    from coterie.methods import Run
    from coterie.methods._method import Progress

__all__ = ["Release", "anonymize", "measure", "verify"]

AnyConfig = Config | Mapping[str, Any] | str | os.PathLike[str] | None

FROM_CONFIG: Final = object()
"""`verify(k=…)`: take k from the configuration, if one was given"""


class _Phases:
    """Times the phases of a run and reports them."""

    def __init__(self, progress: Progress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        if self._progress is not None:
            self._progress(name, 0, 0)
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started


def anonymize(
    data: Any,  # noqa: ANN401 - any frame that Narwhals takes, or a path
    *,
    config: AnyConfig = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings: Any,  # noqa: ANN401 - Config's fields
) -> Release:
    """Hide every row of a table in a group of at least k rows.

    Args:
        data: A pandas, Polars or PyArrow frame, the path of a file, or "-" for standard input. It is not changed.
        config: A Config, a dict or the path of a TOML file.
        progress: Told (step, done, total) now and then.
        cancelled: Asked now and then whether to stop.
        **settings: The fields of `Config`, which go before those of `config`: `quasi=["age", "zip"]`, `k=10`, ….

    Returns:
        The release, verified from its published values.

    Raises:
        ConfigError: The request is wrong; all problems at once.
        DataError: The data are not what the configuration says.
        InfeasibleError: The table cannot give what was asked for.
        VerificationError: The published table did not pass; there is no release.
    """
    settled = Config.build(config, **settings)
    phases = _Phases(progress)
    with phases("read"):
        source = _read(data, settled)
        settled.check_columns(source.table.column_names)
    with phases("encode"):
        encoded = encode(source.table, settled)
        check_styles(encoded.table.domains, names=source.table.column_names, publish=settled.publish)
        _check_feasible(encoded, settled, source.table.num_rows)
    run = _run(settled, progress, cancelled)
    with phases("group"):
        grouping = _group(encoded, settled, run)
    with phases("publish"):
        published = publish(source.table, encoded.table, grouping, settled, rows=encoded.rows)
    with phases("verify"):
        verification = verify_table(published.table, quasi=settled.quasi, k=settled.k, roots=published.roots)
        verification.raise_for_failure()
    with phases("measure"):
        measures = measure_boxes(
            encoded.table.domains,
            lo=grouping.lo,
            hi=grouping.hi,
            labels=grouping.labels,
            k=settled.k,
            codes=encoded.table.codes,
            class_of_group=published.class_of_group,
            leaf_counts=settled.leaf_counts,
        )
    return Release(
        config=settled,
        measures=measures,
        verification=verification,
        source=source,
        table=encoded.table,
        grouping=grouping,
        rows=encoded.rows,
        published=published,
        seconds=phases.seconds,
        notes=tuple(run.notes),
    )


def verify(
    data: Any,  # noqa: ANN401
    *,
    config: AnyConfig = None,
    k: Any = FROM_CONFIG,  # noqa: ANN401 - int, None or FROM_CONFIG
    **settings: Any,  # noqa: ANN401
) -> Verification:
    """Check a published table, from its values alone.

    Args:
        data: A frame, a path or "-".
        config: The configuration it was published with; only its columns and promises are used.
        k: The promise to check; None only counts. Left out, it is the configuration's, if one is given.
        **settings: The fields of `Config`; `quasi` at least, where there is no configuration.
    """
    settled = Config.build(config, **settings)
    if k is FROM_CONFIG:
        k = settled.k if config is not None else None
    source = _read(data, settled)
    return verify_table(source.table, quasi=settled.quasi, k=k, roots=_roots(settled))


def measure(
    original: Any,  # noqa: ANN401
    published: Any,  # noqa: ANN401
    *,
    config: AnyConfig = None,
    **settings: Any,  # noqa: ANN401
) -> Measures:
    """Measure what a published table lost against its original.

    Args:
        original: The table that the release was made from: a frame, a path or "-".
        published: The release, in the same row order.
        config: The configuration it was published with.
        **settings: The fields of `Config`.
    """
    settled = Config.build(config, **settings)
    before, after = _read(original, settled), _read(published, settled)
    settled.check_columns(before.table.column_names)
    encoded = encode(before.table, settled)
    return measure_release(before.table, after.table, table=encoded.table, config=settled, rows=encoded.rows)


def _read(data: Any, config: Config) -> io.Source:  # noqa: ANN401
    return io.read(data, missing_values=config.missing_values, delimiter=config.delimiter, encoding=config.encoding)


def _roots(config: Config) -> dict[str, str]:
    """Column → what a suppressed cell looks like, where its hierarchy has a root label of its own."""
    trees = {name: hierarchy.tree for name, hierarchy in config.hierarchies.items()}
    return {name: tree.root for name, tree in trees.items() if tree is not None}


def _check_feasible(encoded: Encoded, config: Config, rows: int) -> None:
    left = encoded.table.rows
    if left >= config.k:
        return
    taken = f", {rows - left:,} of which lack quasi-identifiers and are suppressed" if left < rows else ""
    raise InfeasibleError(
        f"Groups of {config.k:,} rows cannot be made: the table has {rows:,} rows{taken}.",
        wanted=config.k,
        possible=left,
        hint=f"Ask for k of at most {left:,}." if left else "Give a table with rows.",
    )


def _run(config: Config, progress: Progress | None, cancelled: Callable[[], bool] | None) -> Run:
    from coterie.methods import Run

    run = Run(seed=config.seed, threads=config.usable_threads, privacy=config.privacy)
    if progress is not None:
        run.progress = progress
    if cancelled is not None:
        run.cancelled = cancelled
    return run


def _group(encoded: Encoded, config: Config, run: Run) -> Grouping:
    from coterie import kernels
    from coterie.methods import find_method

    grouping = find_method(config.method).run(encoded.table, config.k, config.method_options(), run)
    kernels.compiled()
    return grouping
