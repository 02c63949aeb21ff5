"""Full-domain generalization by looking at every choice of levels. Standard library only.

Domains as in `naive_costs.py`. A choice of levels is a list with one height an attribute: 0 for the values, the height
of the whole hierarchy for the root. A number has `number_levels` levels of equal intervals below its root.
"""

from collections import Counter
from fractions import Fraction
from itertools import product

from oracles.naive_costs import ancestors, cost, depth, height, level_share, whole_leaves


def heights(attribute, number_levels):
    if attribute["kind"] == "number":
        return range(number_levels + 2)
    return range(height(attribute, 0) + 1)


def raised(attribute, code, level, number_levels):
    """What stands for a code at a level: a tree node, an interval's number, or the value itself."""
    if attribute["kind"] == "tree":
        chain = ancestors(attribute, attribute["leaves"][code])
        depth = height(attribute, 0) - level
        return chain[max(len(chain) - 1 - depth, 0)]
    value = attribute["values"][code]
    if level == number_levels + 1:
        return "root"
    if level == 0 or value is None:
        return value
    present = [number for number in attribute["values"] if number is not None]
    span = max(present) - min(present)
    parts = 2 ** (number_levels + 1 - level)
    return min(int(Fraction(value - min(present), span) * parts), parts - 1) if span else 0


def generalized(rows, attributes, node, number_levels):
    return [
        tuple(raised(a, code, level, number_levels) for a, code, level in zip(attributes, row, node, strict=True))
        for row in rows
    ]


def lattice(attributes, number_levels):
    return list(product(*(heights(attribute, number_levels) for attribute in attributes)))


def rows_in_small_groups(rows, attributes, node, k, number_levels):
    counts = Counter(generalized(rows, attributes, node, number_levels))
    return sum(count for count in counts.values() if count < k)


def anonymous_nodes(rows, attributes, k, *, number_levels=4, allowed=0):
    return [
        node
        for node in lattice(attributes, number_levels)
        if rows_in_small_groups(rows, attributes, node, k, number_levels) <= allowed
    ]


def minimal_nodes(rows, attributes, k, *, number_levels=4, allowed=0):
    """Nodes that are k-anonymous but for `allowed` rows, and generalize no other such node."""
    found = anonymous_nodes(rows, attributes, k, number_levels=number_levels, allowed=allowed)

    def below(one, other):
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    return [node for node in found if not any(below(other, node) for other in found)]


def groups(rows, attributes, node, k, number_levels):
    """Groups of at least k rows as sorted lists of row numbers, and the rows of smaller ones."""
    values = generalized(rows, attributes, node, number_levels)
    counts = Counter(values)
    large = [value for value in counts if counts[value] >= k]
    made = [[row for row, value in enumerate(values) if value == one] for one in large]
    return sorted(made), [row for row, value in enumerate(values) if counts[value] < k]


def cell_codes(attribute, code, level, number_levels):
    """All codes that are published as this one is."""
    size = len(attribute["leaves"] if attribute["kind"] == "tree" else attribute["values"])
    own = raised(attribute, code, level, number_levels)
    return [other for other in range(size) if raised(attribute, other, level, number_levels) == own]


def loss(rows, attributes, node, k, *, measure, number_levels=4, leaf_counts="present"):
    """The loss of a choice of levels; a row in a group of fewer than k costs as much as a row can."""
    large, small = groups(rows, attributes, node, k, number_levels)
    if measure == "discernability":
        return sum(len(group) ** 2 for group in large) + len(small) * len(rows)
    total = len(small) * sum(attribute["weight"] for attribute in attributes)
    name = {"distortion": "whd"}.get(measure, measure)
    for group in large:
        for row in group:
            for attribute, code, level in zip(attributes, rows[row], node, strict=True):
                if attribute["kind"] == "tree":
                    total += label_cost(attribute, raised(attribute, code, level, number_levels), name, leaf_counts)
                else:
                    total += cost(attribute, cell_codes(attribute, code, level, number_levels), name)
    return total


def label_cost(attribute, node, name, leaf_counts):
    """By the leaves, the height or the level of the label, also where it stands above one value that is present."""
    if node in attribute["leaves"]:
        return 0.0
    whole = height(attribute, 0)
    if name == "ncp":
        every = whole_leaves(attribute, 0) if leaf_counts == "hierarchy" else attribute["leaves"]
        below = [leaf for leaf in every if node in ancestors(attribute, leaf)]
        share = Fraction(len(below), len(every)) if len(below) > 1 else 0  # one leaf: the label says as much as it
    elif name == "height":
        share = Fraction(height(attribute, node), whole)
    else:
        share = level_share([1.0] * whole, depth(attribute, node))
    return attribute["weight"] * float(share)
