"""The slow, obvious twin of bottom-up: Fig. 4 of Xu, Wang, Pei, Wang, Shi, Fu (2006) over lists of row numbers."""

from oracles.naive_costs import box_cost


def penalty(attributes, rows, group, leaf_counts="present"):
    """NCP of a group, summed over its rows."""
    return len(group) * box_cost(attributes, [rows[row] for row in group], "ncp", leaf_counts)


def cut(attributes, rows, group, k):
    """A group of 2k rows or more in two: along the line between two far rows, where the penalty is least."""

    def pair(one, two):
        return box_cost(attributes, [rows[one], rows[two]])

    u = max(group, key=lambda row: (pair(row, group[0]), -row))
    v = max(group, key=lambda row: (pair(row, u), -row))
    order = sorted(group, key=lambda row: (pair(row, u) - pair(row, v), row))
    fitting = [at for at in range(k, len(group) - k + 1) if at // k + (len(group) - at) // k == len(group) // k]
    at = min(fitting, key=lambda at: penalty(attributes, rows, order[:at]) + penalty(attributes, rows, order[at:]))
    return sorted(order[:at]), sorted(order[at:])


def split(attributes, rows, group, k, above=False):
    """A group of 2k rows or more in parts of at least k; with `above`, only one of more than 2k (section 4.1)."""
    if len(group) < 2 * k + above:
        return [group]
    if penalty(attributes, rows, group) == 0:
        return [group[:k], *split(attributes, rows, group[k:], k, above)]
    one, two = cut(attributes, rows, group, k)
    return split(attributes, rows, one, k, above) + split(attributes, rows, two, k, above)


def bottom_up(rows, attributes, k, *, absorb=True, above=False):
    """Row → number of its group.

    Other readings: without `absorb`, a group that was merged in a round takes no others in that round, as long as there
    is another one that is too small; `above` is that of `split`.
    """
    by_row = {}
    for number, row in enumerate(rows):
        by_row.setdefault(tuple(row), []).append(number)
    groups = [part for group in by_row.values() for part in split(attributes, rows, group, k, above)]
    while any(len(group) < k for group in groups) and len(groups) > 1:
        merged = []  # groups that have been merged in this round
        for one in sorted(group for group in groups if len(group) < k):
            if one not in groups:
                continue
            others = [group for group in groups if group != one]
            unmerged = [group for group in others if len(group) < k and group not in merged]
            partners = others if absorb or not unmerged else unmerged
            two = min(partners, key=lambda other: (penalty(attributes, rows, one + other), min(other)))
            both = sorted(one + two)
            groups = [group for group in others if group != two] + [both]
            merged.append(both)
        groups = [part for group in groups for part in split(attributes, rows, group, k, above)]
    labels = [0] * len(rows)
    for number, group in enumerate(groups):
        for row in group:
            labels[row] = number
    return labels
