"""The slow, obvious twin of the linking attack: every person with every published row. Standard library only."""

from collections import Counter
from fractions import Fraction

from oracles.naive_publish import contains


def fits(published, person, ancestors):
    """Whether a person could stand behind a published row; what is missing on either side rules nothing out."""
    return all(
        person[name] is None or cell is None or contains(cell, person[name], ancestors=above(ancestors, name, person))
        for name, cell in published.items()
    )


def above(ancestors, name, person):
    """Labels above a person's value, root included, if the column has a hierarchy."""
    return None if name not in ancestors else ancestors[name].get(person[name], {"*"})


def attack(published, people, sensitive, ancestors):
    """(candidates, confidence in the likeliest value, number of values, largest lift) of each person.

    Args:
        published: Rows as dicts of published texts.
        people: Rows as dicts of texts.
        sensitive: The sensitive value of each published row.
        ancestors: Column → value → labels above it.
    """
    totals = Counter(sensitive)
    found = []
    for person in people:
        held = Counter(value for row, value in zip(published, sensitive, strict=True) if fits(row, person, ancestors))
        rows = sum(held.values())
        lift = max(
            (Fraction(n, rows) / Fraction(totals[value], len(sensitive)) for value, n in held.items()), default=0
        )
        found.append((rows, Fraction(max(held.values(), default=0), max(rows, 1)), len(held), lift))
    return found
