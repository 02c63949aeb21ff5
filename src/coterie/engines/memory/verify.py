"""Verify a release in memory, from its published cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.engines.belongs import count_strangers, refuse_strangers
from coterie.table.recoding import OneByOne
from coterie.verification.cells import TableCells
from coterie.verification.rows import count_pairs, read_boxes, rows_check
from coterie.verification.verify import Check, Verification, verify_table

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
        config=config if one_by_one is None else None,
        people=people,
        read=read,
    )
    if one_by_one is not None:
        made = replace(made, checks=(_rows_check(made, published, encoded, grouping, one_by_one, config),))
    if made.passed:
        refuse_strangers(count_strangers(columns, published.table, config, kept=published.kept, read=read))
    return made


def _rows_check(
    made: Verification,
    published: PublishedTable,
    encoded: EncodedTable,
    grouping: Grouping,
    rows: OneByOne,
    config: Config,
) -> Check:
    """Check rows that are published one by one; suppressed rows must be at least k equal rows."""
    at = np.full(encoded.book.all_rows, -1, dtype=np.int64)
    at[published.kept] = np.arange(len(published.kept))
    shown = at[encoded.rows[grouping.labels >= 0]]
    boxes = read_boxes(published.table.take(pa.array(shown[shown >= 0])), encoded.book.values, config)
    others = np.ones(len(published.kept), dtype=np.bool_)
    others[shown[shown >= 0]] = False
    alike = made.sizes[made.class_of_row[others]]
    return rows_check(count_pairs(rows, boxes, config.k), k=config.k, alike=int(alike.min()) if len(alike) else None)
