"""Write src/coterie/kernels/signatures.py: the kernels that each method calls, with their argument types.

Run it after adding a kernel or changing its arguments: `python scripts/make_signatures.py`. Each method groups
a small table in its own process, twice: once the code is compiled, the only kernels that a process loads
are those that Python calls. What is stored is not used: it may not fit the kernels any more.

If all kernels have to be compiled, as after a change to a shared one, this takes more than 10 minutes, one
method after the other; seconds for each method whose kernels are compiled already.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
import textwrap
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "src/coterie/kernels/signatures.py"
ROWS = {"optimal": 12}  # others: 400
# What a method is run with to be seen with all that it usually calls: it may go about small groups differently.
SIZES = (3, 10)
VARIANTS: dict[str, list[dict[str, object]]] = {"compact": [{}, {"effort": "fast"}]}
# They share the search for the nearest places, which takes long to compile.
FIRST = ("improve.ruin._ruin_and_recreate", "methods.compact._grow_boxes", "search.nearby._list_near_places")
HEAD = '''"""The kernels that each method calls, with their argument types, for compiling ahead of a run.

Written by scripts/make_signatures.py. Kernels that are not listed are compiled when first called.
"""

from __future__ import annotations

'''


def called() -> dict[str, dict[str, list[str]]]:
    """Return the kernels that Python has called in this process, with their argument types; the largest code first."""
    import coterie.kernels
    from coterie.kernels import spelled

    found: dict[str, tuple[int, list[str]]] = {}
    tuples: dict[str, list[str]] = {}
    for info in pkgutil.walk_packages(coterie.kernels.__path__, "coterie.kernels."):
        module = info.name.removeprefix("coterie.kernels.")
        for name, value in vars(importlib.import_module(info.name)).items():
            function = getattr(value, "py_func", None)
            if function is None or function.__module__ != info.name:
                continue
            if value.overloads and not value.targetoptions.get("no_cpython_wrapper"):
                made = next(iter(value.overloads.values()))
                code = coterie.kernels.cache_folder().rglob(f"{module.rpartition('.')[2]}.{name}-*.nbc")
                size = sum(file.stat().st_size for file in code)
                found[f"{module}.{name}"] = (size, [spelled(kind) for kind in made.signature.args])
                waiting = list(made.signature.args)
                while waiting:  # tuples may hold tuples
                    kind = waiting.pop()
                    if hasattr(kind, "instance_class"):
                        tuples[spelled(kind)] = [spelled(each) for each in kind]
                        waiting += kind
    order = sorted(found, key=lambda name: (name not in FIRST, -found[name][0], name))
    return {"tuples": tuples, "kernels": {name: found[name][1] for name in order}}


def _run(method: str) -> None:
    from coterie.api.anonymize import anonymize
    from coterie.cli.commands.demo import configuration, people
    from coterie.kernels.signatures import METHODS

    METHODS.clear()  # nothing is compiled ahead, by types that a changed tuple does not have
    for options in VARIANTS.get(method, [{}]):
        for k in SIZES:
            config = configuration(k=k, method=method).replace(options=options)
            anonymize(people().slice(0, ROWS.get(method, 400)), config=config)
    sys.stdout.write(json.dumps(called()) + "\n")


def write(tuples: dict[str, list[str]], signatures: dict[str, list[str]], methods: dict[str, list[str]]) -> None:
    """Write the module."""
    lines = []
    for title, known in (("TUPLES", tuples), ("SIGNATURES", signatures)):
        lines.append(f"{title} = {{")
        for name in sorted(known):
            text = textwrap.fill(" ".join(known[name]), 110, initial_indent=" " * 8, subsequent_indent=" " * 8)
            lines += [f'    "{name}": """', text, '    """,']
        lines += ["}", ""]
    lines += ["# Neighbours share parts; otherwise what takes longest is first.", "METHODS = {"]
    for method, names in methods.items():
        lines.append(f'    "{method}": ({"".join(json.dumps(name) + ", " for name in names)}),')
    TARGET.write_text(HEAD + "\n".join([*lines, "}", ""]))
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", TARGET], check=True)


def main() -> None:
    """Run all methods and write the module."""
    from coterie.methods import all_methods

    if sys.argv[1:]:
        _run(sys.argv[1])
        return
    tuples: dict[str, list[str]] = {}
    signatures: dict[str, list[str]] = {}
    methods: dict[str, list[str]] = {}
    for method in all_methods():
        for _ in range(2):
            command = [sys.executable, __file__, method]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        methods[method] = list(found["kernels"])
        tuples |= found["tuples"]
        signatures |= found["kernels"]
    write(tuples, signatures, methods)


if __name__ == "__main__":
    main()
