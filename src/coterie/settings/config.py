"""Config: everything that decides a release, in one frozen object.

It comes from Python keywords, a dict or a TOML file whose keys are the names below, and goes back to either.
All problems are found at once and raised as one ConfigError.
"""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    GetPydanticSchema,
    ValidationError,
    model_validator,
)

from coterie.errors import ConfigError, CoterieWarning, DataError, HierarchyError, Problem
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.settings.changes import changed, listed
from coterie.settings.check import column_problems, option_problems, publish_problems, translate, unknown_setting
from coterie.settings.limits import accept_problems, limit_problems
from coterie.settings.memory import memory_bytes
from coterie.settings.models import parse_privacy as parse_models
from coterie.settings.registry import METHODS
from coterie.settings.roles import ROLES, UNDECIDED, entity_problems, role_problems, undecided_hint
from coterie.settings.threshold import DEFAULT_K, DEFAULT_THRESHOLD, threshold_problems
from coterie.settings.toml import plain, read_toml, write_toml

if TYPE_CHECKING:
    from coterie.methods import Options

DEFAULT_METHOD = "auto"

ColumnType = Literal["number", "category", "date"]
Missing = Literal["category", "suppress", "error"]
Publish = Literal["interval", "bounds", "mean", "median", "ancestor", "set"]
ReleaseModel = Literal["public", "agreement", "enclave"]
Engine = Literal["auto", "memory", "blocks", "spark"]


def _whole(value: object) -> object:
    """Integers of any library, but not True and False, which Python counts as integers."""
    if isinstance(value, bool):
        return None
    return operator.index(value) if hasattr(value, "__index__") else value


def parse_privacy(value: object) -> object:
    """Privacy models from their objects or texts."""
    entries = listed(value)
    if not entries:
        return ()
    return parse_models(entries)


def located_privacy(value: object, *, base: Path) -> object:
    """The models with paths of population tables taken from a folder; what is wrong is left for the validator."""
    try:
        return parse_models(listed(value), base=base)
    except ConfigError:
        return value


def checked_hierarchy(value: object) -> Hierarchy:
    """A hierarchy, and nothing else."""
    if not isinstance(value, Hierarchy):
        raise ValueError("must be a hierarchy")
    return value


def checked_memory(value: str) -> str:
    """A size of memory that can be understood."""
    memory_bytes(value)
    return value


Whole = Annotated[int, BeforeValidator(_whole)]
Columns = Annotated[tuple[str, ...], BeforeValidator(listed)]
Text = Annotated[str, Field(min_length=1)]
# Hierarchies check themselves; pydantic is to look at their class only. InstanceOf would do more: before pydantic 2.10
# it looks into the class as well.
HierarchySetting = Annotated[
    Hierarchy, GetPydanticSchema(lambda _, handler: handler(Any)), AfterValidator(checked_hierarchy)
]


class Config(BaseModel):
    """What to publish, how, and under which promise."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quasi: Columns = Field(
        (), description="Quasi-identifiers: columns that others may know of a person. They are generalised."
    )
    sensitive: Columns = Field(
        (),
        description="Sensitive columns: what nobody should learn of a person. They are published unchanged.",
    )
    identifiers: Columns = Field(
        (), description="Identifiers, such as names and numbers of persons. They are left out."
    )
    keep: Columns = Field(
        (),
        description="Columns published unchanged, on purpose. A column that has no role at all is refused.",
    )
    drop: Columns = Field((), description="Columns left out because nobody needs them; they need not identify anybody.")
    entity: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="The column that says which person a row belongs to, where a person may have several. "
        "k then counts people, not rows. The column is left out of the release, like an identifier.",
    )
    k: Annotated[Whole, Field(ge=1)] = Field(
        DEFAULT_K, description="Every published row shares its quasi-identifiers with at least k − 1 others."
    )
    privacy: Annotated[tuple[Any, ...], BeforeValidator(parse_privacy)] = Field(
        (),
        description='Promises beyond k-anonymity, as texts such as "l-diversity:3:disease", "t-closeness:0.2" (on '
        'every sensitive column) or "k-map:5:population.csv".',
    )
    hierarchies: dict[str, HierarchySetting] = Field(
        {},
        description="Column → hierarchy: the path of a CSV file (in a TOML file: from that file's folder), "
        'a rule such as { prefixes = [5, 3] }, { intervals = [5, 10] } or { dates = ["month", "year"] }, '
        '"flat", or a nested table whose root is implied.',
    )
    types: dict[str, ColumnType] = Field(
        {}, description="Column → type, where the guess from its values would be wrong."
    )
    weights: dict[str, Annotated[FiniteFloat, Field(ge=0)]] = Field(
        {}, description="Column → how much its detail is worth; 1 where nothing is said."
    )
    publish: dict[str, Publish] = Field(
        {},
        description="Column → form of its generalised values. Numbers and dates: interval (the default) or "
        "bounds (two columns); numbers also mean and median. Categories: ancestor (the default with a "
        "hierarchy) or set.",
    )
    method: str = Field(DEFAULT_METHOD, description="How rows are grouped; `coterie methods` lists the names.")
    options: dict[str, Any] = Field({}, description="Options of the method; `coterie methods NAME` lists them.")
    refine: bool = Field(
        False,
        description="Run local search after the method. It lowers the loss and keeps every promise; `auto` and "
        "`compact` do so by themselves.",
    )
    time_limit: Annotated[FiniteFloat, Field(gt=0)] | None = Field(
        None,
        description="Seconds after which `auto`, `compact` and local search stop improving and give the best grouping "
        "so far. The release then depends on the machine's speed.",
    )
    seed: Annotated[Whole, Field(ge=0)] = Field(
        0, description="Where random choices start. The same seed gives the same release."
    )
    missing: Missing = Field(
        "category",
        description="Missing quasi-identifiers: a value of their own that joins others only under the root "
        "(category), rows left out (suppress), or an error.",
    )
    missing_values: Columns = Field(("",), description="Cells of a text file that count as missing.")
    leaf_counts: Literal["present", "hierarchy"] = Field(
        "present", description="Losses count the values present in the table, or all values of the hierarchy."
    )
    suppressed: Literal["auto", "remove"] = Field(
        "auto",
        description="Suppressed rows: published as `*` in every quasi-identifier where the promise allows it "
        "(auto), or always removed.",
    )
    suppress_at_most: Annotated[FiniteFloat, Field(ge=0, le=100)] | None = Field(
        None,
        description="The most rows, in per cent, that a method may suppress. A method suppresses rows only where its "
        "options say so, such as `suppress_above` of kaca; rows that you suppress yourself (missing values, a mask) do "
        "not count.",
    )
    delimiter: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="What separates the fields of a text file; found by itself when left out."
    )
    encoding: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="Encoding of a text file; found by itself when left out."
    )
    header: bool | None = Field(
        None,
        description="Whether the first line of a text file is its header. Without one (false), columns are named "
        "column_1, column_2, …. When left out, coterie refuses a file whose first line looks like data.",
    )
    threads: Annotated[Whole, Field(ge=1)] | None = Field(
        None, description="Threads to use; all usable cores when left out. It never changes the release."
    )
    engine: Engine = Field(
        "auto",
        description="Where rows are while they are grouped: all in memory, or in blocks on disk (blocks), or in blocks "
        "on a cluster (spark). auto takes blocks for files that would not fit the memory, and memory otherwise.",
    )
    memory: Annotated[str, AfterValidator(checked_memory)] | None = Field(
        None, description='Memory that a run may take, such as "2GB"; half of the machine\'s when left out.'
    )
    block_rows: Annotated[Whole, Field(ge=1)] | None = Field(
        None,
        description="Rows of a block at most, for the engines that work in blocks; as many as fit the memory when left "
        "out. The release depends on it.",
    )

    purpose: Text | None = Field(None, description="What the release is for, in a sentence; for the report.")
    recipient: Text | None = Field(None, description="Who will have the release; for the report.")
    release_model: ReleaseModel | None = Field(
        None,
        description="How the release is given away, for the report: to everybody (public), to named recipients who "
        "sign an agreement (agreement), or inside a controlled place that rows do not leave (enclave).",
    )
    author: Text | None = Field(None, description="Who made the release and answers for it; for the report.")
    threshold: str | FiniteFloat = Field(
        DEFAULT_THRESHOLD,
        description="The largest risk of a record that is accepted, for risk and the report: a number, ema (0.09), cms "
        "(1/11) or strict (0.05). It is compared with, not enforced.",
    )
    fraction: Annotated[FiniteFloat, Field(gt=0, le=1)] | None = Field(
        None, description="The share of the population that the table holds, for risk and the report."
    )

    limits: dict[str, FiniteFloat] = Field(
        {},
        description="Limits of the verdict as shares: unique, below-k, inferred, order, loss, column-loss, query-error.",
    )
    accept: Columns = Field(
        (),
        description='Warnings of the verdict that a person accepts, such as "singling-out:income" or "utility". '
        "The report lists them.",
    )

    def __init__(self, base: Path | None = None, /, **values: object) -> None:
        """`base` is where relative paths of hierarchies start: the current folder when left out."""
        known: dict[str, Any] = {name: value for name, value in values.items() if name in SETTINGS}
        problems = [unknown_setting(name, SETTINGS) for name in values if name not in SETTINGS]
        faults: list[Problem] = []
        if known.get("engine") == "duckdb":
            text = 'engine "duckdb" is called "blocks" now; the old name still works, but will go one day.'
            warnings.warn(text, CoterieWarning, stacklevel=2)
            known["engine"] = "blocks"
        if isinstance(known.get("hierarchies"), Mapping):
            known["hierarchies"], faults = read_hierarchies(known["hierarchies"], base=base)
        if base is not None and known.get("privacy"):
            known["privacy"] = located_privacy(known["privacy"], base=base)
        # What is wrong between two settings shows only when each is right by itself: so those that are wrong
        # are noted and left out of a second try.
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
        problems += publish_problems(self.publish, self.types)
        problems += limit_problems(self.limits) + accept_problems(self.accept)
        if self.threshold != DEFAULT_THRESHOLD:
            problems += threshold_problems(self.threshold)
        # The default method without options needs no check: this spares `verify` the import of the methods.
        if self.options or self.method != DEFAULT_METHOD:
            checked, wrong = option_problems(self.method, self.options)
            problems += wrong
            object.__setattr__(self, "options", checked)  # in their own types; the model is frozen to others only
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
        """A configuration from plain values; relative paths of hierarchies start at `base`, `file` is whose values."""
        made = cls(base, **{str(name): value for name, value in values.items() if name != "provenance"})
        return made._read_from(file)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Self:
        """A configuration from a TOML file; the paths of its hierarchies are relative to that file."""
        return cls.from_dict(read_toml(path), base=Path(path).parent, file=Path(path))

    @classmethod
    def build(
        cls, config: Config | Mapping[str, Any] | str | os.PathLike[str] | None = None, **changes: object
    ) -> Config:
        """A configuration from another one, a dict or a TOML file, with some settings changed.

        When the quasi-identifiers change, settings of columns that are none any more go; when the method
        changes, the options of the old one go. A column that a change gives another role leaves `keep` and `drop`.
        """
        if config is None:
            return cls(**changes)
        if isinstance(config, Mapping):
            return cls.from_dict(changed(config, changes))
        if not isinstance(config, Config):
            config = cls.from_toml(config)
        return config.replace(**changes) if changes else config

    def replace(self, **changes: object) -> Config:
        """The same configuration with some settings changed, as `build` does it."""
        made = type(self)(**changed({name: getattr(self, name) for name in SETTINGS}, changes))
        return made._read_from(self.file)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that TOML and JSON can hold; settings without a value are left out."""
        values = {name: plain(getattr(self, name)) for name in SETTINGS}
        return {name: value for name, value in values.items() if value is not None}

    def to_toml(self) -> str:
        """The text of a TOML file with every setting, from which `from_toml` makes the same configuration."""
        return write_toml(self.to_dict())

    def check_columns(self, names: Sequence[str], *, publishes: bool = True, text: bool = False) -> None:
        """Raise a ConfigError with everything that does not fit a table with these columns.

        Args:
            names: The columns of the table.
            publishes: Whether a release is to be made of it: then every column needs a role.
            text: Whether it is a text file, whose first line may be data unless `header` says what it is.
        """
        problems = column_problems(self, names, publishes=publishes, sure=not text or self.header is not None)
        if problems:
            # Where something else is wrong, these may be the columns of another table.
            alone = [problem.path for problem in problems] == [UNDECIDED]
            raise ConfigError(problems, hint=undecided_hint(self, names) if alone else "")

    @property
    def published_unchanged(self) -> frozenset[str]:
        """The columns that a release has as they came. No other column gets into it but generalised ones."""
        return frozenset((*self.sensitive, *self.keep))

    def method_options(self) -> Options:
        """The options of the method as its own option model."""
        made: Options = METHODS[self.method].options(**self.options)
        return made

    @property
    def usable_threads(self) -> int:
        """`threads`, or the number of cores that this process may use."""
        if self.threads is not None:
            return self.threads
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1


SETTINGS = tuple(Config.model_fields)


def read_hierarchies(specs: Mapping[str, Any], *, base: Path | None) -> tuple[dict[str, Hierarchy], list[Problem]]:
    """The hierarchies that these specifications describe, and the faults of those that could not be had."""
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
