"""The flags that commands share, and how they become a configuration.

Every flag has its place in the TOML file and overrides what stands there; tables such as weights are overridden
entry by entry. Nothing heavy is imported here: `coterie --help` must answer at once.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import complete
from coterie.errors import ConfigError, Problem
from coterie.settings.roles import ROLES, parse_names
from coterie.settings.texts import option_value
from coterie.settings.threshold import DEFAULT_K, DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from coterie.engines.spark.session import Cluster
    from coterie.settings.config import Config

ConfigFile = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="Configuration, as `coterie init` writes it.")
]
Quasi = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Quasi-identifiers, separated by commas; may be repeated. A name with a comma goes in double quotes.",
    ),
]
Sensitive = Annotated[
    list[str] | None, typer.Option(metavar="COLUMNS", help="Sensitive columns, given like the quasi-identifiers.")
]
Identifier = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="Columns to leave out, such as names.")]
Keep = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="Columns to publish unchanged, on purpose.")]
Drop = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="Columns to leave out as not needed.")]
Entity = Annotated[
    str | None,
    typer.Option(
        "--entity", metavar="COLUMN", help="The column that says whose row it is: k then counts people, not rows."
    ),
]
Privacy = Annotated[
    list[str] | None,
    typer.Option(
        "--privacy",
        metavar="MODEL",
        autocompletion=complete.privacy,
        help="A promise beyond k, such as l-diversity:3:disease, t-closeness:0.2 (on every sensitive column), "
        "alpha-k:0.5, beta-likeness:2, delta-disclosure:1.5 or k-map:5:population.csv.",
    ),
]
K = Annotated[
    int | None, typer.Option("-k", "--k", metavar="N", help=f"Smallest size of a group. [default: {DEFAULT_K}]")
]
HierarchyOf = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=FILE|RULE",
        help="Hierarchy of a column: a CSV file, flat, or a rule such as prefixes, prefixes:5,3, intervals:5,10,20 "
        "or dates:month,year.",
    ),
]
TypeOf = Annotated[
    list[str] | None, typer.Option("--type", metavar="COLUMN=TYPE", help="Type of a column: number, category, date.")
]
Weight = Annotated[
    list[str] | None,
    typer.Option("--weight", metavar="COLUMN=NUMBER", help="How much a column's detail is worth; others weigh 1."),
]
Publish = Annotated[
    list[str] | None,
    typer.Option(
        "--publish", metavar="COLUMN=FORM", help="Form of values: interval, bounds, mean, median, ancestor, set."
    ),
]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method", metavar="NAME", autocompletion=complete.method, help="How rows are grouped; see `coterie methods`."
    ),
]
OptionOf = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="Option of the method; see `coterie methods NAME`."),
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Where random choices start. [default: 0]")]
MissingPolicy = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="POLICY",
        autocompletion=complete.setting("missing"),
        help="Missing values: category, suppress or error.",
    ),
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option("--missing-values", metavar="TEXTS", help="Cells of a text file that count as missing, such as ,NA,?"),
]
LeafCounts = Annotated[
    str | None,
    typer.Option(
        "--leaf-counts",
        metavar="WHICH",
        autocompletion=complete.setting("leaf_counts"),
        help="Losses count the values that are present, or hierarchy.",
    ),
]
Suppressed = Annotated[
    str | None,
    typer.Option(
        "--suppressed",
        metavar="POLICY",
        autocompletion=complete.setting("suppressed"),
        help="Suppressed rows: auto or remove.",
    ),
]
Refine = Annotated[
    bool | None, typer.Option("--refine/--no-refine", help="Lower the loss by local search after the method.")
]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", metavar="SECONDS", help="Stop improving after this long.")
]
SuppressAtMost = Annotated[
    float | None,
    typer.Option("--suppress-at-most", metavar="PERCENT", help="The most rows that a method may suppress."),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="What separates fields; \\t is a tab. [default: found]")
]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="Encoding of text files. [default: found]")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line of a text file is its header. [default: found]"),
]
Threads = Annotated[int | None, typer.Option(metavar="N", help="Threads to use. [default: all cores]")]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        autocompletion=complete.setting("engine"),
        help="Where to work: auto, memory, blocks (on disk) or spark.",
    ),
]
Memory = Annotated[
    str | None, typer.Option("--memory", metavar="SIZE", help="Memory to use, such as 2GB. [default: half of it]")
]
BlockRows = Annotated[
    int | None,
    typer.Option("--block-rows", metavar="N", help="Rows of a block, when working in blocks. [default: by memory]"),
]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Where Spark runs: local[2], spark://HOST:7077, yarn, k8s://…"),
]
SparkSetting = Annotated[
    list[str] | None,
    typer.Option("--spark", metavar="NAME=VALUE", help="A setting of Spark, such as spark.executor.memory=4g."),
]
Purpose = Annotated[str | None, typer.Option(metavar="TEXT", help="What the release is for; for the report.")]
Recipient = Annotated[str | None, typer.Option(metavar="TEXT", help="Who will have the release; for the report.")]
ReleaseModel = Annotated[
    str | None,
    typer.Option(
        "--release-model",
        metavar="MODEL",
        autocompletion=complete.setting("release_model"),
        help="How it is given away: public, agreement or enclave.",
    ),
]
Author = Annotated[str | None, typer.Option(metavar="TEXT", help="Who made the release; for the report.")]
Threshold = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        metavar="RISK",
        autocompletion=complete.threshold,
        help="The largest accepted risk of a record: a number, ema (0.09), cms (1/11) or strict (0.05). "
        f"[default: {DEFAULT_THRESHOLD}]",
    ),
]
Fraction = Annotated[
    float | None,
    typer.Option("--fraction", metavar="SHARE", help="The share of the population that the table holds."),
]
Reports = Annotated[
    list[Path] | None,
    typer.Option(
        "--report", metavar="FILE", help="Write a report: .html for people, .json for programs; may be repeated."
    ),
]
ReportVariant = Annotated[
    str,
    typer.Option(
        "--report-variant",
        metavar="VARIANT",
        autocompletion=complete.words("internal", "external"),
        help="internal, or external: without any value of the data and without counts below k.",
    ),
]
MappingFile = Annotated[
    Path | None,
    typer.Option(
        "--mapping",
        metavar="FILE",
        help="Also write what each group is published as, column by column. It holds original values: keep it.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

# Flag → the setting it stands for, by how its text is read.
_LISTS = {
    "quasi": "quasi",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "keep": "keep",
    "drop": "drop",
    "missing_values": "missing_values",
}
_TABLES = {
    "hierarchy": "hierarchies",
    "type": "types",
    "weight": "weights",
    "publish": "publish",
    "option": "options",
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
