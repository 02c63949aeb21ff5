"""Options for groups that violate a model, with their costs and gains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.arrays import Bool, Float64, Int32, Int64
from coterie.grouping.box_index import build_box_index
from coterie.grouping.repair.state import RepairState
from coterie.privacy import AlphaK, LDiversity
from coterie.privacy.histogram import Groups, combine

# How many of the nearest groups are tried, how many of the nearest helpful rows, and how many exchanges are judged.
NEAREST, LOOK, EXCHANGES = 8, 8, 8
# An exchange must reduce a shortfall by at least this much.
PROGRESS = 1e-9


class Choices(NamedTuple):
    """Options, each of which changes two groups."""

    first: Int32
    """the group that violates a model"""
    second: Int32
    """the other group"""
    comes: Int32
    """the row that moves from the second to the first group; −1 for a merge"""
    goes: Int32
    """the row that moves from the first to the second group, or −1"""
    rise: Float64
    """the increase of the total loss"""
    gain: Float64
    """the reduction of the shortfall"""

    def take(self, at: Int64 | Bool) -> Choices:
        """Return some of the options."""
        return Choices(*(part[at] for part in self))  # type: ignore[arg-type]


def merges(state: RepairState, asked: Int32) -> Choices:
    """Pair each given group with each of its nearest groups."""
    from coterie.kernels.repair import nearest_groups

    costs, sizes = state.aim.table.costs, state.counted.sizes
    numbers = np.arange(state.groups, dtype=np.int32)
    index = build_box_index(costs, lo=state.lo, hi=state.hi, sizes=sizes, lowest=numbers)
    partners, rises = nearest_groups(costs, index.nodes, index.slot[asked], min(NEAREST, state.groups - 1))
    found = partners >= 0
    first = np.repeat(asked, found.sum(axis=1))
    second = partners[found]
    none = np.full(len(first), -1, dtype=np.int32)
    made = np.arange(len(first))
    parts = np.concatenate([made, made]), np.concatenate([first, second])
    after = state.aim.assess(_made(state, parts, None))
    shortfall = state.assessment.shortfall
    gain = shortfall[first] + shortfall[second] - after.shortfall
    return Choices(first, second, none, none, rises[found], gain)


def _made(state: RepairState, parts: tuple[Int64, Int64], changes: tuple[Int64, Int32, Int64] | None) -> Groups:
    """Count hypothetical groups: unions of groups, and groups with rows added (or removed: by −1)."""
    made, group = parts
    sizes = np.bincount(made, weights=state.counted.sizes[group]).astype(np.int64)
    empty = np.zeros(0, dtype=np.int64)
    if changes is not None:
        np.add.at(sizes, changes[0], changes[2])
    columns = {}
    for j, name in enumerate(state.aim.names):
        by_value = (empty, empty, empty)
        if changes is not None:
            by_value = changes[0], state.aim.values[j][changes[1]].astype(np.int64), changes[2]
        columns[name] = combine(state.counted.columns[name], parts, by_value)
    # At least as many as match either part; their sum is an estimate until the next count.
    matches = {
        key: np.bincount(made, weights=old[group]).astype(np.int64) for key, old in state.counted.matches.items()
    }
    return Groups(sizes, columns, matches)


def exchanges(state: RepairState, asked: Int32) -> Choices:
    """Return rows that could move into the given groups, alone or in exchange, if these lack diversity."""
    from coterie.kernels.repair import Groups as Current
    from coterie.kernels.repair import Limits
    from coterie.kernels.repair import exchanges as search

    asked, rules = _lacking(state, asked)
    empty = np.zeros(0, dtype=np.int32)
    # A group that gives a row away may match fewer rows of a population.
    if not len(asked) or state.aim.mapped:
        return Choices(empty, empty, empty, empty, np.zeros(0), np.zeros(0))
    aim = state.aim
    spans = max(domain.size for domain in aim.table.sensitive)
    groups = Current(
        state.labels, state.lo, state.hi, state.counted.sizes, state.cost, *state.members, state.assessment.holds
    )
    limits = Limits(aim.k, spans, LOOK, EXCHANGES)
    options, rises = search(aim.index.nodes, aim.table.costs, aim.table.codes, groups, aim.values, asked, rules, limits)
    found = options[:, :, 0] >= 0
    first = np.repeat(asked, found.sum(axis=1))
    comes, goes = options[found].T
    choices = Choices(first, state.labels[comes], comes, goes, rises[found], np.zeros(len(first)))
    return _judged(state, choices)


def _judged(state: RepairState, choices: Choices) -> Choices:
    """Return the exchanges that do not harm the second group, with their gains for the first."""
    mine = 2 * np.arange(len(choices.first))
    theirs = mine + 1
    swaps = np.flatnonzero(choices.goes >= 0)
    parts = np.concatenate([mine, theirs]), np.concatenate([choices.first, choices.second])
    one, swapped = np.ones(len(mine), dtype=np.int64), np.ones(len(swaps), dtype=np.int64)
    changes = (
        np.concatenate([mine, theirs, mine[swaps], theirs[swaps]]),
        np.concatenate([choices.comes, choices.comes, choices.goes[swaps], choices.goes[swaps]]),
        np.concatenate([one, -one, -swapped, swapped]),
    )
    after = state.aim.assess(_made(state, parts, changes))
    gain = state.assessment.shortfall[choices.first] - after.shortfall[mine]
    kept = after.holds[theirs] & (gain > PROGRESS)
    return choices._replace(gain=gain).take(kept)


def _lacking(state: RepairState, asked: Int32) -> tuple[Int32, Int32]:
    """Return the given groups that lack diversity, and for each (column, needed values) in kernel form."""
    from coterie.kernels.repair import ABSENT, RARE

    rules = np.full((state.groups, 2), -1, dtype=np.int32)
    for model in state.aim.models:
        if isinstance(model, LDiversity | AlphaK):
            need = ABSENT if isinstance(model, LDiversity) and model.kind == "distinct" else RARE
            for column in model.columns(state.aim.names):
                fails = ~model.holds(state.counted, column) & (rules[:, 0] < 0)
                rules[fails] = state.aim.names.index(str(column)), need
    asked = asked[rules[asked, 0] >= 0]
    return asked, rules[asked]
