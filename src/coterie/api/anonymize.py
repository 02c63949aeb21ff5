"""anonymize(), verify(), measure(): read → encode → group → publish → verify → measure."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from coterie.arrays import AnyTable, Frame, Lazy
from coterie.engines.choose import checked_on_disk, run_job
from coterie.engines.engine import Job, never
from coterie.engines.request import check_request
from coterie.errors import ConfigError, Problem
from coterie.files.frames import is_pandas
from coterie.files.tables import read_pair, read_source
from coterie.measures.measures import Measures
from coterie.measures.published import measure_tables
from coterie.releases.release import Release
from coterie.settings.config import AnyConfig, Config
from coterie.settings.keywords import Keywords, VerifyKeywords
from coterie.settings.signature import spelled_out
from coterie.verification.duckdb_counts import verify_on_disk
from coterie.verification.verify import Verification, verify_table

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.evaluation.query_workload import Workload
    from coterie.methods._method import Progress

__all__ = ["Release", "anonymize", "measure", "verify"]


class FromConfig(Enum):
    """The default of `verify(k=…)`: take k from the configuration, if given."""

    K = "k"

    def __repr__(self) -> str:
        return "from the configuration"


Masks: TypeAlias = Any
"""a boolean array, or several as columns"""


@spelled_out
def anonymize(
    data: str | os.PathLike[str] | Lazy | Frame,
    *,
    config: AnyConfig = None,
    suppress_rows: Masks = None,
    suppress_cells: Masks = None,
    output: str | os.PathLike[str] | None = None,
    mapping: str | os.PathLike[str] | None = None,
    force: bool = False,
    resume: bool = False,
    keep_index: bool = False,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings: Unpack[Keywords],
) -> Release[Frame]:
    """Anonymize a table so that every row is in a group of at least k rows.

    Args:
        data: A pandas, Polars or PyArrow frame, the path of a file, "-" for standard input, or the address of a table
            in a database such as "sqlite:///people.db#people". It is not modified.
        config: A Config, a dict or the path of a TOML file.
        suppress_rows: Row → whether it is suppressed.
        suppress_cells: Quasi-identifier → row → whether the cell is suppressed: a mapping or a frame.
        output: The path of the release. Required by engines that do not keep it in memory (`engine="blocks"`).
        mapping: The path of the mapping from groups to published values (`release.mapping()`). It contains
            original values.
        force: Overwrite existing files.
        resume: Continue an interrupted run with the same output.
        keep_index: Keep the index of a pandas frame in `release.frame`. By default its rows are numbered
            from 0, since an index often contains identifiers. Written files never have the index.
        progress: Called now and then with (step, done, total).
        cancelled: Called now and then; return True to stop.
        **settings: The fields of `Config`, which override those of `config`: `quasi=["age", "zip"]`, `k=10`, ….

    Returns:
        The release, verified from its published values. If it was made in blocks, it is in the output: whatever needs
        its rows then uses a sample of whole groups (`Release.complete` is false).

    Raises:
        ConfigError: The request is invalid; reports all problems at once.
        DataError: The data do not match the configuration.
        InfeasibleError: The request is infeasible for this table.
        VerificationError: The published table did not pass verification; there is no release.
    """
    settled = Config.build(config, **settings)
    check_request(settled)
    if keep_index and not is_pandas(data):
        raise ConfigError([Problem("keep_index", "only a pandas frame has an index to keep; leave it out")])
    job = Job(
        settled,
        output,
        resume=resume,
        force=force,
        progress=progress,
        cancelled=cancelled or never,
        mapping=mapping,
        suppress_rows=suppress_rows,
        suppress_cells=suppress_cells,
    )
    release = run_job(data, job)
    return replace(release, keep_index=True) if keep_index else release


@spelled_out
def verify(
    data: AnyTable,
    *,
    config: AnyConfig = None,
    k: int | FromConfig | None = FromConfig.K,
    **settings: Unpack[VerifyKeywords],
) -> Verification:
    """Verify a published table from its values alone.

    Args:
        data: A frame, a path or "-".
        config: The configuration of the release; only its columns and guarantees are used.
        k: The k to verify; None only measures it. By default the configuration's, if given.
        **settings: The fields of `Config`; at least `quasi` if there is no configuration. `privacy` lists further
            guarantees to verify; sensitive attributes are always measured.
    """
    settled = Config.build(config, **settings).for_release()
    if k is FromConfig.K:
        k = settled.k if config is not None else None
    if settled.entity is not None and k != settled.k:
        # People are counted by the same k as rows, and by none where rows are only counted.
        settled = settled.replace(entity=None) if k is None else settled.replace(k=k)
    if checked_on_disk(data, settled):
        return verify_on_disk(data, settled, k=k, roots=_roots(settled))
    table = read_table(data, settled)
    return verify_table(
        table,
        quasi=settled.quasi,
        k=k,
        roots=_roots(settled),
        config=settled,
        measured=True,
        people=table.column(settled.entity) if settled.entity in table.column_names else None,
    )


@spelled_out
def measure(
    original: AnyTable,
    published: AnyTable,
    *,
    config: AnyConfig = None,
    suppress_rows: Masks = None,
    suppress_cells: Masks = None,
    queries: int | Workload | None = None,
    query_file: str | os.PathLike[str] | None = None,
    target: str | None = None,
    **settings: Unpack[Keywords],
) -> Measures:
    """Measure the information loss of a published table against its original.

    Args:
        original: The table that the release was made from: a frame, a path or "-".
        published: The release, in the same row order.
        config: The configuration of the release.
        suppress_rows: The mask of rows that the release was made with: its figures come out only with this.
        suppress_cells: The masks of cells that it was made with.
        queries: Also measure the error of this many random COUNT queries, or of a `coterie.Workload`.
        query_file: Also measure the error of your own queries. `coterie.utility` gives the individual answers.
        target: Also measure how well a model trained on the release predicts this column; needs the `ml` extra.
        **settings: The fields of `Config`.
    """
    settled = Config.build(config, **settings)
    before, after = read_pair(original, published, settled)
    masks = {"suppress_rows": suppress_rows, "suppress_cells": suppress_cells}
    measures = measure_tables(before, after, settled, **masks)
    if queries is None and query_file is None and target is None:
        return measures
    from coterie.api.utility import UtilityRequest, utility_of
    from coterie.evaluation.before_after import BeforeAfter

    request = UtilityRequest(queries=queries, query_file=query_file, target=target)
    return measures.with_values(**utility_of(BeforeAfter(before, after, settled), request).measures())


def read_table(data: AnyTable, config: Config) -> pa.Table:
    """Read a frame or a file according to the configuration."""
    return read_source(data, config).table


def _roots(config: Config) -> dict[str, str]:
    """Return column → the text of a suppressed cell, if its hierarchy has its own root label."""
    trees = {name: hierarchy.tree for name, hierarchy in config.hierarchies.items()}
    return {name: tree.root for name, tree in trees.items() if tree is not None}
