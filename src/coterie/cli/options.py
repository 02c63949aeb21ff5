"""Turn flags into a configuration.

Every flag corresponds to a TOML setting and overrides it; tables such as weights are overridden
entry by entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.errors import ConfigError, Problem
from coterie.settings.registry import FIELDS
from coterie.settings.roles import ROLES, parse_names

if TYPE_CHECKING:
    from coterie.engines.spark.session import Cluster
    from coterie.settings.config import Config

names = parse_names


def pairs(texts: Sequence[str], *, flag: str, form: str = "NAME=VALUE") -> dict[str, str]:
    """Parse flags of a form such as `COLUMN=VALUE` into a dict; the name ends at the first equals sign."""
    found: dict[str, str] = {}
    problems = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            problems.append(Problem(f"--{flag}", f"expected {form}, but got {text!r}"))
        found[name.strip()] = value.strip()
    if problems:
        raise ConfigError(problems)
    return found


def changes_of(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings given as flags, by option name."""
    changes: dict[str, Any] = {}
    for setting in FIELDS.values():
        value = flags.get(setting.parameter)
        if value is None or value == []:
            continue
        read = setting.read or (lambda text: text)
        if setting.kind == "table":
            given = pairs(value, flag=setting.parameter, form=setting.metavar)
            changes[setting.name] = {name: read(text) for name, text in given.items()}
        elif setting.kind == "columns" and setting.read is None:
            changes[setting.name] = names(value)
        else:
            changes[setting.name] = read(value)
    return changes


def cluster_of(master: str | None, settings: Sequence[str] | None, *, engine: str) -> Cluster | None:
    """Return the Spark cluster, if one was given."""
    if master is None and not settings:
        return None
    from coterie.engines.spark.session import Cluster

    if engine != "spark":
        flag = "spark" if master is None else "master"
        raise ConfigError([Problem(flag, "is for Spark, which is never chosen automatically; add --engine spark")])
    return Cluster(master, pairs(settings or [], flag="spark"))


def configured(config: Path | None, **flags: object) -> Config:
    """Return a command's configuration: the TOML file, if any, overridden by the flags."""
    from coterie.settings.changes import changed
    from coterie.settings.config import Config
    from coterie.settings.toml import read_toml

    changes = changes_of(flags)
    if config is None:
        return Config(**changes)
    values = read_toml(config)
    # Roles come first: a column that loses its role also loses its weight and hierarchy.
    values = changed(values, {name: changes[name] for name in ROLES if name in changes})
    for table in (setting.name for setting in FIELDS.values() if setting.kind == "table"):
        # `--weight age=4` changes the weight of age and no other.
        if table in changes and isinstance(values.get(table), Mapping):
            keep = table != "options" or changes.get("method", values.get("method")) == values.get("method")
            changes[table] = {**(values[table] if keep else {}), **changes[table]}
    return Config.from_dict(changed(values, changes), base=config.parent, file=config)
