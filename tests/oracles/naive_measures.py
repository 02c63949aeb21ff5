"""The slow, obvious twin of `measures`: each formula of the papers over lists of values. Standard library only.

An attribute is a dict:
    {"values": [...], "weight": 1.0}                      numbers (None is missing)
    {"values": [...], "weight": 1.0, "paths": {...}}      categories: value → labels from the root down to the value,
                                                          for every leaf of the hierarchy, present or not
    {…, "weights": {label: weight}}                       and weights of labels, values and groups alike
Groups are lists of row numbers. Suppressed rows are in no group.
"""

MISSING = "<missing>"


def tree_paths(attribute):
    """Value → path, with missing values (if there are any) as one more leaf directly under the root."""
    paths = dict(attribute["paths"])
    if None in attribute["values"]:
        root = next(iter(paths.values()))[0] if paths else "*"
        paths[None] = (root, MISSING)
    return paths


def common_ancestor(paths, values):
    """The longest path that all values' paths begin with."""
    chosen = [paths[value] for value in values]
    shared = []
    for labels in zip(*chosen, strict=False):
        if len(set(labels)) > 1:
            break
        shared.append(labels[0])
    return tuple(shared)


def beneath(paths, node):
    return [path for path in paths.values() if path[: len(node)] == node]


def number_share(attribute, values):
    if len(set(values)) == 1:
        return 0.0
    if None in values:
        return 1.0
    present = [value for value in attribute["values"] if value is not None]
    return (max(values) - min(values)) / (max(present) - min(present))


def ncp(attribute, values, leaf_counts):
    if "paths" not in attribute:
        return number_share(attribute, values)
    if len(set(values)) == 1:
        return 0.0
    paths = tree_paths(attribute)
    node = common_ancestor(paths, values)
    if leaf_counts == "present":
        paths = {value: path for value, path in paths.items() if value in attribute["values"]}
    return size(paths, node, attribute.get("weights", {})) / size(paths, node[:1], attribute.get("weights", {}))


def size(paths, node, weights):
    """Weights of a node and of all nodes beneath it that hold a leaf; a leaf weighs 1 unless said so, others 0."""
    leaves = set(paths.values())
    nodes = {path[:depth] for path in beneath(paths, node) for depth in range(len(node), len(path) + 1)}
    return sum(weights.get(each[-1], 1 if each in leaves else 0) for each in nodes)


def open_share(attribute, values):
    """Values of the table that the interval or label of a group leaves open, the own one apart ÷ all other values."""
    every, held = set(attribute["values"]), set(values)
    if len(held) == 1:
        return 0.0
    if "paths" in attribute:
        paths = tree_paths(attribute)
        node = common_ancestor(paths, values)
        left = [value for value in every if paths[value][: len(node)] == node]
    else:
        left = every if None in held else [x for x in every if x is not None and min(values) <= x <= max(values)]
    return (len(left) - 1) / (len(every) - 1)


def set_share(column, values, most=20):
    """The same of a column of categories that is published as sets, or as `*` where a set would be too long."""
    held, every = set(values), set(column)
    left = every if len(held) > 1 and (None in held or len(held) > most) else held
    return (len(left) - 1) / max(len(every) - 1, 1)


def height_ratio(attribute, values):
    if "paths" not in attribute:
        return number_share(attribute, values)
    if len(set(values)) == 1:
        return 0.0
    paths = tree_paths(attribute)
    node = common_ancestor(paths, values)
    height = max(len(path) for path in beneath(paths, node)) - len(node)
    return height / (max(map(len, paths.values())) - 1)


def weighted_distance(p, q, weight, h):
    """WHD(p, q): from level p up to level q in a hierarchy of h levels; weight(j) lies between levels j and j − 1."""
    return sum(weight(j) for j in range(q + 1, p + 1)) / sum(weight(j) for j in range(2, h + 1))


def distortion(attribute, values, weight):
    if "paths" not in attribute:
        return number_share(attribute, values)
    if len(set(values)) == 1:
        return 0.0
    paths = tree_paths(attribute)
    levels = max(map(len, paths.values()))
    return weighted_distance(levels, len(common_ancestor(paths, values)), weight, levels)


def published_alike(attribute, values):
    """What is published of a group, as something that can be compared."""
    if len(set(values)) == 1:
        return ("value", values[0])
    if "paths" in attribute:
        return ("node", common_ancestor(tree_paths(attribute), values))
    return ("root",) if None in values else ("interval", min(values), max(values))


def measure(attributes, groups, *, rows, k, leaf_counts="present", beta=1.0):
    suppressed = rows - sum(map(len, groups))
    cells = rows * len(attributes)
    uniform, by_height = (lambda j: 1), (lambda j: 1 / (j - 1) ** beta)
    totals = dict.fromkeys(["gcp", "ncp", "total_il", "distortion", "height_distortion", "changed", "open"], 0.0)
    classes = {}
    for group in groups:
        alike = []
        for attribute in attributes:
            values = [attribute["values"][row] for row in group]
            alike.append(published_alike(attribute, values))
            for _ in group:
                totals["gcp"] += ncp(attribute, values, leaf_counts)
                totals["ncp"] += attribute["weight"] * ncp(attribute, values, leaf_counts)
                totals["total_il"] += height_ratio(attribute, values)
                totals["distortion"] += distortion(attribute, values, uniform)
                totals["height_distortion"] += distortion(attribute, values, by_height)
                totals["open"] += open_share(attribute, values)
                totals["changed"] += len(set(values)) > 1
        classes[tuple(alike)] = classes.get(tuple(alike), 0) + len(group)
    for name in totals:
        for attribute in attributes:
            totals[name] += suppressed * (attribute["weight"] if name == "ncp" else 1)
    sizes = list(classes.values())
    return {
        "gcp": totals["gcp"] / cells,
        "ncp": totals["ncp"],
        "information_loss": totals["gcp"] / cells,
        "set_loss": totals["open"] / cells,
        "total_il": totals["total_il"],
        "height_loss": totals["total_il"] / cells,
        "distortion": totals["distortion"],
        "distortion_ratio": totals["distortion"] / cells,
        "height_distortion": totals["height_distortion"],
        "height_distortion_ratio": totals["height_distortion"] / cells,
        "modification_rate": totals["changed"] / cells,
        "discernability": sum(size**2 for size in sizes) + suppressed * rows,
        "c_avg": rows / (max(len(sizes), 1) * k),
        "groups": len(sizes),
        "smallest": min(sizes, default=0),
        "largest": max(sizes, default=0),
        "average_size": sum(sizes) / max(len(sizes), 1),
        "suppressed": suppressed,
    }
