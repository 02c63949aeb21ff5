"""What each row pays at least in a group of k rows, over all pairs. Standard library only; see `naive_costs`."""

from itertools import combinations

from oracles.naive_costs import box_cost


def plain_bounds(rows, attributes, k):
    """Row → the (k − 1)-th smallest cost of a box of this row and another one."""
    return raised_bounds(rows, attributes, k, rounds=0)


def raised_bounds(rows, attributes, k, rounds):
    """The same, where a pair costs no less than what the other row pays at least; so many rounds of it."""
    pair = [[box_cost(attributes, [one, two]) for two in rows] for one in rows]
    bounds = [0.0] * len(rows)
    for _ in range(rounds + 1):
        bounds = [
            kth([max(pair[row][other], bounds[other]) for other in range(len(rows)) if other != row], k - 1)
            for row in range(len(rows))
        ]
    return bounds


def kth(values, k):
    """The k-th smallest, 0 for k = 0."""
    return sorted(values)[k - 1] if k > 0 else 0.0


def worst_violation(rows, attributes, prices, k):
    """The most by which the prices of k rows exceed what these rows lose as a group, over all sets of k rows."""
    return max(
        sum(prices[row] for row in group) - k * box_cost(attributes, [rows[row] for row in group])
        for group in combinations(range(len(rows)), k)
    )
