"""The method and its options."""

from __future__ import annotations

from typing import Any, Literal

from coterie.settings.fields._setting import Group, setting
from coterie.settings.registry import DEFAULT_METHOD
from coterie.settings.texts import option_value


class Method(Group, title="Method", screen="run", commands="explain compare"):
    """How rows are grouped."""

    method: str = setting(
        DEFAULT_METHOD,
        "Method that groups the rows; `coterie methods` lists them.",
        metavar="NAME",
        commands="explain",
        aliases=("algorithm",),
        complete="method",
        protects=True,
    )
    options: dict[str, Any] = setting(
        {},
        "Option of the method; `coterie methods NAME` lists them.",
        flag="option",
        metavar="NAME=VALUE",
        commands="explain",
        read=option_value,
    )
    cost: Literal["ncp", "set"] = setting(
        "ncp",
        "Cost of a category without a hierarchy in the search: ncp (two values cost as much as all) or set (by their "
        "number).",
        more="With set, the search prefers groups whose published sets list few values. It takes longer the more "
        "values there are.",
        unless="It applies to columns of three or more values, up to 200 values in total (those with the fewest values "
        "first; a note names the others), and to the methods auto, bottom-up, compact, kmembers, optimal and top-down "
        "only.",
        title="Cost of categories without a hierarchy",
        choices={"ncp": "two values cost as much as all", "set": "by the number of values in the set"},
        metavar="COST",
    )
    refine: bool = setting(
        False,
        "Reduce information loss by local search after the method.",
        more="All guarantees still hold, and the run takes longer.",
        unless="`auto` and `compact` always do this; methods of global recoding cannot.",
        title="Local search",
    )
    time_limit: float | None = setting(
        None,
        "Stop improving after this many seconds and take the best grouping so far.",
        more="The release then depends on the speed of the machine.",
        unless="It applies to `auto`, `compact` and local search only.",
        title="Time limit in seconds",
        unit="seconds",
        metavar="SECONDS",
        limits={"gt": 0},
    )
    seed: int = setting(
        0,
        "Random seed.",
        more="The same input, configuration and seed give the same release.",
        commands="measure explain compare",
        aliases=("random_state",),
        limits={"ge": 0},
    )
