"""The slow, obvious twin of the index: look at every free row. Standard library only; attributes as in `naive_costs`.

Of several rows that are as good, the one with the lowest number is taken.
"""

from oracles.naive_costs import cost


class Rows:
    """Rows of which some are free.

    `sums` lists the attributes that are summed apart before the sums are added up: floating-point sums depend on the
    order. One list of all, in their order, unless told otherwise.
    """

    def __init__(self, rows, attributes, *, measure="ncp", leaf_counts="present", sums=None):
        self.rows = rows
        self.free = set(range(len(rows)))
        self.sums = [range(len(attributes))] if sums is None else sums
        self._attributes = attributes
        self._settings = measure, leaf_counts
        self._known = {}

    def box_cost(self, members):
        """Cost of one row in a group of these rows of codes."""
        return sum(sum(self._cost(j, {row[j] for row in members}) for j in part) for part in self.sums)

    def _cost(self, j, codes):
        key = j, frozenset(codes)
        if key not in self._known:
            self._known[key] = cost(self._attributes[j], codes, *self._settings)
        return self._known[key]

    def cheapest(self, members):
        """The free row that makes a group of these rows cost least."""
        return min(self.free, key=lambda row: (self.box_cost([*members, self.rows[row]]), row), default=-1)

    def furthest(self, point):
        """The free row whose pair box with this one costs most."""
        return min(self.free, key=lambda row: (-self.box_cost([point, self.rows[row]]), row), default=-1)

    def nearest(self, point, count):
        """The free rows whose pair boxes with this one cost least, nearest first."""
        return sorted(self.free, key=lambda row: (self.box_cost([point, self.rows[row]]), row))[:count]

    def neighbour_cost(self, row, others):
        """Cost of the pair's box with the free row that is the `others`-th nearest of all but this one."""
        if others == 0:
            return 0.0
        far = sorted(self.box_cost([self.rows[row], self.rows[other]]) for other in self.free if other != row)
        return far[others - 1] if len(far) >= others else float("inf")
