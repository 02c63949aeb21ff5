"""Kernels of Incognito: frequency sets of packed rows, rolled up from node to node of a lattice of levels.

A generalized value is identified by the smallest code it covers, so one table `rep[level, code]` leads from any
lower level to any higher one. The codes of a row are packed into a few 64-bit words. A frequency set is an array of
distinct words with row counts.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, kernel, part

# Positions of attributes in the words, and their levels: `rep[start[j] + level * width[j] + code]`.
#   mask: before it is shifted
Packing = namedtuple("Packing", "word shift mask start width rep")


@kernel
def pack(codes, packing, words):
    """Pack the codes of each row into words."""
    m, d = codes.shape
    keys = np.zeros((m, words), dtype=np.uint64)
    for i in range(m):
        for j in range(d):
            keys[i, packing.word[j]] |= np.uint64(codes[i, j]) << packing.shift[j]
    return keys


@inner
def _count(keys, counts, found, rows, table, slots):
    """Add rows to the entry with the words at keys[found]; keep these words, as the last entry, only if new."""
    h = np.uint64(0x9E3779B97F4A7C15)
    words = keys.shape[1]
    for w in range(words):
        h ^= keys[found, w]
        h *= np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    slot = h & np.uint64(slots - 1)
    while True:
        entry = table[slot]
        if entry < 0:
            table[slot] = found
            counts[found] = rows
            return found + 1
        same = True
        for w in range(words):
            if keys[entry, w] != keys[found, w]:
                same = False
                break
        if same:
            counts[entry] += rows
            return found
        slot = (slot + np.uint64(1)) & np.uint64(slots - 1)


@inner
def _cleared(table, size):
    """Clear as much of the hash table as `size` entries need; return that number of slots."""
    slots = 16
    while slots < 2 * size:
        slots *= 2
    for slot in range(slots):
        table[slot] = -1
    return slots


@part
def _roll_up(keys, counts, size, up_keys, up_counts, table, packing, j, level):
    """Return the frequency set with attribute j raised to a level; it may replace the old one."""
    word, shift, mask = packing.word[j], packing.shift[j], packing.mask[j]
    rep = packing.rep
    at = packing.start[j] + level * packing.width[j]
    others = ~(mask << shift)
    words = keys.shape[1]
    slots = _cleared(table, size)
    found = np.int64(0)
    for i in range(size):
        rows = counts[i]
        for w in range(words):
            up_keys[found, w] = keys[i, w]
        key = up_keys[found, word]
        code = np.int64((key >> shift) & mask)
        up_keys[found, word] = (key & others) | (rep[at + code] << shift)
        found = _count(up_keys, up_counts, found, rows, table, slots)
    return found


@part
def _project(keys, counts, up_keys, up_counts, table, packing, attributes, levels):
    """Return the frequency set of some attributes at these levels, from that of all attributes at the bottom."""
    m = keys.shape[0]
    words = keys.shape[1]
    slots = _cleared(table, m)
    found = np.int64(0)
    for i in range(m):
        rows = counts[i]
        for w in range(words):
            up_keys[found, w] = 0
        for a in range(attributes.shape[0]):
            j = attributes[a]
            code = np.int64((keys[i, packing.word[j]] >> packing.shift[j]) & packing.mask[j])
            up = packing.rep[packing.start[j] + levels[a] * packing.width[j] + code]
            up_keys[found, packing.word[j]] |= up << packing.shift[j]
        found = _count(up_keys, up_counts, found, rows, table, slots)
    return found


@kernel
def search(keys, counts, packing, attributes, sizes, candidate, k, allowed):
    """Return node → whether it is k-anonymous, in the lattice of some attributes; the last attribute varies fastest.

    Nodes come in numerical order, so a node comes after everything that it generalizes. One that
    generalizes a k-anonymous node is k-anonymous itself; any other candidate is counted, from the frequency set of
    the nearest node before it on its path. `allowed` rows may be in groups of fewer than k.
    Also returns how many nodes were counted.
    """
    m, words = keys.shape
    s = attributes.shape[0]
    nodes = candidate.shape[0]
    strides = np.empty(s, dtype=np.int64)
    floor = np.empty(s, dtype=np.int64)
    path = np.empty(s, dtype=np.int64)
    level = np.empty(s, dtype=np.int64)
    stride = np.int64(1)
    for a in range(s - 1, -1, -1):
        strides[a] = stride
        stride *= sizes[a]
        floor[a] = sizes[a] - 1
        path[a] = -1
    for node in range(nodes):
        if candidate[node]:
            for a in range(s):
                floor[a] = min(floor[a], (node // strides[a]) % sizes[a])
    slots = 16
    while slots < 2 * m:
        slots *= 2
    table = np.empty(slots, dtype=np.int32)
    base_keys = np.empty((m, words), dtype=np.uint64)
    base_counts = np.empty(m, dtype=np.int64)
    base = _project(keys, counts, base_keys, base_counts, table, packing, attributes, floor)
    # Set a + 1 has the attributes up to a at the levels of `path`, the later ones at their floors. A set that is
    # equal to the one before it stands where that one does.
    set_keys = np.empty((s + 1, base, words), dtype=np.uint64)
    set_counts = np.empty((s + 1, base), dtype=np.int64)
    set_size = np.empty(s + 1, dtype=np.int64)
    place = np.empty(s + 1, dtype=np.int64)
    set_size[0] = base
    place[0] = 0
    for i in range(base):
        set_counts[0, i] = base_counts[i]
        for w in range(words):
            set_keys[0, i, w] = base_keys[i, w]
    anonymous = np.empty(nodes, dtype=np.bool_)
    counted = 0
    for node in range(nodes):
        anonymous[node] = False
        if not candidate[node]:
            continue
        implied = False
        for a in range(s):
            level[a] = (node // strides[a]) % sizes[a]
            if level[a] > 0 and anonymous[node - strides[a]]:
                implied = True
        if implied:
            anonymous[node] = True
            continue
        same = 0
        while path[same] == level[same]:
            same += 1
        for a in range(same, s):
            # The first attribute that differs has risen, so its set may grow out of the last one.
            source = a + 1 if path[a] >= 0 else a
            p = place[source]
            size = set_size[source]
            if source == a and level[a] == floor[a]:
                place[a + 1] = p
                set_size[a + 1] = size
            else:
                set_size[a + 1] = _roll_up(
                    set_keys[p], set_counts[p], size, set_keys[a + 1], set_counts[a + 1], table, packing,
                    attributes[a], level[a],
                )  # fmt: skip
                place[a + 1] = a + 1
            path[a] = level[a]
            if a + 1 < s:
                path[a + 1] = -1
        counted += 1
        few = 0
        p = place[s]
        for i in range(set_size[s]):
            if set_counts[p, i] < k:
                few += set_counts[p, i]
                if few > allowed:
                    break
        anonymous[node] = few <= allowed
    return anonymous, counted


@kernel
def node_loss(keys, counts, packing, levels, cost, whole, k):
    """Return the loss of one node of the lattice of all attributes, and its discernability.

    `cost[start[j] + level * width[j] + code]` is the cost of a cell. A row in a group of fewer than k costs `whole`;
    for discernability, the number of rows.
    """
    m, words = keys.shape
    d = levels.shape[0]
    up_keys = np.empty((m, words), dtype=np.uint64)
    up_counts = np.empty(m, dtype=np.int64)
    slots = 16
    while slots < 2 * m:
        slots *= 2
    table = np.empty(slots, dtype=np.int32)
    size = _project(keys, counts, up_keys, up_counts, table, packing, np.arange(d), levels)
    rows = 0
    for i in range(m):
        rows += counts[i]
    loss = 0.0
    discernability = 0
    for i in range(size):
        here = up_counts[i]
        if here < k:
            loss += here * whole
            discernability += here * rows
            continue
        row = 0.0
        for j in range(d):
            code = np.int64((up_keys[i, packing.word[j]] >> packing.shift[j]) & packing.mask[j])
            row += cost[packing.start[j] + levels[j] * packing.width[j] + code]
        loss += here * row
        discernability += here * here
    return loss, discernability
