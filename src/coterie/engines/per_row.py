"""Releases whose rows are published one by one: what cannot be asked of them, and how they are verified."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Int64
from coterie.errors import ConfigError, Problem
from coterie.verification.rows import count_rows, read_boxes, rows_rule

if TYPE_CHECKING:
    from coterie.publishing.publish import PublishedTable
    from coterie.settings.config import Config
    from coterie.table.encode import EncodedTable
    from coterie.table.rings import Rings
    from coterie.verification.verify import Rule


def check_request(config: Config) -> None:
    """Raise a ConfigError if the method publishes rows one by one and something is asked for that speaks of groups."""
    problems = [
        Problem(f"publish.{column}", f"there is no group to take a {style} of; use interval or bounds")
        for column, style in config.publish.items()
        if style in ("mean", "median")
    ]
    if config.privacy:
        problems.append(Problem("privacy", "promises beyond k-anonymity need groups; choose another method"))
    if config.entity is not None:
        problems.append(Problem("entity", "people can be counted in groups only; choose another method"))
    if problems and by_rows(config):
        told = [Problem(path, f"method {config.method} publishes rows one by one: {text}") for path, text in problems]
        raise ConfigError(told)


def by_rows(config: Config) -> bool:
    """Whether the method publishes rows one by one."""
    from coterie.methods import find_method

    return find_method(config.method).recoding == "per-row"


def advice(config: Config) -> str:
    """What to tell someone who looks for groups in a release whose rows were published one by one; "" otherwise."""
    from coterie.settings.registry import DEFAULT_METHOD

    if config.method == DEFAULT_METHOD:
        return ""  # spares `verify` the import of the methods
    if not by_rows(config):
        return ""
    return (
        f"Method {config.method} publishes rows one by one: groups of equal rows are not its guarantee, which was "
        "checked when the release was made and cannot be seen in the file alone."
    )


def verify_rule(published: PublishedTable, encoded: EncodedTable, rings: Rings, config: Config) -> Rule:
    """The promise of rings as a rule, counted from the cells of the published table."""
    positions = int(max(published.kept.max(initial=-1), encoded.rows.max(initial=-1))) + 1
    at = np.full(positions, -1, dtype=np.int64)
    at[published.kept] = np.arange(len(published.kept))
    published_row = at[encoded.rows]
    read = read_boxes(published.table, {domain.name: domain.values for domain in encoded.table.domains}, config)
    shown = published_row[row_in_slot(rings)]
    # What is not there holds nothing.
    there = shown >= 0
    lo = np.full(rings.lo.shape, 1, dtype=np.int32)
    hi = np.zeros(rings.hi.shape, dtype=np.int32)
    lo[there], hi[there] = read[0][shown[there]], read[1][shown[there]]
    counts = count_rows(
        encoded.table.codes[rings.order], lo=lo, hi=hi, start=rings.start, back=steps_back(rings), k=config.k
    )
    in_ring = np.zeros(len(published.kept), dtype=np.bool_)
    in_ring[shown[shown >= 0]] = True
    return rows_rule(counts, k=config.k, suppressed=np.flatnonzero(~in_ring))


def row_in_slot(rings: Rings) -> Int64:
    """Slot → the row that is published in it."""
    rows = np.zeros(len(rings.order), dtype=np.int64)
    rows[rings.slot_of_row[rings.order]] = rings.order
    return rows


def steps_back(rings: Rings) -> Int64:
    """Place → how many places before it stands the slot of its row, around its ring; −1 if that is in another ring."""
    sizes = np.diff(rings.start)
    first, size = np.repeat(rings.start[:-1], sizes), np.repeat(sizes, sizes)
    slot = rings.slot_of_row[rings.order].astype(np.int64)
    within = (first <= slot) & (slot < first + size)
    return np.where(within, (np.arange(len(slot)) - slot) % size, -1)
