"""One block of a table: grouped, repaired, generalised and measured by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from coterie.errors import ConfigError, InfeasibleError, Problem
from coterie.measures import AttributeMeasures, ClassSizes, Measures, losses_of, measure_boxes
from coterie.promises import models_of
from coterie.publish import recode
from coterie.publish_labels import Labels
from coterie.table import Table
from coterie.tree import Float64, Int32

if TYPE_CHECKING:
    from coterie.boxes import Grouping
    from coterie.methods import Run
    from coterie.scale_plan import Plan

_MEANS = ("ncp", "changed", "distortion", "height_distortion", "height_loss")


@dataclass(frozen=True, eq=False)
class BlockSums:
    """What a block lost, as sums that can be added up over blocks."""

    rows: int
    suppressed: int
    starred: int
    """rows of groups that are published as nothing but `*`"""
    fully_generalised: int
    outside: int
    losses: Float64
    """[attribute, measure] summed over rows"""
    unchanged: npt.NDArray[np.bool_]
    """attribute → whether every row is published with its own value"""

    @classmethod
    def none(cls, attributes: int) -> BlockSums:
        """The sums of no rows."""
        return cls(0, 0, 0, 0, 0, np.zeros((attributes, len(_MEANS))), np.ones(attributes, dtype=np.bool_))

    def __add__(self, other: BlockSums) -> BlockSums:
        return BlockSums(
            self.rows + other.rows,
            self.suppressed + other.suppressed,
            self.starred + other.starred,
            self.fully_generalised + other.fully_generalised,
            self.outside + other.outside,
            self.losses + other.losses,
            self.unchanged & other.unchanged,
        )

    def to_dict(self) -> dict[str, object]:
        """Plain values, from which `from_dict` makes the same sums, to the last bit."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return (
            values
            | {"losses": [[x.hex() for x in row] for row in self.losses.tolist()]}
            | {"unchanged": self.unchanged.tolist()}
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> BlockSums:
        """The sums that `to_dict` described."""
        plain = dict(values)
        rows: Sequence[Sequence[str]] = plain.pop("losses")  # type: ignore[assignment]
        losses = np.array([[float.fromhex(x) for x in row] for row in rows], dtype=np.float64)
        unchanged = np.array(plain.pop("unchanged"), dtype=np.bool_)
        counts: dict[str, int] = plain  # type: ignore[assignment]
        return cls(**counts, losses=losses.reshape(len(unchanged), len(_MEANS)), unchanged=unchanged)


@dataclass(frozen=True, eq=False)
class BlockResult:
    """A block, grouped and generalised."""

    group: Int32
    """row of the block → group, −1 for a suppressed row"""
    lo: Int32
    hi: Int32
    labels: Mapping[str, Labels]
    """quasi-identifier → its published values"""
    sums: BlockSums
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, pa.DictionaryArray]:
        """Published column → its cells; those of suppressed rows are what stands for any value."""
        made = {}
        for labels in self.labels.values():
            index = pa.array(np.append(labels.of_group, np.int32(labels.suppressed))[self.group])
            for name, values in zip(labels.names, labels.values, strict=True):
                made[name] = pa.DictionaryArray.from_arrays(index, values)
        return made


def anonymize_block(
    codes: Int32,
    sensitive: Int32,
    plan: Plan,
    block: int,
    *,
    threads: int = 1,
    cancelled: Callable[[], bool] | None = None,
) -> BlockResult:
    """Group and generalise the rows of one block.

    Args:
        codes: [n, d] the codes of its rows, in the order of their numbers.
        sensitive: [n, s] their sensitive codes.
        plan: The plan.
        block: Which block this is.
        threads: Threads to use; the result does not depend on them.
        cancelled: Asked now and then whether to stop.
    """
    from coterie.methods import Run

    config = plan.book.config
    if len(codes) != plan.sizes[block]:
        raise ValueError(f"block {block} has {plan.sizes[block]} rows by the plan, but {len(codes)} were given")
    run = Run(seed=plan.seed(block), threads=threads, privacy=models_of(config))
    if cancelled is not None:
        run.cancelled = cancelled
    table = _table(codes, sensitive, plan)
    grouping = _group(table, plan, run)
    labels, _ = recode(table, grouping, config)
    return BlockResult(
        grouping.labels, grouping.lo, grouping.hi, labels, _sums(table, grouping, labels, plan), tuple(run.notes)
    )


def _table(codes: Int32, sensitive: Int32, plan: Plan) -> Table:
    book = plan.book
    populations = None
    if book.config.privacy:
        from coterie.privacy_population import Populations

        populations = Populations(book.config)
    return Table(
        np.ascontiguousarray(codes),
        book.domains,
        np.ascontiguousarray(sensitive),
        book.sensitive,
        book.config.leaf_counts,
        populations,
        tuple(book.totals[domain.name] for domain in book.sensitive),
    )


def _group(table: Table, plan: Plan, run: Run) -> Grouping:
    """Rows → groups that keep every promise, by the configured method."""
    from coterie import kernels
    from coterie.methods import find_method
    from coterie.refine import keeps, refine
    from coterie.repair import repair

    config, models = plan.book.config, run.privacy
    grouping = find_method(config.method).run(table, config.k, config.method_options(), run)
    if models and grouping.suppressed.any():
        # What groups are compared with would be the rows that are left, which nobody knows before the last block.
        text = "a method that suppresses rows cannot keep promises beyond k block by block; use engine memory"
        raise ConfigError([Problem("privacy", text)])
    try:
        grouping = repair(table, grouping, models, k=config.k, run=run) if models else grouping
        if config.refine:
            allowed = keeps(table, models, config.k)
            grouping = refine(table, grouping, k=config.k, run=run, allowed=allowed)
            grouping = repair(table, grouping, models, k=config.k, run=run) if models else grouping
    except InfeasibleError as error:
        if plan.blocks == 1:
            raise
        hint = "Give more memory or a larger block_rows, or use engine memory."
        raise InfeasibleError(
            f"In one of {plan.blocks:,} blocks: {error.message}",
            wanted=error.wanted,
            possible=error.possible,
            hint=hint,
        ) from None
    kernels.compiled()
    return grouping


def _sums(table: Table, grouping: Grouping, labels: Mapping[str, Labels], plan: Plan) -> BlockSums:
    config = plan.book.config
    found = measure_boxes(
        table.domains,
        lo=grouping.lo,
        hi=grouping.hi,
        labels=grouping.labels,
        k=config.k,
        codes=table.codes,
        class_of_group=np.arange(grouping.groups, dtype=np.int32),
        leaf_counts=config.leaf_counts,
    )
    losses = [[getattr(each, name) * table.rows for name in _MEANS] for each in found.attributes.values()]
    starred = np.ones(grouping.groups, dtype=np.bool_)
    for each in labels.values():
        starred &= each.of_group == each.suppressed
    return BlockSums(
        rows=table.rows,
        suppressed=int(found["suppressed"]),
        starred=int(grouping.sizes[starred].sum()),
        fully_generalised=int(found["fully_generalised"]),
        outside=int(found["outside"]),
        losses=np.array(losses, dtype=np.float64).reshape(len(table.domains), len(_MEANS)),
        unchanged=np.array([labels[domain.name].unchanged for domain in table.domains], dtype=np.bool_),
    )


def with_suppressed(sums: BlockSums, rows: int) -> BlockSums:
    """The sums with rows that were suppressed from the start, each of which loses everything."""
    return replace(
        sums,
        rows=sums.rows + rows,
        suppressed=sums.suppressed + rows,
        fully_generalised=sums.fully_generalised + rows,
        losses=sums.losses + rows,
    )


def measures_of(sums: BlockSums, plan: Plan, *, classes: ClassSizes) -> Measures:
    """The measures of the whole release.

    Args:
        sums: Those of all blocks, added up in the order of their numbers, suppressed rows included.
        plan: The plan.
        classes: The sizes of all classes of rows that are published alike, suppressed rows left out.
    """
    rows = max(sums.rows, 1)
    attributes = [
        AttributeMeasures(
            name=domain.name,
            weight=domain.weight,
            **{name: float(sums.losses[at, j] / rows) for j, name in enumerate(_MEANS)},
        )
        for at, domain in enumerate(plan.book.domains)
    ]
    sizes = classes.measures(rows=sums.rows, suppressed=sums.suppressed, k=plan.book.config.k)
    values = {**losses_of(attributes, sums.rows), **sizes}
    values |= {"fully_generalised": sums.fully_generalised, "outside": sums.outside}
    return Measures(values, attributes)
