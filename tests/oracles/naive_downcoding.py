"""Downcoding by brute force: what must be true of every table that could have been published so."""

from collections import Counter


def true_of_classes(published, original, halves):
    """Check each class of equal published rows against its original values, column by column.

    Args:
        published: Rows of published texts.
        original: Rows of original texts, in the same order.
        halves: Column → published label → the two sets of values beneath it, where a label has two halves.

    Returns:
        Column → (cells published as one value, cells known up to the row, cells known to be in a half), as counts; None
        for a column where some claim is wrong.
    """
    classes = {}
    for row, own in zip(published, original, strict=True):
        classes.setdefault(tuple(row), []).append(own)
    found = {}
    for at in range(len(published[0])):
        exact = known = narrowed = 0
        for row, members in classes.items():
            text, values = row[at], Counter(own[at] for own in members)
            if text == "*" or text is None:
                continue
            if text.startswith("{"):
                inside = set(text[1:-1].split(", "))
                if inside != set(values):
                    return None
                known, narrowed = known + len(inside), narrowed + len(inside)
            elif text in halves.get(at, {}):
                parts = halves[at][text]
                if not all(set(part) & set(values) for part in parts):
                    return None
                narrowed += 2
                known += sum(1 for part in parts if len(part) == 1)
            elif text.startswith("["):
                low, high = text[1:-1].split("-")
                if not (values[low] and values[high]):
                    return None
                known, narrowed = known + 2, narrowed + 2
            else:
                exact += len(members)
        found[at] = (exact, known, narrowed)
    return found
