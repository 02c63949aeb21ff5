"""Several releases against known people, person by person."""


def intersect(releases, people, fits, shared, k):
    """Count people below k, alone and together, and with one candidate.

    Args:
        releases: Release → rows as dicts.
        people: Known people as dicts.
        fits: (person, row) → whether the row may be the person's.
        shared: Columns that all releases publish unchanged.
        k: What is wanted.
    """
    found = {"people": 0, "below_alone": 0, "below": 0, "pinned": 0, "fewest": None, "known": 0}
    for person in people:
        candidates = [[row for row in rows if fits(person, row)] for rows in releases]
        candidates = [rows for rows in candidates if rows]
        if len(candidates) < 2:
            continue
        values = [{tuple(row[name] for name in shared) for row in rows} for rows in candidates]
        common = set.intersection(*values)
        left = [[row for row in rows if tuple(row[name] for name in shared) in common] for rows in candidates]
        if not common:
            continue
        fewest = min(map(len, left))
        found["people"] += 1
        found["below_alone"] += min(map(len, candidates)) < k
        found["below"] += fewest < k
        found["pinned"] += fewest == 1
        found["fewest"] = fewest if found["fewest"] is None else min(fewest, found["fewest"])
        found["known"] += len({value[0] for value in common}) == 1
    return found
