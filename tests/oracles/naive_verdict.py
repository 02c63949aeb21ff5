"""The verdict's counts, row by row: who shares published values with how many, and which columns do it."""

from itertools import permutations


def sharing(rows, columns, *, who=None):
    """Row → how many rows, or people, have the same values in these columns."""
    found = []
    for row in rows:
        alike = [at for at, other in enumerate(rows) if all(row[each] == other[each] for each in columns)]
        found.append(len(alike) if who is None else len({who[at] for at in alike}))
    return found


def exposed(rows, columns, k, *, who=None):
    """How many rows share these values with fewer than k."""
    return sum(count < k for count in sharing(rows, columns, who=who))


def shapley(rows, base, columns, k):
    """Column → what it adds to the exposed rows, averaged over all orders."""
    shares = dict.fromkeys(columns, 0.0)
    orders = list(permutations(columns))
    for order in orders:
        chosen = list(base)
        before = exposed(rows, chosen, k)
        for column in order:
            chosen.append(column)
            after = exposed(rows, chosen, k)
            shares[column] += (after - before) / len(orders)
            before = after
    return shares


def inferred(rows, base, column):
    """Rows whose group shares one value, and the largest gain of a value over its share in the table."""
    total = [row[column] for row in rows]
    alone, gain = 0, 0.0
    for row in rows:
        group = [other[column] for other in rows if all(row[each] == other[each] for each in base)]
        alone += len(set(group)) == 1 and group[0] is not None
        for value in set(group) - {None}:
            gain = max(gain, group.count(value) / len(group) - total.count(value) / len(total))
    return alone, gain
