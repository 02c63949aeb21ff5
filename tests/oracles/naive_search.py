"""What must be true of groups at every step of a search, checked row by row. Standard library only."""


def box_cost(rows, cost):
    """Cost of one row in the group of these rows; cost(attribute, codes) is that of one attribute."""
    return sum(cost(j, [row[j] for row in rows]) for j in range(len(rows[0])))


def loss(codes, labels, cost):
    """Loss of all rows that are in a group."""
    groups = {}
    for row, label in zip(codes, labels, strict=True):
        if label >= 0:
            groups.setdefault(label, []).append(row)
    return sum(len(rows) * box_cost(rows, cost) for rows in groups.values())


def chains(first, follower):
    """Group → the rows on its linked list, each of which must be on one list only."""
    seen = set()
    found = {}
    for group, row in enumerate(first):
        found[group] = []
        while row >= 0:
            assert row not in seen
            seen.add(row)
            found[group].append(row)
            row = follower[row]
    return found


def holds(members, row, cost):
    """Whether a row could join a group at no one's expense."""
    return all(cost(j, [each[j] for each in members]) == cost(j, [each[j] for each in (*members, row)])
               for j in range(len(row)))  # fmt: skip


def least_assigned(rows, labels, k, cost):
    """The least loss if rows may change to groups that hold them, every group keeps k, and boxes stay as they are.

    All assignments, row by row; what matters of the earlier ones is how many rows each group has, up to k.
    """
    groups = sorted(set(labels))
    members = [[row for row, label in zip(rows, labels, strict=True) if label == group] for group in groups]
    costs = [box_cost(each, cost) for each in members]
    best = {(0,) * len(groups): 0.0}
    for row in rows:
        after = {}
        for counts, total in best.items():
            for at, each in enumerate(members):
                if holds(each, row, cost):
                    more = (*counts[:at], min(counts[at] + 1, k), *counts[at + 1 :])
                    after[more] = min(after.get(more, total + costs[at]), total + costs[at])
        best = after
    return best[(k,) * len(groups)]
