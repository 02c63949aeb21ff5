"""The slow, obvious twin of KACA: Algorithm 1 of Li, Wong, Fu, Pei (2006) over lists, every distance from scratch.

Classes are dicts: `rows`, ascending, and `tuple`, the generalized tuple as the row of its smallest codes and the row
of its largest ones (two rows are generalized to the same as everything between them). Numpy for the random numbers.
"""

import numpy as np
from oracles.naive_costs import box_cost


def join(one, two):
    """The closest common generalization of two generalized tuples."""
    lows, highs = zip(one[0], two[0], strict=True), zip(one[1], two[1], strict=True)
    return [min(pair) for pair in lows], [max(pair) for pair in highs]


def distance(cost, one, two, k, weigh="rows", stub=True):
    """Definitions 10 and 11: the distance, and how many rows of the second class it is about.

    Other readings: weigh="tuples" is Definition 9, in which a class counts once, however many rows it has; without
    `stub`, whole classes are merged, as in Algorithm 1 read on its own.
    """
    n1, n2 = len(one["rows"]), len(two["rows"])
    joining = k - n1 if stub and n1 + n2 >= 2 * k else n2
    joined = cost(join(one["tuple"], two["tuple"]))
    times = (1, 1) if weigh == "tuples" else (n1, joining)
    return times[0] * (joined - cost(one["tuple"])) + times[1] * (joined - cost(two["tuple"])), joining


def replace_by_last(entries, entry):
    """Take an entry out of a list; the last one moves to its place."""
    at = next(at for at, other in enumerate(entries) if other is entry)
    entries[at] = entries[-1]
    entries.pop()


def kaca(
    rows, attributes, k, *, seed, measure="whd", suppress_above=None, level_weights=None, start="classes", **reading
):
    """Row → number of its class, −1 for suppressed rows. Other readings are those of `distance`.

    With start="rows", each row is a separate class at first: "one tuple is also called an equivalent class".
    """

    def cost(generalized):
        return box_cost(attributes, generalized, measure, level_weights=level_weights)

    by_row = {}
    for number, row in enumerate(rows):
        by_row.setdefault(tuple(row) if start == "classes" else number, []).append(number)
    classes = [
        {"rows": numbers, "tuple": (list(rows[numbers[0]]), list(rows[numbers[0]]))} for numbers in by_row.values()
    ]
    small = [each for each in classes if len(each["rows"]) < k]
    for draw in np.random.default_rng(seed).random(len(small)):
        if not small:
            break
        one = small[int(draw * len(small))]
        replace_by_last(small, one)
        others = [each for each in classes if each is not one]
        if not others:
            classes.remove(one)
            continue
        two = min(others, key=lambda other: (distance(cost, one, other, k, **reading)[0], other["rows"][0]))
        far, joining = distance(cost, one, two, k, **reading)
        if suppress_above is not None and far > suppress_above * (len(one["rows"]) + joining):
            classes.remove(one)
            continue
        stub, trunk = two["rows"][:joining], two["rows"][joining:]
        merged = {"rows": sorted(one["rows"] + stub), "tuple": join(one["tuple"], two["tuple"])}
        classes = [each for each in classes if each is not one and each is not two] + [merged]
        if trunk:
            classes.append({"rows": trunk, "tuple": two["tuple"]})
        elif any(each is two for each in small):
            replace_by_last(small, two)
        if len(merged["rows"]) < k:
            small.append(merged)
    labels = [-1] * len(rows)
    for number, each in enumerate(classes):
        for row in each["rows"]:
            labels[row] = number
    return labels
