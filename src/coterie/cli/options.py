"""How flags become a configuration.

Every flag has its place in the TOML file and overrides what stands there; tables such as weights are overridden
entry by entry.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.errors import ConfigError, Problem
from coterie.settings.roles import ROLES, parse_names
from coterie.settings.texts import option_value

if TYPE_CHECKING:
    from coterie.engines.spark.session import Cluster
    from coterie.settings.config import Config

# Flag → the setting it stands for, by how its text is read.
_LISTS = {
    "quasi": "quasi",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "keep": "keep",
    "drop": "drop",
    "accept": "accept",
    "missing_values": "missing_values",
}
_TABLES = {
    "hierarchy": "hierarchies",
    "type": "types",
    "weight": "weights",
    "publish": "publish",
    "option": "options",
    "limit": "limits",
}
_RULES = ("flat", "prefixes", "intervals", "dates")

names = parse_names


def pairs(texts: Sequence[str], *, flag: str) -> dict[str, str]:
    """`COLUMN=VALUE` flags as a dict; the name ends at the first equals sign."""
    found: dict[str, str] = {}
    problems = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            problems.append(Problem(f"--{flag}", f"expected NAME=VALUE, but got {text!r}"))
        found[name.strip()] = value.strip()
    if problems:
        raise ConfigError(problems)
    return found


def hierarchy_spec(text: str) -> object:
    """A hierarchy from its flag: a rule with its numbers or words, or the path of a file."""
    word, colon, rest = text.partition(":")
    if word not in _RULES or (colon and word == "flat"):
        # A path on the command line starts at the current folder, not at the folder of the TOML file.
        return str(Path(text).absolute())
    if word == "flat":
        return "flat"
    parts = [part.strip() for part in rest.split(",") if part.strip()]
    return {word: parts if word == "dates" else [_number(part) for part in parts]}


def _number(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def changes_of(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Settings from those flags that were given."""
    changes: dict[str, Any] = {}
    for flag, value in flags.items():
        if value is None or value == []:
            continue
        if flag == "missing_values":
            changes[flag] = [cell for row in csv.reader(value) for cell in (row or [""])]
        elif flag in _LISTS:
            changes[_LISTS[flag]] = names(value)
        elif flag in _TABLES:
            changes[_TABLES[flag]] = pairs(value, flag=flag)
        elif flag == "delimiter":
            changes[flag] = value.replace("\\t", "\t")
        else:
            changes[flag] = value
    if "hierarchies" in changes:
        changes["hierarchies"] = {column: hierarchy_spec(text) for column, text in changes["hierarchies"].items()}
    if "options" in changes:
        changes["options"] = {name: option_value(text) for name, text in changes["options"].items()}
    return changes


def cluster_of(master: str | None, settings: Sequence[str] | None, *, engine: str) -> Cluster | None:
    """Where Spark runs, if anything was said of it."""
    if master is None and not settings:
        return None
    from coterie.engines.spark.session import Cluster

    if engine != "spark":
        flag = "spark" if master is None else "master"
        raise ConfigError([Problem(flag, "is for Spark, which is never chosen by itself; give --engine spark too")])
    return Cluster(master, pairs(settings or [], flag="spark"))


def configured(config: Path | None, **flags: object) -> Config:
    """The configuration of a command: the TOML file, if any, with the flags on top."""
    from coterie.settings.changes import changed
    from coterie.settings.config import Config
    from coterie.settings.toml import read_toml

    changes = changes_of(flags)
    if config is None:
        return Config(**changes)
    values = read_toml(config)
    # Roles come first: a column that a flag takes out of them takes its weight and hierarchy along.
    values = changed(values, {name: changes[name] for name in ROLES if name in changes})
    for table in _TABLES.values():
        # `--weight age=4` changes the weight of age and no other.
        if table in changes and isinstance(values.get(table), Mapping):
            keep = table != "options" or changes.get("method", values.get("method")) == values.get("method")
            changes[table] = {**(values[table] if keep else {}), **changes[table]}
    return Config.from_dict(changed(values, changes), base=config.parent, file=config)
