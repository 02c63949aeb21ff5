"""What pycanon says of tables, for another process: a line of JSON with a table in, a line with the answer out.

It runs in an environment of its own (`make test-peers`): pycanon asks for exact versions of NumPy, pandas, SciPy and
Typer, and what coterie is tested on must not follow from that. It imports nothing of coterie.
"""

import json
import sys
import warnings

import pandas as pd
from pycanon import anonymity

warnings.simplefilter("ignore")

CHECKS = {
    "k": lambda frame, quasi, sensitive: anonymity.k_anonymity(frame, quasi),
    "l": anonymity.l_diversity,
    "alpha": lambda frame, quasi, sensitive: anonymity.alpha_k_anonymity(frame, quasi, sensitive)[0],
    "t": anonymity.t_closeness,
    "beta": anonymity.basic_beta_likeness,
}


def answer(asked):
    """Name of a check → what pycanon finds; a check that pycanon breaks on has the name of its error."""
    frame = pd.DataFrame(asked["columns"])
    found = {}
    for name in asked["checks"]:
        try:
            found[name] = float(CHECKS[name](frame, asked["quasi"], asked["sensitive"]))
        except Exception as error:
            found[name] = type(error).__name__
    return found


for line in sys.stdin:
    sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
    sys.stdout.flush()
