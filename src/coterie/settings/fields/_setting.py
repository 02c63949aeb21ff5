"""The definition of a setting: its type and default, its flag, its form field, and its texts.

The fields of `Config`, the command-line options, the forms of the web app, the comments of `coterie init`,
`docs/configuration.md`, shell completion and the signature of `coterie.anonymize` all follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from coterie.settings.registry import FIELDS

Kind = Literal["columns", "models", "table", "choice", "switch", "whole", "number", "text"]
Screen = Literal["data", "roles", "hierarchies", "goals", "run"]

SCALARS: dict[object, Kind] = {bool: "switch", int: "whole", float: "number"}
_PLACEHOLDERS: dict[Kind, str] = {"columns": "COLUMN,…", "whole": "N", "text": "TEXT"}
ALL = "anonymize verify measure explain compare risk attack"
"""the commands that take a configuration"""
READING = f"{ALL} init hierarchy"
"""the commands that read a table"""


@dataclass(frozen=True)
class Setting:
    """One setting. Its name and type are those of its attribute."""

    default: Any
    help: str
    """one line, for the command line and the page"""
    more: str = ""
    """what the documentation and the page add to it"""
    why: str = ""
    """the reason for the default, or what replaces it when unset"""
    unless: str = ""
    """what it does not apply to"""
    unit: str = ""
    title: str = ""
    """label on the page"""
    choices: Mapping[str, str] | None = None
    """value → title on the page; the values come from the type"""
    flag: str = ""
    """name of the option if it differs from the setting's: one column at a time, say"""
    short: str = ""
    metavar: str = ""
    """the placeholder of its value, if not that of its kind"""
    screen: Screen | Literal[""] = ""
    """its screen in the web app; "goals" unless its group has another"""
    asked: bool = True
    """whether that screen has a field for it"""
    commands: str = ""
    """the commands that take it besides `anonymize`"""
    decides: Literal["release", "figures", "plan", "nothing"] = "release"
    """what depends on it: the release; only figures about it; only how the work is divided; or nothing"""
    protects: bool = False
    """whether it decides who is protected, and how well: reports list who decided it, a person or the default"""
    keys: tuple[str, ...] = ()
    """for tables by column: the roles of the columns that may have an entry"""
    aliases: tuple[str, ...] = ()
    """its names in other tools"""
    limits: Mapping[str, Any] | None = None
    """pydantic's: ge, gt, le; texts that may be unset must not be empty"""
    before: Callable[[Any], Any] | None = None
    """converts the input to the value; lists of names take a single one as well"""
    after: Callable[[Any], Any] | None = None
    """validates the value"""
    read: Callable[[Any], Any] | None = None
    """parses the value from the text of a flag or form field"""
    show: Callable[[Any], str] | None = None
    """the reverse of `read`"""
    accepts: str = ""
    """its type as a Python keyword, if wider than the type of the field"""
    complete: str = ""
    """the shell completion, if not its choices"""
    name: str = ""
    group: type[Group] = None  # type: ignore[assignment]  # set with the name

    @cached_property
    def annotation(self) -> Any:  # noqa: ANN401 - any type
        """The type of its values."""
        return get_type_hints(self.group)[self.name]

    @cached_property
    def plain_type(self) -> Any:  # noqa: ANN401 - any type
        """The type without None."""
        if get_origin(self.annotation) in (Union, UnionType):
            parts = [part for part in get_args(self.annotation) if part is not NoneType]
            return parts[0] if len(parts) == 1 else Union[tuple(parts)]  # noqa: UP007 - made from a list
        return self.annotation

    @property
    def optional(self) -> bool:
        """Whether it may be unset."""
        return NoneType in get_args(self.annotation)

    @property
    def kind(self) -> Kind:
        """The kind of form field."""
        origin = get_origin(self.plain_type)
        if origin is tuple:
            return "columns" if get_args(self.plain_type)[0] is str else "models"
        if origin is dict:
            return "table"
        return "choice" if origin is Literal else SCALARS.get(self.plain_type, "text")

    @property
    def values(self) -> tuple[str, ...]:
        """The values of a choice, or those allowed in the entries of a table."""
        inner = get_args(self.plain_type)[1] if self.kind == "table" else self.plain_type
        return tuple(map(str, get_args(inner))) if get_origin(inner) is Literal else ()

    @property
    def titles(self) -> dict[str, str]:
        """Choice → its title on the page."""
        given = dict(self.choices or {})
        return ({"": "not set"} if self.optional and "" not in given else {}) | (given or {v: v for v in self.values})

    @property
    def parameter(self) -> str:
        """The name of its option, without dashes."""
        return self.flag or self.name

    @property
    def option(self) -> str:
        """Its command-line option."""
        return "--" + self.parameter.replace("_", "-")

    @property
    def label(self) -> str:
        """Its label on the page."""
        return self.title or self.name.replace("_", " ").capitalize()

    @property
    def placeholder(self) -> str:
        """The placeholder of its value in the help."""
        return self.metavar or _PLACEHOLDERS.get(self.kind, "")

    @property
    def users(self) -> tuple[str, ...]:
        """The commands that take it; `anonymize` takes all."""
        return ("anonymize", *self.commands.split())

    @property
    def about(self) -> str:
        """Its full description, in sentences."""
        parts = (self.help, self.more, f"Unit: {self.unit}." if self.unit else "", self.why, self.unless)
        return " ".join(part for part in parts if part)

    @property
    def hint(self) -> str:
        """The hint next to its form field."""
        why = self.why if self.default is None else ""
        text = " ".join(part for part in (self.help, self.more, why, self.unless) if part)
        return text.replace("`", "")


class Group:
    """Related settings. Each is an attribute with its type: `k: int = setting(…)`."""

    title: ClassVar[str]
    intro: ClassVar[str]

    def __init_subclass__(cls, *, title: str, intro: str = "", screen: Screen = "goals", **facts: Any) -> None:  # noqa: ANN401 - as of `setting`
        """Register the settings of a group; its facts are those of each setting that has none of its own."""
        cls.title, cls.intro, facts["screen"] = title, intro, screen
        for name, value in vars(cls).items():
            if isinstance(value, Setting):
                shared = {fact: each for fact, each in facts.items() if getattr(value, fact) == getattr(Setting, fact)}
                FIELDS.add(name, replace(value, **shared, name=name, group=cls))


def setting(default: object, help: str, /, **facts: Any) -> Any:  # noqa: ANN401 - a value of any type
    """Define a setting as an attribute of its group; see `Setting` for the arguments."""
    return Setting(default, help, **facts)


def of_screen(screen: str) -> dict[str, Setting]:
    """Return the settings of a screen of the web app."""
    return {name: each for name, each in FIELDS.items() if each.screen == screen and each.asked}
