"""Config: all settings of a release, in one frozen object.

It is built from Python keywords, a dict or a TOML file whose keys are the settings' names, and converts back to either.
All problems are found at once and raised as one ConfigError.
"""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, Unpack, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    create_model,
    model_validator,
)

from coterie.errors import ConfigError, CoterieWarning, DataError, HierarchyError, Problem
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.settings.changes import changed, listed
from coterie.settings.check import (
    column_problems,
    option_problems,
    order_problems,
    publish_problems,
    translate,
    unknown_setting,
)
from coterie.settings.keywords import Keywords
from coterie.settings.limits import accept_problems, limit_problems
from coterie.settings.models import parse_privacy
from coterie.settings.registry import DEFAULT_METHOD, FIELDS, METHODS
from coterie.settings.roles import ROLES, UNDECIDED, entity_problems, role_problems, undecided_hint
from coterie.settings.threshold import DEFAULT_THRESHOLD, threshold_problems
from coterie.settings.toml import plain, read_toml, write_toml

if TYPE_CHECKING:
    from coterie.methods import Options
    from coterie.settings.fields._setting import Setting
    from coterie.settings.fields.columns import Columns
    from coterie.settings.fields.guarantees import Guarantees
    from coterie.settings.fields.hierarchies import Generalization
    from coterie.settings.fields.method import Method as MethodSettings
    from coterie.settings.fields.missing import Missing
    from coterie.settings.fields.reading import Reading
    from coterie.settings.fields.reporting import Reporting
    from coterie.settings.fields.running import Running
    from coterie.settings.fields.verdict import VerdictLimits


def _whole(value: object) -> object:
    """Accept any library's integers, but not True and False, which Python counts as integers."""
    if isinstance(value, bool):
        return None
    return operator.index(value) if hasattr(value, "__index__") else value


def _hierarchy(value: object) -> Hierarchy:
    """Accept only a hierarchy."""
    if not isinstance(value, Hierarchy):
        raise ValueError("must be a hierarchy")
    return value


def _field(setting: Setting) -> tuple[Any, Any]:
    """Return a setting as a pydantic field: its type with validators, its default and its description."""
    kind, limits = setting.plain_type, Field(**(setting.limits or {}))
    if setting.name == "hierarchies":
        # Hierarchies check themselves. `InstanceOf` makes pydantic 2.9 look inside the class as well.
        kind = dict[str, Annotated[Any, AfterValidator(_hierarchy)]]
    elif setting.kind == "table" and get_args(kind)[1] is float:
        kind = dict[str, Annotated[FiniteFloat, limits]]
    elif setting.kind == "whole":
        kind = Annotated[int, BeforeValidator(_whole), limits]
    elif setting.kind == "number":
        kind = Annotated[FiniteFloat, limits]
    elif setting.kind == "text" and setting.optional and setting.after is None:
        kind = Annotated[kind, Field(min_length=1)]
    before = listed if setting.kind == "columns" and setting.before is None else setting.before
    for check, validator in ((before, BeforeValidator), (setting.after, AfterValidator)):
        kind = kind if check is None else Annotated[kind, validator(check)]
    return kind | None if setting.optional else kind, Field(setting.default, description=setting.about)


if TYPE_CHECKING:

    class _Fields(
        BaseModel,
        Columns,
        Guarantees,
        Generalization,
        MethodSettings,
        Missing,
        Reading,
        Reporting,
        Running,
        VerdictLimits,
    ): ...

else:
    _Fields = create_model(
        "_Fields",
        __config__=ConfigDict(frozen=True, extra="forbid"),
        **{name: _field(setting) for name, setting in FIELDS.items()},
    )


class Config(_Fields):
    """What to publish, how, and with which guarantees. See `settings/fields` for the settings."""

    def __init__(self, base: Path | None = None, /, **values: Unpack[Keywords]) -> None:
        """Build a configuration; relative paths of hierarchies start at `base`, by default the current folder."""
        known: dict[str, Any] = {name: value for name, value in values.items() if name in SETTINGS}
        problems = [unknown_setting(name, SETTINGS) for name in values if name not in SETTINGS]
        faults: list[Problem] = []
        if known.get("engine") == "duckdb":
            text = 'engine "duckdb" is now called "blocks"; the old name is deprecated.'
            warnings.warn(text, CoterieWarning, stacklevel=2)
            known["engine"] = "blocks"
        if isinstance(known.get("hierarchies"), Mapping):
            known["hierarchies"], faults = read_hierarchies(known["hierarchies"], base=base)
        if base is not None and known.get("privacy"):
            with suppress(ConfigError):  # invalid models are left to the validator
                known["privacy"] = parse_privacy(known["privacy"], base=base)
        # Conflicts between settings only show if each is valid: invalid ones are reported and left out of a second try.
        for _ in range(2):
            try:
                super().__init__(**known)
                break
            except ValidationError as error:
                found = translate(error)
                bad = {problem.path.split(".")[0] for problem in found}
                bad |= {"options"} if "method" in bad else set()
                known = {name: value for name, value in known.items() if name not in bad}
                problems += [problem for problem in found if problem not in problems]
        if problems:
            raise ConfigError([*problems, *faults]) from None
        if faults:
            raise HierarchyError(faults) from None

    @model_validator(mode="after")
    def _agree(self) -> Self:
        roles = {role: getattr(self, role) for role in ROLES}
        problems = role_problems(roles) + entity_problems(self.entity, roles)
        problems += order_problems(self.ordered, self.hierarchies, self.types)
        problems += publish_problems(self.publish, self.types, self.ordered)
        problems += limit_problems(self.limits) + accept_problems(self.accept)
        if self.threshold != DEFAULT_THRESHOLD:
            problems += threshold_problems(self.threshold)
        # The default method without options needs no check: this spares `verify` the import of the methods.
        if self.options or self.method != DEFAULT_METHOD:
            checked, wrong = option_problems(self.method, self.options)
            problems += wrong
            object.__setattr__(self, "options", checked)  # in their own types; the model is frozen for everybody else
        if problems:
            raise ConfigError(problems)
        return self

    @cached_property  # which pydantic neither compares nor takes for a setting
    def file(self) -> Path | None:
        """The TOML file that it was read from, which no release may overwrite; None if there is none."""
        return None

    def _read_from(self, file: Path | None) -> Self:
        self.__dict__["file"] = None if file is None else file.absolute()
        return self

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, base: Path | None = None, file: Path | None = None) -> Self:
        """Build a configuration from plain values; relative paths start at `base`, `file` is their source."""
        made = cls(base, **{str(name): value for name, value in values.items() if name != "provenance"})
        return made._read_from(file)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Self:
        """Read a configuration from a TOML file; paths of hierarchies are relative to that file."""
        return cls.from_dict(read_toml(path), base=Path(path).parent, file=Path(path))

    @classmethod
    def build(
        cls, config: Config | Mapping[str, Any] | str | os.PathLike[str] | None = None, **changes: Unpack[Keywords]
    ) -> Config:
        """Build a configuration from another one, a dict or a TOML file, with some settings changed.

        When the quasi-identifiers change, settings of former ones are dropped; when the method
        changes, the old method's options are dropped. A column with a new role leaves `keep` and `drop`.
        """
        if config is None:
            return cls(**changes)
        if isinstance(config, Mapping):
            return cls.from_dict(changed(config, changes))
        if not isinstance(config, Config):
            config = cls.from_toml(config)
        return config.replace(**changes) if changes else config

    def replace(self, **changes: Unpack[Keywords]) -> Config:
        """Return the same configuration with some settings changed, as `build` does."""
        made = type(self)(**changed({name: getattr(self, name) for name in SETTINGS}, changes))
        return made._read_from(self.file)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for TOML and JSON, without unset settings."""
        values = {name: plain(getattr(self, name)) for name in SETTINGS}
        return {name: value for name, value in values.items() if value is not None}

    def to_toml(self) -> str:
        """Return a TOML file with every setting, from which `from_toml` restores the same configuration."""
        return write_toml(self.to_dict())

    def check_columns(self, names: Sequence[str], *, publishes: bool = True, text: bool = False) -> None:
        """Raise a ConfigError with every mismatch with a table with these columns, as `column_problems` finds them.

        The first line of a text file may be data unless `header` is set.
        """
        problems = column_problems(self, names, publishes=publishes, sure=not text or self.header is not None)
        if problems:
            # With other problems, these may be the columns of a different table.
            alone = [problem.path for problem in problems] == [UNDECIDED]
            raise ConfigError(problems, hint=undecided_hint(self, names) if alone else "")

    def for_release(self) -> Config:
        """Return the same configuration for a release, which has no lines above its header."""
        return self.replace(skip_rows=0) if self.skip_rows else self

    @property
    def published_unchanged(self) -> frozenset[str]:
        """The columns that are published unchanged. All other published columns are generalized."""
        return frozenset((*self.sensitive, *self.keep))

    def method_options(self) -> Options:
        """Return the method's options as its own option model."""
        made: Options = METHODS[self.method].options(**self.options)
        return made

    @property
    def usable_threads(self) -> int:
        """`threads`, or the number of cores available to this process."""
        if self.threads is not None:
            return self.threads
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1


SETTINGS = tuple(Config.model_fields)


def read_hierarchies(specs: Mapping[str, Any], *, base: Path | None) -> tuple[dict[str, Hierarchy], list[Problem]]:
    """Return the hierarchies of these specifications, and the problems of those that cannot be read."""
    hierarchies: dict[str, Hierarchy] = {}
    problems: list[Problem] = []
    for column, spec in specs.items():
        path = f"hierarchies.{column}"
        try:
            hierarchies[column] = spec if isinstance(spec, Hierarchy) else Hierarchy.from_spec(spec, base=base)
        except (HierarchyError, ConfigError) as error:
            problems += [Problem(path, str(problem)) for problem in error.problems]
        except DataError as error:
            problems.append(Problem(path, str(error)))
    return hierarchies, problems


AnyConfig = Config | Mapping[str, Any] | str | os.PathLike[str] | None
