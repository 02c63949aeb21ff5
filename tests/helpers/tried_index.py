"""An index over rows whose searches can be tried one by one, as methods do inside their kernels."""

from coterie.grouping.index import Index, build_index


class TriedIndex(Index):
    @property
    def free(self):
        """The number of free rows."""
        return int(self.nodes.free[0])

    def take(self, row):
        """Mark a free row as used."""
        from coterie.kernels.search.rows_index import take

        if self.nodes.taken[row]:
            raise ValueError(f"row {row} is not free")
        take(self.nodes, row)

    def cheapest(self, lo, hi):
        """Return the free row that makes the box cheapest when it joins, the lowest on ties; −1 if none is free."""
        from coterie.kernels.search.costs import Aimed, aim_all
        from coterie.kernels.search.rows_index import cheapest

        aimed = Aimed(self.costs, self._reach, lo, hi)
        aim_all(aimed)
        return int(cheapest(self.nodes, aimed, self._walk))


def tried_index(table, costs=None):
    made = build_index(table, costs)
    return TriedIndex(made.nodes, made.costs)
