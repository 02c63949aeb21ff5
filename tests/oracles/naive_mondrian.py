"""Mondrian the slow and obvious way: recursion over lists of rows. Attributes as in `naive_costs.py`."""

from oracles.naive_costs import cost


def mondrian(rows, attributes, k, *, strict=True, before_median=True, leaf_counts="present"):
    """Groups as sorted lists of row numbers, in the order of their first rows."""
    split = relaxed_split
    if strict:
        split = strict_split if before_median else literal_split

    def parts(members):
        if len(members) < 2 * k:
            return [members]
        for j in widest_first(rows, attributes, members, leaf_counts):
            halves = split(rows, members, j, k)
            if halves:
                return parts(halves[0]) + parts(halves[1])
        return [members]

    return sorted(sorted(part) for part in parts(list(range(len(rows)))))


def widest_first(rows, attributes, members, leaf_counts):
    """Attributes in which the rows differ, widest first; of equally wide ones the first comes first."""
    codes = [{rows[row][j] for row in members} for j in range(len(attributes))]
    able = [j for j in range(len(attributes)) if len(codes[j]) > 1]
    return sorted(able, key=lambda j: -cost(attributes[j], codes[j], leaf_counts=leaf_counts))


def strict_split(rows, members, j, k):
    """Cut after the median code or, where that leaves too few, before it; None where neither will do."""
    ordered = sorted(rows[row][j] for row in members)
    median = ordered[(len(ordered) - 1) // 2]
    for left in ([row for row in members if rows[row][j] <= median], [row for row in members if rows[row][j] < median]):
        if len(left) >= k and len(members) - len(left) >= k:
            return left, [row for row in members if row not in set(left)]
    return None


def literal_split(rows, members, j, k):
    """Up to the median, and above it."""
    median = sorted(rows[row][j] for row in members)[(len(members) - 1) // 2]
    sides = [row for row in members if rows[row][j] <= median], [row for row in members if rows[row][j] > median]
    return sides if min(map(len, sides)) >= k else None


def relaxed_split(rows, members, j, k):
    """The lower half of the rows by code and, for the same code, by row number."""
    ordered = sorted(members, key=lambda row: (rows[row][j], row))
    return ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :]
