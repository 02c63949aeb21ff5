"""The interface of methods, their inputs, and their registry."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from coterie.errors import Cancelled, ConfigError, Problem
from coterie.settings.registry import METHODS
from coterie.table.grouping import Grouping
from coterie.table.recoding import KINDS
from coterie.table.table import Table


class Options(BaseModel):
    """Base of every method's options: frozen, named, typed and described values."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    secrets: ClassVar[frozenset[str]] = frozenset()
    """options that are not written to provenance"""


class PaperOptions(Options):
    """Base of the options of a method from a paper; `preset = "paper"` sets them as in the paper."""

    published: ClassVar[Mapping[str, Any]] = {}
    """the options that make the method the paper's, where they differ from the defaults"""

    preset: Literal["paper"] | None = Field(
        None,
        description="`paper` sets the options below as in the paper; options set explicitly override it.",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("preset") == "paper":
            return {**cls.published, **values}
        return values


OptionsT = TypeVar("OptionsT", bound=Options)


class Progress(Protocol):
    """A progress callback."""

    def __call__(self, step: str, done: int, total: int) -> None:
        """Report that `done` of `total` units of the named step are finished."""


def _no_progress(step: str, done: int, total: int) -> None:
    pass


@dataclass
class Run:
    """What a method may use besides the table: randomness, threads, progress, a deadline."""

    seed: int | tuple[int, ...] = 0
    threads: int = 1
    progress: Progress = _no_progress
    cancelled: Callable[[], bool] = lambda: False
    deadline: float | None = None
    """`time.monotonic()` at which to return the best grouping so far"""
    privacy: tuple[Any, ...] = ()
    """privacy models beyond k, for methods that consider them while grouping; a shared repair then enforces them"""
    notes: list[str] = field(default_factory=list)
    """messages for the user, such as which method `auto` chose"""

    def rng(self) -> np.random.Generator:
        """Return the run's only source of randomness, restarted from the seed at each call."""
        return np.random.default_rng(self.seed)

    def checkpoint(self) -> None:
        """Raise Cancelled if the user stopped the run; call this between units of work."""
        if self.cancelled():
            raise Cancelled("The run was stopped.")

    def compile_for(self, method: str) -> None:
        """Compile the kernels of a method if this is the first run after installation."""
        from coterie.kernels.compiling import compile_ahead  # late: kernels are slow to import

        compile_ahead(method, None if self.progress is _no_progress else self.progress, self.checkpoint)

    @property
    def out_of_time(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline


@dataclass(frozen=True)
class Method:
    """A registered method."""

    name: str
    function: Callable[[Table, int, Any, Run], Grouping]
    options: type[Options]
    paper: str
    recoding: Literal["local", "global", "per-row"]
    summary: str

    @property
    def kind(self) -> type[Grouping]:
        """The kind of recoding that it returns."""
        return KINDS[self.recoding]

    @property
    def published(self) -> Mapping[str, Any] | None:
        """The options that `preset = "paper"` sets; None for a method without a paper."""
        return self.options.published if issubclass(self.options, PaperOptions) else None

    def run(self, table: Table, k: int, options: Options | None = None, run: Run | None = None) -> Grouping:
        """Group the rows of a table of at least k rows."""
        run = run or Run()
        run.compile_for(self.name)
        return self.function(table, k, options or self.options(), run)


def method(
    name: str, *, paper: str, recoding: Literal["local", "global", "per-row"], options: type[OptionsT]
) -> Callable[[Callable[[Table, int, OptionsT, Run], Grouping]], Callable[[Table, int, OptionsT, Run], Grouping]]:
    """Register a grouping function under a name. Its docstring's first line is the summary users see."""

    def register(
        function: Callable[[Table, int, OptionsT, Run], Grouping],
    ) -> Callable[[Table, int, OptionsT, Run], Grouping]:
        summary = (function.__doc__ or "").strip().splitlines()[0]
        METHODS.add(name, Method(name, function, options, paper, recoding, summary))
        return function

    return register


def all_methods() -> dict[str, Method]:
    """Return every registered method by name, in alphabetical order."""
    return dict(sorted(METHODS.items()))


def find_method(name: str) -> Method:
    """Return the method with this name; a ConfigError lists the names if there is none."""
    methods = all_methods()
    if name not in methods:
        raise ConfigError([Problem("method", f"there is no method {name!r}; there are {', '.join(methods)}")])
    return methods[name]
