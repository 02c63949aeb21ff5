"""Judges a written release by its bytes: classes counted by hand, cells compared with the original.

Promises are decided from lists and dictionaries; scripts/soak.py reads the file.
"""

import math
from collections import Counter, defaultdict
from fractions import Fraction


def faults_of(original, published, settings):
    """What is wrong with a release of this original by these settings, as sentences."""
    names = [
        name for column in settings["quasi"] for name in (column, f"{column}_min", f"{column}_max") if name in published
    ]
    rows = len(published["at"])
    faults = []
    if {*published} != {*names, "ill", "at"}:
        faults.append(f"columns {sorted(published)}")
    places = [int(float(cell)) for cell in published["at"]]
    if len(set(places)) != rows or sorted(places) != places:
        faults.append("rows twice, or in another order")
    if any(published["ill"][at] != original["ill"][place] for at, place in enumerate(places)):
        faults.append("a cell that is to stay is another one")
    if settings["method"] == "nh":
        return faults
    classes = defaultdict(list)
    for at in range(rows):
        classes[tuple(published[name][at] for name in names)].append(published["ill"][at])
    least = min((len(each) for each in classes.values()), default=settings["k"])
    if least < settings["k"]:
        faults.append(f"a class of {least}")
    for model in settings.get("privacy", []):
        name, _, limit = model.partition(":")
        whole = Counter(published["ill"])
        for ills in classes.values():
            if not _kept(name, Fraction(limit), Counter(ills), whole):
                faults.append(f"a class breaks {model}")
                break
    return faults


def _kept(name, limit, inside, whole):
    """Whether one class keeps a promise."""
    size, rows = sum(inside.values()), sum(whole.values())
    shares = {ill: Fraction(count, size) for ill, count in inside.items()}
    overall = {ill: Fraction(count, rows) for ill, count in whole.items()}
    close = 1e-9
    if name == "l-diversity":
        return len(inside) >= limit
    if name == "entropy-l-diversity":
        return -sum(float(share) * math.log(share) for share in shares.values()) >= math.log(limit) - close
    if name == "alpha-k":
        return max(shares.values()) <= limit
    if name == "t-closeness":
        return sum(abs(shares.get(ill, 0) - share) for ill, share in overall.items()) / 2 <= limit
    if name == "beta-likeness":
        # Enhanced or not, what is gained must not exceed β times the share before.
        return all((share - overall[ill]) / overall[ill] <= limit for ill, share in shares.items())
    if name == "delta-disclosure":
        return all(
            ill in shares and abs(math.log(shares[ill] / share)) <= limit + close for ill, share in overall.items()
        )
    raise ValueError(name)
