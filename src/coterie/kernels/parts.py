"""Parts of a table that are cut in two repeatedly: ranges start … end − 1 of an order of its rows."""

from __future__ import annotations

from coterie.kernels import part, step

# What decides which of two sides a row goes to, in the order of methods/_sides.py.
INCREASE, ENLARGE, SIDE, SEED = range(4)


@step
def assignment_cost(rule, joined, before, rows):
    """Score putting a row on a side; `before` and `joined` are the side's box cost without and with the row.

    INCREASE is the increase of the total penalty of the side's rows, ENLARGE the growth of its box; SIDE and SEED
    use the cost of the box with the row. A row inside the box adds no rounding error.
    """
    if rule == INCREASE:
        return joined + rows * (joined - before)
    if rule == ENLARGE:
        return joined - before
    return joined


@step
def push_halves(starts, ends, top, start, middle, end):
    """Push both halves of a part on the stack of waiting parts, the first one on top; return the new top."""
    starts[top + 1] = middle
    ends[top + 1] = end
    starts[top + 2] = start
    ends[top + 2] = middle
    return top + 2


@step
def cut_at(codes, order, start, end, attribute, code):
    """Reorder a part: rows up to a code of an attribute first. Return where the others begin."""
    low = start
    high = end - 1
    while low <= high:
        if codes[order[low], attribute] <= code:
            low += 1
        else:
            order[low], order[high] = order[high], order[low]
            high -= 1
    return low


@part
def separate(codes, rows, start, end, side, spare, spare_rows):
    """Reorder a part, codes and row numbers: side 0 first, both in their old order. Return where side 1 begins."""
    middle = start
    others = 0
    for r in range(start, end):
        if side[r] == 0:
            rows[middle] = rows[r]
            for j in range(codes.shape[1]):
                codes[middle, j] = codes[r, j]
            middle += 1
        else:
            spare_rows[others] = rows[r]
            for j in range(codes.shape[1]):
                spare[others, j] = codes[r, j]
            others += 1
    for r in range(others):
        rows[middle + r] = spare_rows[r]
        for j in range(codes.shape[1]):
            codes[middle + r, j] = spare[r, j]
    return middle
