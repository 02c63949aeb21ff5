"""Top-down the slow and obvious way: lists, scanned. Standard library only. Attributes as in `naive_costs.py`."""

from oracles.naive_costs import box_cost


def penalty(rows, attributes, group):
    """NCP of one row in the group."""
    return box_cost(attributes, [rows[row] for row in group])


def furthest(rows, attributes, part, row):
    return max(
        (other for other in part if other != row), key=lambda other: (penalty(rows, attributes, [row, other]), -other)
    )


def seeds(rows, attributes, part, rounds):
    """The last two of the rows u₁, v₁, u₂, …, each the one furthest from the one before."""
    path = [part[0]]
    for _ in range(rounds):
        path.append(furthest(rows, attributes, part, path[-1]))
    return path[-2:]


def price(compare, rows, attributes, side, row):
    """What it counts for to put a row on a side, which begins with its seed."""
    joined, before = penalty(rows, attributes, [*side, row]), penalty(rows, attributes, side)
    if compare == "increase":  # of the summed penalty: (m + 1) · joined − m · before, grouped so that equals stay equal
        return joined + len(side) * (joined - before)
    if compare == "enlarge":
        return joined - before
    return joined if compare == "side" else penalty(rows, attributes, [side[0], row])


def cut(rows, attributes, part, k, rounds, compare):
    """Parts that are cut no more; `part` lists its rows in random order."""
    if len(part) <= k or all(rows[row] == rows[part[0]] for row in part):
        return [part]
    first = seeds(rows, attributes, part, rounds)
    sides = [[row] for row in first]
    for row in part:
        if row in first:
            continue
        costs = [price(compare, rows, attributes, side, row) for side in sides]
        if costs[0] == costs[1]:
            costs = [len(side) for side in sides]
        sides[0 if costs[0] <= costs[1] else 1].append(row)
    if all(len(side) < k for side in sides):
        return [part]
    # The seeds take their places in the random order again.
    return [
        piece for side in sides for piece in cut(rows, attributes, sorted(side, key=part.index), k, rounds, compare)
    ]


def chosen_rows(rows, attributes, group, donor, need):
    """The rows that the group would take from the donor, one by one."""
    if all(rows[row] == rows[donor[0]] for row in donor):
        return donor[:need]
    taken = []
    for _ in range(need):
        left = [row for row in donor if row not in taken]
        taken.append(min(left, key=lambda row: (penalty(rows, attributes, [*group, *taken, row]), row)))
    return taken


def repaired(rows, attributes, parts, k):
    """Groups of at least k rows. A group is a list of rows in the order in which they joined it."""
    groups = {min(part): sorted(part) for part in parts}  # by number: the lowest row that it began with

    def cost(group):
        return penalty(rows, attributes, group)

    for start in sorted(groups):
        number = start
        while number in groups and len(groups[number]) < k:
            group = groups[number]
            need = k - len(group)
            best_take = best_merge = None
            for other in sorted(groups):
                if other == number:
                    continue
                partner = groups[other]
                joined = cost(group + partner)
                rise = len(group) * (joined - cost(group)) + len(partner) * (joined - cost(partner))
                if best_merge is None or rise < best_merge[0]:
                    best_merge = rise, other
                if len(partner) > 2 * k - len(group):
                    taken = chosen_rows(rows, attributes, group, partner, need)
                    new = cost(group + taken)
                    if best_take is None or new < best_take[0]:
                        best_take = new, other, taken
            if best_take is not None:
                new, other, taken = best_take
                donor = groups[other]
                rest = [row for row in donor if row not in taken]
                rise = (
                    len(group) * (new - cost(group))
                    + need * (new - cost(donor))
                    + len(rest) * (cost(rest) - cost(donor))
                )
                if rise <= best_merge[0]:
                    groups[number] = group + taken
                    groups[other] = rest
                    continue
            other = best_merge[1]
            joined = groups.pop(other) + groups.pop(number)
            number = min(number, other)
            groups[number] = joined
    return list(groups.values())


def top_down(rows, attributes, k, *, order, seed_rounds=3, compare="increase"):
    """Groups as sorted lists of row numbers, in the order of their first rows; `order` lists all rows at random."""
    parts = cut(rows, attributes, list(order), k, seed_rounds, compare)
    return sorted(sorted(group) for group in repaired(rows, attributes, parts, k))
