"""Guesses written down as a commented TOML file that works as it is and that a person can edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tomli_w

from coterie.settings.threshold import DEFAULT_K, DEFAULT_THRESHOLD, PRESETS
from coterie.suggesting.hipaa import safe_harbor
from coterie.suggesting.suggest import Guess

_ROLES = {
    "quasi": (
        "quasi",
        "Quasi-identifiers: what others may know of a person, and could recognise the person by. Their values are\n"
        "# generalised until at least k rows share them. Move a column to another list if the guess is wrong.",
    ),
    "sensitive": ("sensitive", "Sensitive: what nobody should learn of a person. Published as it is."),
    "identifier": ("identifiers", "Identifiers: left out of the release."),
    "keep": (
        "keep",
        "Kept: published unchanged. Look at each: whoever knows its values of a person could recognise the person.",
    ),
    "drop": ("drop", "Dropped: left out of the release because nobody needs them."),
}
# What is taken for nothing in particular has to be in a list as well: a column in none is refused.
_DECISIONS = {"other": "keep"}


def decision(role: str) -> str:
    """The role that a guess is written down as."""
    return _DECISIONS.get(role, role)


def smallest_group(rows: int) -> int:
    """A k that a table of this many rows can bear: the default, less for small tables."""
    return max(2, min(DEFAULT_K, rows // 5))


def _k(rows: int) -> str:
    """The setting of k, and what it does not achieve on a small table."""
    k, limit = smallest_group(rows), PRESETS[DEFAULT_THRESHOLD]
    text = "# Every published row shares its quasi-identifiers with at least k - 1 others.\n"
    if k < limit.rows:
        risk = f"1/{k} is above the default threshold of {float(limit.value):g}, which takes k = {limit.rows}"
        text += f"# So few rows suggest k = {k}; its risk of {risk}.\n"
    return f"{text}k = {k}"


def suggestion_toml(
    guesses: Sequence[Guess], *, source: str, rows: int, reading: Mapping[str, object] | None = None
) -> str:
    """The text of the TOML file. It names columns and counts, never a cell.

    Args:
        guesses: What each column is taken for.
        source: Name of the file.
        rows: How many rows it has.
        reading: Settings with which the file had to be read.
    """
    people = next((guess.distinct for guess in guesses if guess.entity), rows)
    blocks = [
        f"# Configuration for {_comment(source)} ({rows:,} rows), guessed by `coterie init` from names and counts.\n"
        "# Look it over: only you know what others may know. Every column is in one of the lists below. Then:\n"
        f"#   coterie anonymize {_comment(source)} -c coterie.toml -o out.csv",
        _k(people),
    ]
    for role, (key, text) in _ROLES.items():
        chosen = [guess for guess in guesses if decision(guess.role) == role]
        blocks.append(f"# {text}\n{_array(key, chosen)}")
    blocks += [_people(guesses), _safe_harbor(guesses)]
    blocks.append(
        '# Missing values: "category" (a value of their own), "suppress" (leave such rows out) or "error".\n'
        'missing = "category"'
    )
    if reading:
        settings = "\n".join(_line(*setting) for setting in reading.items())
        blocks.append(f"# How to read the file. Cells like those in missing_values count as missing.\n{settings}")
    blocks.append("# The same seed gives the same release.\nseed = 0")
    quasi = [guess for guess in guesses if guess.role == "quasi"]
    blocks += [_types(quasi), _hierarchies(quasi), _weights(quasi)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _comment(text: str) -> str:
    """Text that stays within one comment line, whatever a file or column is called."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _value(value: object) -> str:
    return tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n")


def _line(name: str, value: object) -> str:
    # Inline tables and lists keep one setting on one line.
    if isinstance(value, list):
        return f"{name} = [{', '.join(_value(item) for item in value)}]"
    if isinstance(value, dict):
        (rule, arguments), *_ = value.items()
        listed = ", ".join(_value(argument) for argument in arguments)
        return tomli_w.dumps({name: 0}).rsplit("=", 1)[0] + f"= {{ {rule} = [{listed}] }}"
    return tomli_w.dumps({name: value}).rstrip("\n")


def _why(guess: Guess) -> str:
    return f"# {guess.reason}; {guess.distinct:,} distinct, {guess.missing:,} missing"


def _array(key: str, guesses: Sequence[Guess]) -> str:
    if not guesses:
        return f"{key} = []"
    names = [_value(guess.name) + "," for guess in guesses]
    wide = max(map(len, names))
    lines = [f"    {name:<{wide}}  {_why(guess)}" for name, guess in zip(names, guesses, strict=True)]
    return "\n".join([f"{key} = [", *lines, "]"])


def _people(guesses: Sequence[Guess]) -> str:
    """The column that says which person a row belongs to, where people have several rows."""
    for guess in guesses:
        if guess.entity:
            return (
                "# Whose row it is: rows share values of this column, so people seem to have several. k then counts\n"
                "# people, not rows. Delete the line if every row is another person; the column stays an identifier.\n"
                + _line("entity", guess.name)
            )
    return ""


def _safe_harbor(guesses: Sequence[Guess]) -> str:
    """A comment that says which columns HIPAA's Safe Harbor would have removed or coarsened."""
    found = [(_comment(guess.name), entry) for guess in guesses if (entry := safe_harbor(guess.name)) is not None]
    if not found:
        return ""
    wide = max(len(name) for name, _ in found)
    lines = [f"#   {name:<{wide}}  ({entry.letter}) {entry.what}" for name, entry in found]
    head = [
        "# Where HIPAA applies: names that suggest one of the 18 identifiers of its Safe Harbor, 45 CFR 164.514(b)(2).",
        "# Safe Harbor is another way than k-anonymity; this list goes by names only and decides nothing.",
    ]
    return "\n".join([*head, *lines])


def _types(quasi: Sequence[Guess]) -> str:
    typed = [_line(guess.name, guess.type) for guess in quasi if guess.type is not None]
    if not typed:
        return ""
    head = "[types]  # only where the values alone would suggest another type: number, category, date"
    return "\n".join([head, *typed])


def _hierarchies(quasi: Sequence[Guess]) -> str:
    lines = [
        "[hierarchies]",
        "# A CSV file (value;parent;…;root), a rule such as { intervals = [5, 10] } or { prefixes = [3] }, or a nested",
        "# table. Numbers need none. Categories without one are published as sets of values; a hierarchy that joins",
        "# what belongs together keeps more: `coterie hierarchy build` starts one.",
    ]
    lines += [_line(guess.name, guess.hierarchy) for guess in quasi if guess.hierarchy is not None]
    return "\n".join(lines)


def _weights(quasi: Sequence[Guess]) -> str:
    lines = ["[weights]  # how much a column's detail is worth to you; 1 where nothing is said"]
    lines += ["# " + _comment(_line(guess.name, 2.0)) for guess in quasi[:1]]
    return "\n".join(lines)
