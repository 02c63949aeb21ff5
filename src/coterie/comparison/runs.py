"""The runs of a comparison: each makes and measures a complete, verified release."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from coterie.engines.memory.run import make_release
from coterie.engines.memory.source import PreparedTable
from coterie.engines.phases import Phases
from coterie.engines.steps import start_run
from coterie.errors import Cancelled, ConfigError, CoterieError
from coterie.releases.bound import guided_bound

if TYPE_CHECKING:
    from coterie.api.compare import PlannedRun
    from coterie.comparison.comparison import ComparisonRow
    from coterie.evaluation.queries import Query
    from coterie.methods._method import Progress
    from coterie.releases.release import Release
    from coterie.settings.config import Config
    from coterie.table.encode import EncodedTable

# Enough rows to compile or load every kernel of a method before it is timed.
WARM_ROWS = 400
NO_MEMORY = "Not enough memory for this method on this table."


class Runner:
    """Executes the runs of a comparison on one prepared table."""

    def __init__(
        self,
        prepared: PreparedTable,
        config: Config,
        *,
        queries: int,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._prepared = prepared
        self._config = config
        self._queries = queries
        self._progress = progress
        self._cancelled = cancelled
        self._bounds: dict[int, float] = {}
        self._warm: set[str] = set()
        self._took: dict[str, list[float]] = {}
        self._all_rows: EncodedTable | None = None
        self._drawn: list[Query] = []

    def rows(self, plan: Sequence[PlannedRun], *, done: int = 0) -> Iterator[tuple[PlannedRun, ComparisonRow]]:
        """Yield each run of the plan with its row. `done` runs are not repeated."""
        if not plan:
            return
        table = self._prepared.encoded.table
        _ = table.distinct, table.costs  # computed before any method is timed, since all of them need it
        for at, each in enumerate(plan):
            self._tell(each, plan[at:], done=done + at, total=done + len(plan))
            started = time.perf_counter()
            row = self._row(each)
            self._took.setdefault(each.method, []).append(time.perf_counter() - started)
            yield each, row

    def _tell(self, now: PlannedRun, left: Sequence[PlannedRun], *, done: int, total: int) -> None:
        if self._cancelled is not None and self._cancelled():
            raise Cancelled("The comparison was stopped.")
        if self._progress is not None:
            self._progress(f"compare: {now.label}{_left(self._took, left)}", done, total)

    def _row(self, planned: PlannedRun) -> ComparisonRow:
        try:
            return self._released(planned)
        except Cancelled:
            raise
        except CoterieError as error:
            return planned.row(status="refused", reason=_reason(error))
        except MemoryError:
            return planned.row(status="refused", reason=NO_MEMORY)

    def _released(self, planned: PlannedRun) -> ComparisonRow:
        config = planned.config
        prepared = self._prepared.under(config)
        self._warm_up(planned, prepared)
        phases, cpu = Phases(), time.process_time()
        release = make_release(prepared, config, start_run(config, None, self._cancelled), phases=phases)
        cpu = time.process_time() - cpu
        found, after = release.measures, release.risk_after
        figures: dict[str, Any] = {name: found[name] for name in ("gcp", "groups", "smallest", "largest", "suppressed")}
        if not release.by_rows:
            bound = self._bound(config)
            figures["bound"] = bound / max(prepared.encoded.table.rows * prepared.encoded.table.attributes, 1)
            # With a bound of 0 the ratio is 1 if nothing is lost, and undefined otherwise.
            figures["loss_over_bound"] = found["ncp"] / bound if bound > 0 else 1.0 if found["ncp"] == 0 else None
        if self._queries:
            figures |= self._query_errors(release)
        return planned.row(
            risk_highest=after.prosecutor.highest,
            risk_average=after.prosecutor.average,
            risk_above=after.prosecutor.share_above,
            seconds=phases.seconds["group"],
            seconds_in_all=sum(phases.seconds.values()),
            cpu_seconds=cpu,
            **figures,
        )

    def _bound(self, config: Config) -> float:
        """Return the lower bound for a k, computed once for all methods."""
        if config.k not in self._bounds:
            table = self._prepared.encoded.table
            self._bounds[config.k] = guided_bound(
                table,
                config.k,
                threads=config.usable_threads,
                effort=config.bound_effort,
                cancelled=self._cancelled or (lambda: False),
            )
        return self._bounds[config.k]

    def _query_errors(self, release: Release) -> dict[str, float | None]:
        from coterie.evaluation.before_after import BeforeAfter
        from coterie.evaluation.queries import answer_queries
        from coterie.evaluation.query_workload import Workload, draw_queries

        tables = BeforeAfter.of_release(release)
        # The original is the same for all runs: it is encoded once, and the same queries are put to all.
        if self._all_rows is None:
            whole = len(release.rows) == release.source.table.num_rows and not release.masked
            self._all_rows = self._prepared.encoded if whole else tables.encoded
        tables.__dict__["encoded"] = self._all_rows
        if not self._drawn:
            self._drawn = draw_queries(tables, Workload(count=self._queries, seed=self._config.seed))
        summary = answer_queries(tables, self._drawn).summary.to_dict()
        return {"query_error": summary["median"], "query_error_p95": summary["p95"]}

    def _warm_up(self, planned: PlannedRun, prepared: PreparedTable) -> None:
        """Run a method on a few rows, so that compiling and loading do not count towards its time."""
        if planned.method in self._warm:
            return
        self._warm.add(planned.method)
        import numpy as np

        from coterie.methods import Run, find_method
        from coterie.table.table import Table

        table = prepared.encoded.table
        few = Table(np.ascontiguousarray(table.codes[:WARM_ROWS]), table.domains, leaf_counts=table.leaf_counts)
        config = planned.config
        try:
            find_method(config.method).run(few, min(config.k, few.rows), config.method_options(), Run(seed=0))
        except CoterieError:
            return  # the run itself says why


def _reason(error: CoterieError) -> str:
    problems = error.problems if isinstance(error, ConfigError) else []
    return "; ".join(problem.text for problem in problems) or str(error)


def _left(took: dict[str, list[float]], plan: Sequence[PlannedRun]) -> str:
    """Estimate the time of the remaining runs from each method's previous runs, or from the average of all."""
    every = [seconds for times in took.values() for seconds in times]
    if not every:
        return ""
    usual = sum(every) / len(every)
    total = sum(sum(took[each.method]) / len(took[each.method]) if each.method in took else usual for each in plan)
    return f", about {duration(total)} left"


def duration(seconds: float) -> str:
    """Format a duration for people."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
