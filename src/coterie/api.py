"""anonymize(), verify(), measure(): read → encode → group → publish → verify → measure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from coterie import io
from coterie.bound import with_bound
from coterie.config import Config
from coterie.encode import Encoded, encode
from coterie.errors import ConfigError, Problem
from coterie.measures import Measures, measure_boxes
from coterie.measures_release import measure_release
from coterie.per_row import check_request, verify_rule
from coterie.promises import keep_promises, models_of, refuse_impossible, rules_of
from coterie.publish import Published, check_styles, publish
from coterie.release import Release
from coterie.suppress import check_limit, read_mask, star_masked
from coterie.verify import Classes, Verification, verify_table

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.boxes import Grouping
    from coterie.methods import Run
    from coterie.methods._method import Progress
    from coterie.verify_models import Measured

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
    suppress_rows: Any = None,  # noqa: ANN401 - any array of truth values
    suppress_cells: Any = None,  # noqa: ANN401 - column → such an array
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings: Any,  # noqa: ANN401 - Config's fields
) -> Release:
    """Hide every row of a table in a group of at least k rows.

    Args:
        data: A pandas, Polars or PyArrow frame, the path of a file, or "-" for standard input. It is not changed.
        config: A Config, a dict or the path of a TOML file.
        suppress_rows: Row → whether it is suppressed.
        suppress_cells: Quasi-identifier → row → whether the cell is suppressed: a mapping or a frame.
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
    check_request(settled)
    phases = _Phases(progress)
    with phases("read"):
        source = _read(data, settled)
        settled.check_columns(source.table.column_names)
        mask = read_mask(suppress_rows, suppress_cells, count=source.table.num_rows, quasi=settled.quasi)
    with phases("encode"):
        encoded = encode(source.table, settled, mask)
        check_styles(encoded.table.domains, names=source.table.column_names, publish=settled.publish)
        refuse_impossible(encoded, settled, source.table.num_rows)
    run = _run(settled, progress, cancelled)
    run.notes += [mask.note] if mask.note else []
    with phases("group"):
        grouping = _group(encoded, settled, run)
        check_limit(grouping, settled)
        grouping = keep_promises(grouping, encoded, settled, columns=source.table, run=run)
        if settled.refine:
            grouping = _refined(grouping, encoded, settled, run)
            # Local search compares with the whole table; where rows are suppressed, what is published differs from it.
            grouping = keep_promises(grouping, encoded, settled, columns=source.table, run=run)
        cells = {name: flags[encoded.rows] for name, flags in mask.cells.items()}
        grouping = star_masked(grouping, encoded.table, cells)
    with phases("publish"):
        published = publish(source.table, encoded.table, grouping, settled, rows=encoded.rows)
    with phases("verify"):
        verification = _check(published, source.table, settled, encoded=encoded, grouping=grouping)
        if not verification.passed and len(published.kept) > grouping.sizes.sum():
            # Suppressed rows are shown only where they keep every promise; without them the others are what they were.
            hidden = settled.replace(suppressed="remove")
            published = publish(source.table, encoded.table, grouping, hidden, rows=encoded.rows)
            verification = _check(published, source.table, settled, encoded=encoded, grouping=grouping)
        verification.raise_for_failure()
    with phases("measure"):
        measures = _measured(encoded, grouping, published, settled, source.table.num_rows)
        measures = with_bound(measures, encoded.table, k=settled.k, threads=run.threads)
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
        masked=mask.note,
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
        **settings: The fields of `Config`; `quasi` at least, where there is no configuration. `privacy` are further
            promises to check; sensitive columns are measured in any case.
    """
    settled = Config.build(config, **settings)
    if k is FROM_CONFIG:
        k = settled.k if config is not None else None
    table = read_table(data, settled)
    rules = rules_of(settled, columns=table)

    def measured(classes: Classes) -> tuple[Measured, ...]:
        from coterie.verify_models import measure_models

        return measure_models(classes, settled, settled.sensitive)

    return verify_table(
        table,
        quasi=settled.quasi,
        k=k,
        roots=_roots(settled),
        rules=rules,
        measure=measured if settled.sensitive else None,
    )


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


def read_table(data: Any, config: Config) -> pa.Table:  # noqa: ANN401
    """The table that a frame or a file holds, read as the configuration says."""
    return _read(data, config).table


def _read(data: Any, config: Config) -> io.Source:  # noqa: ANN401
    return io.read(data, missing_values=config.missing_values, delimiter=config.delimiter, encoding=config.encoding)


def _roots(config: Config) -> dict[str, str]:
    """Column → what a suppressed cell looks like, where its hierarchy has a root label of its own."""
    trees = {name: hierarchy.tree for name, hierarchy in config.hierarchies.items()}
    return {name: tree.root for name, tree in trees.items() if tree is not None}


def _check(
    published: Published, columns: pa.Table, config: Config, *, encoded: Encoded, grouping: Grouping
) -> Verification:
    """Check what was published, from its cells; people are counted in the original, which alone names them."""
    if grouping.rings is not None:
        rule = verify_rule(published, encoded, grouping.rings, config)
        return verify_table(published.table, quasi=config.quasi, roots=published.roots, rules=[rule])
    rules = rules_of(config, columns=columns, kept=published.kept)
    return verify_table(published.table, quasi=config.quasi, k=config.k, roots=published.roots, rules=rules)


def _measured(encoded: Encoded, grouping: Grouping, published: Published, config: Config, rows: int) -> Measures:
    """Measure the release. Rows that were suppressed from the start count as such."""
    grouping = grouping.published
    labels, codes = grouping.labels, encoded.table.codes
    if len(labels) < rows:
        labels = np.full(rows, -1, dtype=np.int32)
        codes = np.zeros((rows, encoded.table.attributes), dtype=np.int32)
        labels[encoded.rows], codes[encoded.rows] = grouping.labels, encoded.table.codes
    return measure_boxes(
        encoded.table.domains,
        lo=grouping.lo,
        hi=grouping.hi,
        labels=labels,
        k=config.k,
        codes=codes,
        class_of_group=published.class_of_group,
        leaf_counts=config.leaf_counts,
    )


def _run(config: Config, progress: Progress | None, cancelled: Callable[[], bool] | None) -> Run:
    from coterie.methods import Run

    run = Run(seed=config.seed, threads=config.usable_threads, privacy=models_of(config))
    if config.time_limit is not None:
        run.deadline = time.monotonic() + config.time_limit
    if progress is not None:
        run.progress = progress
    if cancelled is not None:
        run.cancelled = cancelled
    return run


def _refined(grouping: Grouping, encoded: Encoded, config: Config, run: Run) -> Grouping:
    """The grouping after local search, which takes boxes that are tight around the rows of each group."""
    from coterie.methods import find_method
    from coterie.refine import keeps, refine

    recoding = find_method(config.method).recoding
    if recoding != "local":
        text = f"local search works on local recoding, but {config.method!r} is {recoding}; leave it out"
        raise ConfigError([Problem("refine", text)])
    allowed = keeps(encoded.table, run.privacy, config.k)
    return refine(encoded.table, grouping, k=config.k, run=run, allowed=allowed)


def _group(encoded: Encoded, config: Config, run: Run) -> Grouping:
    from coterie import kernels
    from coterie.methods import find_method

    grouping = find_method(config.method).run(encoded.table, config.k, config.method_options(), run)
    kernels.compiled()
    return grouping
