"""The flags that commands share. Nothing heavy is imported here: `coterie --help` must answer at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from coterie.cli import complete
from coterie.cli.options import configured
from coterie.settings.threshold import DEFAULT_K, DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from coterie.settings.config import Config

    Settings: TypeAlias = Config
else:
    Settings = object  # annotations of commands are looked at when they are defined, and Config is heavy

ConfigFile = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="Configuration, as `coterie init` writes it.")
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option("--missing-values", metavar="TEXTS", help="Cells of a text file that count as missing, such as ,NA,?"),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="What separates fields; \\t is a tab. [default: found]")
]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="Encoding of text files. [default: found]")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line of a text file is its header. [default: found]"),
]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method", metavar="NAME", autocompletion=complete.method, help="How rows are grouped; see `coterie methods`."
    ),
]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Where Spark runs: local[2], spark://HOST:7077, yarn, k8s://…"),
]
SparkSetting = Annotated[
    list[str] | None,
    typer.Option("--spark", metavar="NAME=VALUE", help="A setting of Spark, such as spark.executor.memory=4g."),
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
Strict = Annotated[bool, typer.Option("--strict", help="End with exit code 1 unless the whole verdict is pass.")]
Fraction = Annotated[
    float | None,
    typer.Option("--fraction", metavar="SHARE", help="The share of the population that the table holds."),
]

TEXT, TEXTS, WHOLE, NUMBER, SWITCH = str | None, list[str] | None, int | None, float | None, bool | None


def _flag(
    kind: object, metavar: str | None, text: str, *names: str, complete: Callable[..., list[str]] | None = None
) -> object:
    """The flag of a setting: its type, how its value is put in the help, and what it does."""
    return getitem(Annotated, (kind, typer.Option(*names, metavar=metavar, autocompletion=complete, help=text)))


FLAGS: dict[str, Any] = {
    "config": ConfigFile,
    "quasi": _flag(
        TEXTS,
        "COLUMNS",
        "Quasi-identifiers, separated by commas; may be repeated. A name with a comma goes in double quotes.",
    ),
    "sensitive": _flag(TEXTS, "COLUMNS", "Sensitive columns, given like the quasi-identifiers."),
    "identifier": _flag(TEXTS, "COLUMNS", "Columns to leave out, such as names."),
    "keep": _flag(TEXTS, "COLUMNS", "Columns to publish unchanged, on purpose."),
    "drop": _flag(TEXTS, "COLUMNS", "Columns to leave out as not needed."),
    "entity": _flag(TEXT, "COLUMN", "The column that says whose row it is: k then counts people, not rows."),
    "privacy": _flag(
        TEXTS,
        "MODEL",
        "A promise beyond k, such as l-diversity:3:disease, t-closeness:0.2 (on every sensitive column), "
        "alpha-k:0.5, beta-likeness:2, delta-disclosure:1.5 or k-map:5:population.csv.",
        complete=complete.privacy,
    ),
    "k": _flag(WHOLE, "N", f"Smallest size of a group. [default: {DEFAULT_K}]", "-k", "--k"),
    "hierarchy": _flag(
        TEXTS,
        "COLUMN=FILE|RULE",
        "Hierarchy of a column: a CSV file, flat, or a rule such as prefixes, prefixes:5,3, intervals:5,10,20 "
        "or dates:month,year.",
    ),
    "type": _flag(TEXTS, "COLUMN=TYPE", "Type of a column: number, category, date."),
    "weight": _flag(TEXTS, "COLUMN=NUMBER", "How much a column's detail is worth; others weigh 1."),
    "publish": _flag(TEXTS, "COLUMN=FORM", "Form of values: interval, bounds, mean, median, ancestor, set."),
    "method": MethodName,
    "option": _flag(TEXTS, "NAME=VALUE", "Option of the method; see `coterie methods NAME`."),
    "seed": _flag(WHOLE, "N", "Where random choices start. [default: 0]"),
    "missing": _flag(
        TEXT, "POLICY", "Missing values: category, suppress or error.", complete=complete.setting("missing")
    ),
    "missing_values": MissingValues,
    "leaf_counts": _flag(
        TEXT,
        "WHICH",
        "Losses count the values that are present, or hierarchy.",
        complete=complete.setting("leaf_counts"),
    ),
    "suppressed": _flag(TEXT, "POLICY", "Suppressed rows: auto or remove.", complete=complete.setting("suppressed")),
    "refine": _flag(SWITCH, None, "Lower the loss by local search after the method.", "--refine/--no-refine"),
    "time_limit": _flag(NUMBER, "SECONDS", "Stop improving after this long."),
    "suppress_at_most": _flag(NUMBER, "PERCENT", "The most rows that a method may suppress."),
    "delimiter": Delimiter,
    "encoding": Encoding,
    "header": Header,
    "threads": _flag(WHOLE, "N", "Threads to use. [default: all cores]"),
    "engine": _flag(
        TEXT, "NAME", "Where to work: auto, memory, blocks (on disk) or spark.", complete=complete.setting("engine")
    ),
    "memory": _flag(TEXT, "SIZE", "Memory to use, such as 2GB. [default: half of it]"),
    "block_rows": _flag(WHOLE, "N", "Rows of a block, when working in blocks. [default: by memory]"),
    "purpose": _flag(TEXT, "TEXT", "What the release is for; for the report."),
    "recipient": _flag(TEXT, "TEXT", "Who will have the release; for the report."),
    "release_model": _flag(
        TEXT, "MODEL", "How it is given away: public, agreement or enclave.", complete=complete.setting("release_model")
    ),
    "author": _flag(TEXT, "TEXT", "Who made the release; for the report."),
    "threshold": _flag(
        TEXT,
        "RISK",
        "The largest accepted risk of a record: a number, ema (0.09), cms (1/11) or strict (0.05). "
        f"[default: {DEFAULT_THRESHOLD}]",
        complete=complete.threshold,
    ),
    "fraction": Fraction,
    "limit": _flag(
        TEXTS,
        "NAME=SHARE",
        "A limit of the verdict: unique, below-k, inferred, order, loss, column-loss or query-error.",
    ),
    "accept": _flag(TEXTS, "WARNING", "A warning of the verdict that you accept, such as singling-out:income."),
}
"""setting, or `config` → its flag"""

# Settings that several commands take one after the other.
COLUMNS = "quasi sensitive identifier keep drop entity"
METHOD = "method option refine time_limit seed"
READING = "delimiter encoding header"
LOSSES = "missing missing_values leaf_counts"


def takes_settings(names: str, *, also: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the flags of settings, and hand it the configuration that they make as its `settings`.

    Args:
        names: The flags in the order of the help, which stand where the command has `settings`. A name that is the
            command's own parameter keeps its place among them.
        also: Those of them that the command gets by themselves as well.
    """
    listed, twice = names.split(), also.split()

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = dict(inspect.signature(command, eval_str=True).parameters)
        settings = [name for name in listed if name not in own or name in twice]

        def parameter(name: str) -> inspect.Parameter:
            if name not in settings:
                return own[name]
            return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=FLAGS[name])

        @wraps(command)
        def run(**values: Any) -> None:  # noqa: ANN401 - what flags hold
            made = configured(values.get("config"), **{name: values[name] for name in settings if name != "config"})
            command(**{name: value for name, value in values.items() if name in own}, settings=made)

        order = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name in own
            for each in (map(parameter, listed) if name == "settings" else () if name in listed else (own[name],))
        ]
        del run.__wrapped__
        run.__annotations__ = {each.name: each.annotation for each in order}
        run.__signature__ = inspect.Signature(order)  # type: ignore[attr-defined]
        return run

    return decorate
