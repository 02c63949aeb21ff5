"""Blocks of a large table, one row and one leaf at a time. Imports nothing of coterie.

A tree is a leaf's number, or (attribute, cut, left, right) with None as the attribute of a cut by row number.
"""

MASK = 2**64 - 1


def in_sample(row, share):
    """Whether a row is in the sample: its number through the finalizer of SplitMix64, as a fraction of 2**64."""
    if share >= 1:
        return True
    mixed = (row + 0x9E3779B97F4A7C15) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
    mixed ^= mixed >> 31
    return mixed < int(share * 2.0**64)


def leaf_of(tree, codes, row):
    """The leaf that a row falls into."""
    while not isinstance(tree, int):
        attribute, cut, left, right = tree
        value = row if attribute is None else codes[attribute]
        tree = left if value < cut else right
    return tree


def leaves_of(tree):
    """The leaves from left to right."""
    return [tree] if isinstance(tree, int) else [*leaves_of(tree[2]), *leaves_of(tree[3])]


def parting_depth(tree, one, two, depth=0):
    """How deep the node lies that parts two leaves."""
    for side in tree[2:]:
        if {one, two} <= set(leaves_of(side)):
            return parting_depth(side, one, two, depth + 1)
    return depth


def blocks_of(tree, rows, least):
    """Blocks as lists of leaves, from left to right: small ones are joined with the neighbour parted from them last.

    `rows` says how many rows each leaf has. Of several that may be joined, the pair whose parting lies deepest goes
    first; then the pair whose other side has fewest rows; then the leftmost.
    """
    blocks = [[leaf] for leaf in leaves_of(tree)]

    def size(block):
        return sum(rows[leaf] for leaf in block)

    while len(blocks) > 1 and any(size(block) < least for block in blocks):
        pairs = []
        for at, block in enumerate(blocks):
            if size(block) >= least:
                continue
            own = []
            for border, other in ((at - 1, at - 1), (at, at + 1)):
                if 0 <= other < len(blocks):
                    depth = parting_depth(tree, blocks[border][-1], blocks[border + 1][0])
                    own.append((-depth, size(blocks[other]), border))
            pairs.append(min(own))
        border = min(pairs)[2]
        blocks[border : border + 2] = [blocks[border] + blocks[border + 1]]
    return blocks
