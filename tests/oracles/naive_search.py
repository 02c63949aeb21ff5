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
