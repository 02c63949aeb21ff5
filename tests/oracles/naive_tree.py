"""The slow, obvious twin of the flattened tree: nodes that know their parents. Standard library only."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NaiveTree:
    """node → label and parent (an earlier node; None for node 0, the root). A node without children is a leaf."""

    labels: tuple
    parents: tuple

    @property
    def leaves(self):
        return [node for node in range(1, len(self.labels)) if node not in self.parents]

    def ancestors(self, node):
        """The node itself, its parent, …, the root."""
        chain = []
        while node is not None:
            chain.append(node)
            node = self.parents[node]
        return chain

    def row(self, leaf):
        return [self.labels[node] for node in self.ancestors(leaf)]

    def common_ancestor(self, leaves):
        """The first ancestor of one leaf that is an ancestor of all."""
        first, *rest = leaves
        for node in self.ancestors(first):
            if all(node in self.ancestors(leaf) for leaf in rest):
                return node
        raise AssertionError("nodes of two trees")

    def leaves_of(self, node):
        return [leaf for leaf in self.leaves if node in self.ancestors(leaf)]

    def height(self, node):
        """Edges down to the deepest leaf."""
        return max((self.ancestors(leaf).index(node) for leaf in self.leaves_of(node)), default=0)

    def depth(self, node):
        return len(self.ancestors(node)) - 1


def interval_of(value, width, start):
    """Lower and upper bound (exclusive) of the interval of this width that holds the value, by steps from the start."""
    low = start
    while low > value:
        low -= width
    while low + width <= value:
        low += width
    return low, low + width
