"""How columns are generalized."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from coterie.errors import ConfigError, Problem
from coterie.settings.fields._setting import Group, setting
from coterie.settings.roles import parse_names
from coterie.settings.texts import hierarchy_spec

if TYPE_CHECKING:
    from coterie.hierarchies.hierarchy import Hierarchy
else:
    Hierarchy = Any  # the class is heavy; Config looks for it

Publish = Literal["interval", "bounds", "mean", "median", "ancestor", "set"]


def checked_orders(orders: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Refuse an order that lists nothing, or a value twice."""
    faults = {name: "lists no value" if not order else "lists a value twice" for name, order in orders.items()}
    problems = [
        Problem(name, faults[name]) for name, order in orders.items() if not order or len(set(order)) < len(order)
    ]
    if problems:
        raise ConfigError(problems)
    return orders


_COMMANDS = "verify measure explain compare risk attack"


class Generalization(Group, title="Generalization", screen="hierarchies", commands=_COMMANDS):
    """Settings per column."""

    hierarchies: dict[str, Hierarchy] = setting(
        {},
        "Generalization hierarchy of a column: a CSV file, flat, or a rule such as prefixes:5,3, intervals:5,10,20 or "
        "dates:month,year.",
        more='In a TOML file, write rules as { intervals = [5, 10] } or { dates = ["month", "year"] }, paths relative '
        "to that file, or a whole hierarchy as a nested table whose root is implied.",
        flag="hierarchy",
        metavar="COLUMN=FILE|RULE",
        keys=("quasi", "sensitive"),
        read=hierarchy_spec,
        accepts="Mapping[str, Hierarchy | str | PathLike[str] | Mapping[str, Any] | list[Any]]",
    )
    types: dict[str, Literal["number", "category", "date"]] = setting(
        {},
        "Type of a column: number, category or date.",
        why="By default, the type follows from the values.",
        flag="type",
        metavar="COLUMN=TYPE",
        keys=("quasi", "sensitive"),
    )
    ordered: dict[str, tuple[str, ...]] = setting(
        {},
        "Values of a category in their order, from the lowest to the highest.",
        more="The column is generalized to intervals of them, such as [HS-grad, Masters], with costs by rank.",
        why="By default, ordered pandas categoricals, Polars Enums and ordered Arrow dictionaries bring their own "
        'order; types = "category" ignores it.',
        metavar="COLUMN=VALUE,…",
        keys=("quasi",),
        aliases=("order",),
        after=checked_orders,
        read=lambda text: parse_names([text]),
        accepts="Mapping[str, Iterable[str]]",
    )
    weights: dict[str, float] = setting(
        {},
        "Weight of a column: the larger, the more of its detail is kept.",
        more="Other columns lose detail in return. A column of weight 0 does not count.",
        why="The default is 1.",
        flag="weight",
        metavar="COLUMN=NUMBER",
        screen="goals",
        commands="measure explain compare",
        keys=("quasi",),
        limits={"ge": 0},
    )
    round: dict[str, float] = setting(
        {},
        "Step of a column of numbers: the ends of its intervals are rounded outward to multiples of it.",
        more="By default, both ends are values of people in the group, which [reveals more](verdict.md#order-and-ends) "
        "than the interval. Rounded intervals are at least one step wide; the loss is that of the published interval.",
        unless="Applies to numbers without a hierarchy that are published as interval or bounds.",
        title="Rounded ends",
        metavar="COLUMN=STEP",
        screen="goals",
        commands="verify measure explain compare attack",
        keys=("quasi",),
        limits={"gt": 0},
    )
    publish: dict[str, Publish] = setting(
        {},
        "Format of a column's generalized values: interval, bounds, mean, median, ancestor or set.",
        more="Numbers and dates: interval (the default) or bounds (two columns); numbers also mean and median, "
        "rounded to the decimals of the data. Categories: ancestor (the default with a hierarchy) or set.",
        metavar="COLUMN=FORMAT",
        commands="measure explain compare attack",
        keys=("quasi",),
    )
