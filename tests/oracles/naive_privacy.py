"""The slow, obvious twins of the privacy models: the definitions, word for word, in fractions and long decimals.

A model is a dict such as {"model": "l-diversity", "l": 3, "kind": "entropy"}. A group is a list of sensitive values,
the table is the list of all of them. Thresholds are whole numbers, Fractions, or texts of decimal numbers. A
hierarchy is a dict child → parent over the values, with None above the root.
"""

from collections import Counter
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 80


def shares(values):
    """Value → share, as a Fraction."""
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def ln(fraction):
    """Natural logarithm to 80 digits."""
    return (Decimal(fraction.numerator) / Decimal(fraction.denominator)).ln()


def decimal(fraction):
    fraction = Fraction(fraction)
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def entropy_at_least(group, limit):
    """Whether the entropy is at least ln(limit): n^n ≥ limit^n · Π c^c, in whole numbers however long."""
    limit = Fraction(limit)
    n = len(group)
    right = limit.numerator**n
    for count in Counter(group).values():
        right *= count**count
    return n**n * limit.denominator**n >= right


def equal_distance(group, table):
    p, q = shares(group), shares(table)
    return sum(abs(p.get(value, 0) - q[value]) for value in q) / 2


def ordered_distance(group, table, order):
    """`order` lists the values of the table, smallest first."""
    p, q = shares(group), shares(table)
    if len(order) < 2:
        return Fraction(0)
    running, total = Fraction(0), Fraction(0)
    for value in order:
        running += p.get(value, 0) - q[value]
        total += abs(running)
    return total / (len(order) - 1)


def hierarchical_distance(group, table, parents):
    """Section 4.2 of Li et al.: at each node, what the children have too much meets what others have too little."""
    p, q = shares(group), shares(table)
    children = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    (root,) = children[None]

    def height(node):
        return 1 + max(map(height, children[node])) if node in children else 0

    work = Fraction(0)

    def extra(node):
        nonlocal work
        if node not in children:
            return p.get(node, 0) - q.get(node, Fraction(0))
        below = [extra(child) for child in children[node]]
        plus = sum(each for each in below if each > 0)
        minus = -sum(each for each in below if each < 0)
        work += Fraction(height(node), max(height(root), 1)) * min(plus, minus)
        return sum(below)

    extra(root)
    return work


def distance(group, table, model, order=None, parents=None):
    kind = model.get("distance", "equal")
    if kind == "equal":
        return equal_distance(group, table)
    if kind == "ordered":
        return ordered_distance(group, table, order)
    return hierarchical_distance(group, table, parents)


def holds(model, group, table, *, order=None, parents=None):
    """Whether one group keeps one model."""
    name = model["model"]
    counts = sorted(Counter(group).values(), reverse=True)
    if name == "k-anonymity":
        return len(group) >= model["k"]
    if name == "l-diversity":
        limit = Fraction(model["l"])
        kind = model.get("kind", "distinct")
        if kind == "distinct":
            return len(counts) >= limit
        if kind == "frequency":
            return Fraction(counts[0], len(group)) <= 1 / limit
        if kind == "entropy":
            return entropy_at_least(group, limit)
        return counts[0] < Fraction(model["c"]) * sum(counts[int(limit) - 1 :])
    if name == "t-closeness":
        return distance(group, table, model, order, parents) <= Fraction(model["t"])
    if name == "alpha-k":
        return Fraction(counts[0], len(group)) <= Fraction(model["alpha"]) and len(group) >= (model.get("k") or 1)
    p, q = shares(group), shares(table)
    if name == "beta-likeness":
        gains = {value: (p[value] - q[value]) / q[value] for value in p if p[value] > q[value]}
        if any(gain > Fraction(model["beta"]) for gain in gains.values()):
            return False
        return model.get("kind", "basic") == "basic" or all(
            decimal(gain) <= -ln(q[value]) for value, gain in gains.items()
        )
    if name == "delta-disclosure":
        return all(value in p and abs(ln(p[value] / q[value])) < decimal(model["delta"]) for value in q)
    raise ValueError(name)


def breaks(model, labels, values, *, order=None, parents=None):
    """The groups (labels; −1 is suppressed) that do not keep a model."""
    groups = {}
    for label, value in zip(labels, values, strict=True):
        if label >= 0:
            groups.setdefault(label, []).append(value)
    table = [value for group in groups.values() for value in group]
    if order is not None:
        order = [value for value in order if value in set(table)]
    return {label for label, group in groups.items() if not holds(model, group, table, order=order, parents=parents)}
