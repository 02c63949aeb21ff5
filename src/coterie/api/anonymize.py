"""anonymize(), verify(), measure(): read → encode → group → publish → verify → measure."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from coterie.arrays import AnyTable
from coterie.engines.choose import checked_on_disk, choose_engine, run_stored
from coterie.engines.memory.run import make_release, prepare
from coterie.engines.phases import Phases
from coterie.engines.request import check_request
from coterie.engines.steps import start_run
from coterie.errors import ConfigError, Problem
from coterie.files.destinations import check_outputs
from coterie.files.frames import is_pandas
from coterie.files.tables import read_pair, read_source
from coterie.grouping.promises import rules_of
from coterie.measures.measures import Measures
from coterie.measures.published import measure_tables
from coterie.publishing.mapping import write_mapping
from coterie.releases.release import Release
from coterie.settings.config import AnyConfig, Config
from coterie.settings.keywords import Keywords, VerifyKeywords
from coterie.settings.signature import spelled_out
from coterie.verification.duckdb_counts import verify_on_disk
from coterie.verification.verify import Classes, Verification, verify_table

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.evaluation.query_workload import Workload
    from coterie.methods._method import Progress
    from coterie.verification.models import Measured

__all__ = ["Release", "anonymize", "measure", "verify"]


class FromConfig(Enum):
    """`verify(k=…)` left out: take k from the configuration, if one was given."""

    K = "k"

    def __repr__(self) -> str:
        return "from the configuration"


Table: TypeAlias = Any
"""a frame that Narwhals takes, or a path"""
Masks: TypeAlias = Any
"""an array of truth values, or columns of such"""


@spelled_out
def anonymize(
    data: Table,
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
) -> Release:
    """Hide every row of a table in a group of at least k rows.

    Args:
        data: A pandas, Polars or PyArrow frame, the path of a file, "-" for standard input, or the address of a table
            in a database such as "sqlite:///people.db#people". It is not changed.
        config: A Config, a dict or the path of a TOML file.
        suppress_rows: Row → whether it is suppressed.
        suppress_cells: Quasi-identifier → row → whether the cell is suppressed: a mapping or a frame.
        output: Where to write the release. Needed by engines that never hold it whole (`engine="blocks"`).
        mapping: Where to write what each group is published as (`release.mapping()`), beside the output. It holds
            original values.
        force: Overwrite a file that is there.
        resume: Go on with a run to the same output that was stopped.
        keep_index: Give `release.frame` the index of the pandas frame that came in. By default its rows are numbered
            from 0, since an index often holds identifiers. Written files never have the index.
        progress: Told (step, done, total) now and then.
        cancelled: Asked now and then whether to stop.
        **settings: The fields of `Config`, which go before those of `config`: `quasi=["age", "zip"]`, `k=10`, ….

    Returns:
        The release, verified from its published values. Where it was made in blocks, it lies in the output: what looks
        at its rows then looks at a sample of whole groups (`Release.complete` is false).

    Raises:
        ConfigError: The request is wrong; all problems at once.
        DataError: The data are not what the configuration says.
        InfeasibleError: The table cannot give what was asked for.
        VerificationError: The published table did not pass; there is no release.
    """
    settled = Config.build(config, **settings)
    check_request(settled)
    if keep_index and not is_pandas(data):
        raise ConfigError([Problem("keep_index", "only a pandas frame has an index to keep; leave it out")])
    masked = suppress_rows is not None or suppress_cells is not None
    engine = choose_engine(data, settled, output=output, masked=masked).engine
    if engine != "memory":
        from coterie.engines.job import make_job

        assert output is not None, "engines that need an output have asked for it"
        job = make_job(
            settled, output, resume=resume, force=force, progress=progress, cancelled=cancelled, mapping=mapping
        )
        return run_stored(engine, data, job)
    if resume:
        raise ConfigError([Problem("resume", "a run in memory leaves nothing to go on with; name an engine")])
    check_outputs(data, settled, output=output, mapping=mapping, force=force)
    phases = Phases(progress)
    prepared = prepare(data, settled, suppress_rows=suppress_rows, suppress_cells=suppress_cells, phases=phases)
    release = make_release(prepared, settled, start_run(settled, progress, cancelled), phases=phases)
    if keep_index:
        release = replace(release, keep_index=True)
    if output is not None:
        release.write(output, force=force)
    if mapping is not None:
        write_mapping(release, mapping, force=force)
    return release


@spelled_out
def verify(
    data: AnyTable,
    *,
    config: AnyConfig = None,
    k: int | FromConfig | None = FromConfig.K,
    **settings: Unpack[VerifyKeywords],
) -> Verification:
    """Check a published table, from its values alone.

    Args:
        data: A frame, a path or "-".
        config: The configuration it was published with; only its columns and promises are used.
        k: The promise to check; None only counts. Left out, it is the configuration's, if one is given.
        **settings: The fields of `Config`; `quasi` at least, where there is no configuration. `privacy` are further
            promises to check; sensitive columns are measured in any case.
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
    rules = rules_of(settled, columns=table)

    def measured(classes: Classes) -> tuple[Measured, ...]:
        from coterie.verification.models import measure_models

        return measure_models(classes, settled, settled.sensitive)

    return verify_table(
        table,
        quasi=settled.quasi,
        k=k,
        roots=_roots(settled),
        rules=rules,
        measure=measured if settled.sensitive else None,
    )


@spelled_out
def measure(
    original: AnyTable,
    published: AnyTable,
    *,
    config: AnyConfig = None,
    queries: int | Workload | None = None,
    query_file: str | os.PathLike[str] | None = None,
    target: str | None = None,
    **settings: Unpack[Keywords],
) -> Measures:
    """Measure what a published table lost against its original.

    Args:
        original: The table that the release was made from: a frame, a path or "-".
        published: The release, in the same row order.
        config: The configuration it was published with.
        queries: Also measure the error of so many random COUNT queries, or of a `coterie.Workload`.
        query_file: Also measure the error of own queries. `coterie.utility` has the answers one by one.
        target: Also measure how well this column can be learnt from the release; needs the extra `ml`.
        **settings: The fields of `Config`.
    """
    settled = Config.build(config, **settings)
    before, after = read_pair(original, published, settled)
    measures = measure_tables(before, after, settled)
    if queries is None and query_file is None and target is None:
        return measures
    from coterie.api.utility import UtilityRequest, utility_of
    from coterie.evaluation.before_after import BeforeAfter

    request = UtilityRequest(queries=queries, query_file=query_file, target=target)
    return measures.with_values(**utility_of(BeforeAfter(before, after, settled), request).measures())


def read_table(data: AnyTable, config: Config) -> pa.Table:
    """The table that a frame or a file holds, read as the configuration says."""
    return read_source(data, config).table


def _roots(config: Config) -> dict[str, str]:
    """Column → what a suppressed cell looks like, where its hierarchy has a root label of its own."""
    trees = {name: hierarchy.tree for name, hierarchy in config.hierarchies.items()}
    return {name: tree.root for name, tree in trees.items() if tree is not None}
