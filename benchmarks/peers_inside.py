"""Runs inside the peers' own environment: anonymize a CSV file by one of them, time it, and leave what it published.

    python peers_inside.py '{"peer": "anonypy", "data": …, "quasi": […], "k": 10, "hierarchies": {…}, "out": …}'

Nothing of coterie is imported here.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pandas


def anonypy(frame, request):
    """Mondrian; it gives one line for each class and sensitive value, with a count."""
    from anonypy import Preserver

    for name in request["quasi"]:
        if not pandas.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    preserver = Preserver(frame, request["quasi"], request["sensitive"])
    return lambda: pandas.DataFrame(preserver.anonymize_k_anonymity(k=request["k"]))


def anjana(frame, request):
    """Full-domain generalization, 1 % of the rows may be suppressed; `row` says which row is which."""
    from anjana.anonymity import k_anonymity

    trees = {
        name: {level: pandas.Series(column) for level, column in enumerate(zip(*rows, strict=True))}
        for name, rows in request["hierarchies"].items()
    }
    frame["age"] = frame["age"].astype(str)
    frame["row"] = range(len(frame))
    return lambda: k_anonymity(frame, [], list(request["quasi"]), request["k"], 1, trees)


def peak_mb():
    """The most memory that this process has held so far."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    return int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def main():
    """Do what the request asks for and print figures as JSON."""
    request = json.loads(sys.argv[1])
    frame = pandas.read_csv(request["data"])
    call = {"anonypy": anonypy, "anjana": anjana}[request["peer"]](frame, request)
    wall, cpu = time.perf_counter(), time.process_time()
    published = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    for name in published.columns:  # anonypy publishes each cell as a list of one
        published[name] = [cell[0] if isinstance(cell, list) else cell for cell in published[name]]
    published.to_csv(request["out"], index=False)
    print(json.dumps({"wall": wall, "cpu": cpu, "peak_mb": peak_mb(), "version": version(request["peer"])}))


if __name__ == "__main__":
    main()
