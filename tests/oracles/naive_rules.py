"""The labels above a value by the rules of hierarchies, one at a time. Standard library only."""


def interval_labels(value, widths):
    """A whole number's intervals, which begin at multiples of their widths."""
    labels = []
    for width in widths:
        low = next(bound for bound in range(value, value - width, -1) if bound % width == 0)
        high = low + width - 1
        labels.append(f"[{low}-{high}]" if low >= 0 else f"[{low}, {high}]")
    return [*labels, "*"]


def prefix_labels(value, lengths):
    """A code's first characters, the others masked."""
    return [*(value[:length] + "*" * (len(value) - length) for length in lengths), "*"]


def date_labels(value):
    """A date's month, quarter, year and decade."""
    year, month, _ = value.split("-")
    return [f"{year}-{month}", f"{year}-Q{(int(month) - 1) // 3 + 1}", year, f"{year[:3]}0s", "*"]
