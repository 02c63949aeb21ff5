"""Write suggestions as a commented TOML file that works as it is and that a person can edit."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from textwrap import wrap

from coterie.settings.registry import FIELDS
from coterie.settings.threshold import DEFAULT_THRESHOLD, PRESETS
from coterie.settings.toml import toml_text
from coterie.suggesting.hipaa import safe_harbor
from coterie.suggesting.proposals import Proposal, people_in, smallest_group
from coterie.suggesting.suggest import Guess
from coterie.wording import one_line

ROLE_SETTINGS = {
    "quasi": "quasi",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "keep": "keep",
    "drop": "drop",
}
"""role → the setting that lists its columns, in the order in which they are shown"""
_NOTES = {
    "quasi": "Move a column to another list if the suggestion is wrong.",
    "keep": "Check each: a person can be recognized by values that others know.",
}
# What is taken for nothing in particular has to be in a list as well: a column in none is refused.
_DECISIONS = {"other": "keep"}


def decision(role: str) -> str:
    """Return the role under which a suggestion is written."""
    return _DECISIONS.get(role, role)


def _k(guesses: Sequence[Guess], rows: int) -> str:
    """Return the setting of k, and its limitations on a small table."""
    k, limit = smallest_group(people_in(guesses, rows)), PRESETS[DEFAULT_THRESHOLD]
    text = _about("k")
    if k < limit.rows:
        risk = f"1/{k} is above the default threshold of {float(limit.value):g}, which takes k = {limit.rows}"
        text += f"# So few rows suggest k = {k}; its risk of {risk}.\n"
    return f"{text}k = {k}"


def suggestion_toml(
    guesses: Sequence[Guess],
    *,
    source: str,
    rows: int,
    reading: Mapping[str, object] | None = None,
    proposals: Sequence[Proposal] = (),
    file: bool = True,
) -> str:
    """Return the text of the TOML file. It has column names and counts, never cells.

    `reading` has the settings needed to read the source, which may be a file that a program can read again.
    """
    blocks = [
        f"# Configuration for {one_line(source)} ({rows:,} rows), suggested by `coterie init` from names and counts.\n"
        "# Review it: only you know what others may know. Every column is in one of the lists below. Then:\n"
        f"#   coterie anonymize {one_line(source)} -c coterie.toml -o out.csv",
        _k(guesses, rows),
    ]
    for role, key in ROLE_SETTINGS.items():
        chosen = [guess for guess in guesses if decision(guess.role) == role]
        blocks.append(f"{_about(key, _NOTES.get(key, ''))}{_array(key, chosen)}")
    blocks += [_people(guesses), _safe_harbor(guesses)]
    blocks.append(_setting("missing"))
    blocks += [f"{_about(name)}{_line(name, value)}" for name, value in (reading or {}).items()]
    blocks.append(_setting("seed"))
    quasi = [guess for guess in guesses if guess.role == "quasi"]
    given = [
        f"{name}={json.dumps(value) if isinstance(value, str | list) else value}"
        for name, value in (reading or {}).items()
    ]
    call = ", ".join([json.dumps(source), *given]) if file else ""
    blocks += [_types(quasi), _hierarchies(quasi, proposals, call)]
    blocks.append(_table("weights", ["# " + _line(guess.name, 2.0) for guess in quasi[:1]]))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _about(name: str, note: str = "") -> str:
    """Return the description of a setting as comment lines."""
    return "".join(f"# {line}\n" for line in wrap(f"{FIELDS[name].hint} {note}", 117, break_on_hyphens=False))


def _setting(name: str) -> str:
    return _about(name) + _line(name, FIELDS[name].default)


def _value(value: object) -> str:
    return toml_text({"x": value}).removeprefix("x = ").rstrip("\n")


def _line(name: str, value: object) -> str:
    # Inline tables and lists keep one setting on one line.
    if isinstance(value, list):
        return f"{name} = [{', '.join(_value(item) for item in value)}]"
    if isinstance(value, dict):
        (rule, arguments), *_ = value.items()
        listed = ", ".join(_value(argument) for argument in arguments)
        return toml_text({name: 0}).rsplit("=", 1)[0] + f"= {{ {rule} = [{listed}] }}"
    return toml_text({name: value}).rstrip("\n")


def _why(guess: Guess) -> str:
    return f"# {one_line(guess.reason)}; {guess.distinct:,} distinct, {guess.missing:,} missing"


def _array(key: str, guesses: Sequence[Guess]) -> str:
    if not guesses:
        return f"{key} = []"
    names = [_value(guess.name) + "," for guess in guesses]
    wide = max(map(len, names))
    lines = [f"    {name:<{wide}}  {_why(guess)}" for name, guess in zip(names, guesses, strict=True)]
    return "\n".join([f"{key} = [", *lines, "]"])


def _people(guesses: Sequence[Guess]) -> str:
    """Return the column that identifies each row's person, if people have several rows."""
    about = _about("entity", "Delete this line if every row is a different person.")
    return next((about + _line("entity", guess.name) for guess in guesses if guess.entity), "")


def _safe_harbor(guesses: Sequence[Guess]) -> str:
    """Return a comment that says which columns HIPAA's Safe Harbor would have removed or coarsened."""
    found = [(one_line(guess.name), entry) for guess in guesses if (entry := safe_harbor(guess.name)) is not None]
    if not found:
        return ""
    wide = max(len(name) for name, _ in found)
    lines = [f"#   {name:<{wide}}  ({entry.letter}) {entry.what}" for name, entry in found]
    head = [
        "# Where HIPAA applies: names that suggest one of the 18 identifiers of its Safe Harbor, 45 CFR 164.514(b)(2).",
        "# Safe Harbor is an alternative to k-anonymity; this list is based on names only and decides nothing.",
    ]
    return "\n".join([*head, *lines])


def _types(quasi: Sequence[Guess]) -> str:
    typed = [_line(guess.name, guess.type) for guess in quasi if guess.type is not None]
    return _table("types", typed) if typed else ""


def _table(name: str, lines: Sequence[str], note: str = "") -> str:
    return "\n".join([f"[{name}]", _about(name, note).rstrip(), *lines])


def _hierarchies(quasi: Sequence[Guess], proposals: Sequence[Proposal], read: str) -> str:
    note = "Categories without one are published as sets of values. `coterie hierarchy build` starts one."
    lines = [_line(guess.name, guess.hierarchy) for guess in quasi if guess.hierarchy is not None]
    if proposals:
        sample = f"a sample of {proposals[0].rows:,} rows, grouped with k = {proposals[0].k}"
        lines.append(f"# Proposals for what loses most, one on top of the other, with the loss (GCP) of {sample}.")
        lines.append("# Review one, then accept it: delete the # before its last line.")
    for each in proposals:
        name, place = one_line(each.column), f"{re.sub(r'[^A-Za-z0-9_-]', '_', each.column)}.csv"
        lines.append(f"# {name}: {each.what}; loss {each.before:.3f} without, {each.after:.3f} with it.")
        if each.rule is None:
            write = f".hierarchies[{json.dumps(each.column)}].to_csv({json.dumps(place)})"
            program = shlex.quote(f"import coterie; coterie.suggest({read}){write}")
            lines.append(one_line(f"# python -c {program}" if read else f"# suggestion{write}"))
        lines.append("# " + one_line(_line(each.column, place if each.rule is None else each.rule)))
    return _table("hierarchies", lines, note)
