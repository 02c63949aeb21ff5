"""Giving groups up, the slow and obvious way: numbers only, every group is near every other."""


def box_cost(rows, spans):
    """Cost of the smallest box around rows: the widths of its sides in units of the domains' widths."""
    return sum((max(column) - min(column)) / span for column, span in zip(zip(*rows, strict=True), spans, strict=True))


def dissolve(rows, labels, order, spans):
    """Row → group after giving up, in this order, the groups whose rows lose less elsewhere.

    A row goes where the loss rises least, the lowest group among equals. Groups that got rows stay.
    """
    groups = {g: [i for i, label in enumerate(labels) if label == g] for g in set(labels)}
    grown = set()

    def loss(members):
        return len(members) * box_cost([rows[i] for i in members], spans)

    for g in order:
        if g in grown or len(groups) == 1:
            continue
        others = {h: list(members) for h, members in groups.items() if h != g}
        risen = 0.0
        got = set()
        for i in groups[g]:
            rise, best = min((loss([*members, i]) - loss(members), h) for h, members in others.items())
            risen += rise
            others[best].append(i)
            got.add(best)
        if risen < loss(groups[g]):
            groups = others
            grown |= got
    return [next(g for g, members in groups.items() if i in members) for i in range(len(rows))]
