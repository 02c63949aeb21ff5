"""The slow, obvious twin of interval costs: what a set of codes costs, straight from values and parent pointers.

An attribute is a plain dict:

    number  {"kind": "number", "values": [code → value, None for missing (last)], "weight": w}
    tree    {"kind": "tree", "parents": [node → parent, None for the root 0], "leaves": [code → node], "weight": w}

`parents` is the whole hierarchy, also where no row has the value; `leaves` holds the values that are present, a
missing value among them as a leaf under the root. Measures: "ncp", "height", "whd". Standard library only.
"""

from fractions import Fraction


def ancestors(attribute, node):
    """The node itself, its parent, …, the root."""
    chain = []
    while node is not None:
        chain.append(node)
        node = attribute["parents"][node]
    return chain


def common_ancestor(attribute, codes):
    first, *rest = [ancestors(attribute, attribute["leaves"][code]) for code in sorted(set(codes))]
    return next(node for node in first if all(node in chain for chain in rest))


def depth(attribute, node):
    return len(ancestors(attribute, node)) - 1


def height(attribute, node):
    """Edges down to the deepest leaf of the whole hierarchy."""
    below = [ancestors(attribute, other) for other in range(len(attribute["parents"]))]
    return max(chain.index(node) for chain in below if node in chain)


def whole_leaves(attribute, node):
    """Leaves of the whole hierarchy beneath a node."""
    inner = set(attribute["parents"])
    every = [leaf for leaf in range(len(attribute["parents"])) if leaf not in inner]
    return [leaf for leaf in every if node in ancestors(attribute, leaf)]


def level_share(weights, above):
    """Weights from a level down to the lowest ÷ all weights, both summed from below; weights[0] is next to the root."""
    total = share = 0.0
    for at, weight in reversed(list(enumerate(weights))):
        total += weight
        if at >= above:
            share = total
    return share / total


def cost(attribute, codes, measure="ncp", leaf_counts="present", level_weights=None):
    """Weighted cost of one row in a group that holds these codes.

    For "whd", level_weights(height) lists the weights between the levels from the root downwards; all 1 without it.
    """
    codes = set(codes)
    if len(codes) == 1:
        return 0.0
    weight = attribute["weight"]
    if attribute["kind"] == "number":
        values = attribute["values"]
        if any(values[code] is None for code in codes):
            return weight
        present = [value for value in values if value is not None]
        held = [values[code] for code in codes]
        return weight * ((max(held) - min(held)) / (max(present) - min(present)))
    node = common_ancestor(attribute, codes)
    if measure == "ncp":
        if leaf_counts == "present":
            below = sum(node in ancestors(attribute, leaf) for leaf in attribute["leaves"])
            share = Fraction(below, len(attribute["leaves"]))
        else:
            share = Fraction(len(whole_leaves(attribute, node)), len(whole_leaves(attribute, 0)))
    elif measure == "height":
        share = Fraction(height(attribute, node), height(attribute, 0))
    else:
        whole = height(attribute, 0)
        weights = level_weights(whole) if level_weights else [1.0] * whole
        share = level_share(weights, depth(attribute, node))
    return weight * float(share)


def box_cost(attributes, rows, measure="ncp", leaf_counts="present", level_weights=None):
    """Cost of one row in the group of these rows (lists of codes), summed over the attributes in their order."""
    total = 0.0
    for j, attribute in enumerate(attributes):
        total += cost(attribute, [row[j] for row in rows], measure, leaf_counts, level_weights)
    return total
