"""Verify a release in memory, from its published cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.engines.belongs import count_strangers, refuse_strangers
from coterie.table.recoding import OneByOne
from coterie.verification.cells import TableCells
from coterie.verification.models import model_rule
from coterie.verification.rows import count_pairs, read_boxes, rows_rule
from coterie.verification.verify import Rule, Verification, verify_table

if TYPE_CHECKING:
    from coterie.publishing.publish import PublishedTable
    from coterie.settings.config import Config
    from coterie.table.encode import EncodedTable
    from coterie.table.grouping import Grouping


def check(
    published: PublishedTable, columns: pa.Table, config: Config, *, encoded: EncodedTable, grouping: Grouping
) -> Verification:
    """Verify the published table from its cells; people are counted in the original, which alone names them.

    Raises:
        VerificationError: The rows do not belong to the original.
    """
    read, people = TableCells(published.table), None
    if config.entity is not None:
        people = columns.column(config.entity).take(pa.array(published.kept))
    one_by_one = grouping.counts_for_judge(encoded.table.codes)
    made = verify_table(
        published.table,
        quasi=config.quasi,
        k=config.k if one_by_one is None else None,
        roots=published.roots,
        rules=[model_rule(config) if one_by_one is None else _rule(published, encoded, grouping, one_by_one, config)],
        people=people,
        read=read,
    )
    if made.passed:
        refuse_strangers(count_strangers(columns, published.table, config, kept=published.kept, read=read))
    return made


def _rule(published: PublishedTable, encoded: EncodedTable, grouping: Grouping, rows: OneByOne, config: Config) -> Rule:
    """Return the rule for a table in memory; suppressed rows must be at least k equal rows."""
    at = np.full(encoded.book.all_rows, -1, dtype=np.int64)
    at[published.kept] = np.arange(len(published.kept))
    shown = at[encoded.rows[grouping.labels >= 0]]
    boxes = read_boxes(published.table.take(pa.array(shown[shown >= 0])), encoded.book.values, config)
    others = np.ones(len(published.kept), dtype=np.bool_)
    others[shown[shown >= 0]] = False
    return rows_rule(count_pairs(rows, boxes, config.k), k=config.k, suppressed=np.flatnonzero(others))
