"""Does a published cell contain an original value? Read by eye, as it were. Standard library only."""

import re

NUMBER = r"-?\d+(?:\.\d+)?"
DATE = r"\d{4}-\d{2}-\d{2}"


def contains(cell, value, *, ancestors=None):
    """Whether a published cell contains the original text; `ancestors` are the labels above it, root included."""
    if cell is None:
        return value is None
    if cell == "*" or (ancestors is not None and cell in ancestors):
        return True
    if value is None:
        return False
    if ancestors is not None:
        return cell == value
    if match := re.fullmatch(rf"\[(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)\]|\[({NUMBER}), ({NUMBER})\]", cell):
        low, high = (float(end) for end in match.groups() if end is not None)
        return low <= float(value) <= high
    if match := re.fullmatch(rf"\[({DATE}), ({DATE})\]", cell):
        return match[1] <= value <= match[2]
    if cell.startswith("{"):
        members = re.findall(r"((?:[^\\,]|\\.)*)(?:, |$)", cell[1:-1])
        # The expression also matches the nothing after the last member.
        return value in [re.sub(r"\\(.)", r"\1", member) for member in members[:-1]]
    return value == (cell[1:] if cell.startswith("\\") else cell)
