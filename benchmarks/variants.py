"""Which methods are measured: everything in the registry, and each effort or seeding where a method has several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args

from benchmarks.harness import in_process
from coterie.methods import Method, all_methods

VARIED = ("effort", "seeding")
"""options whose every value is measured; all others stay at their defaults"""
NOT_GROUPING = ("auto",)
"""names that only choose another method"""
SMALL_TABLES_ONLY = ("optimal",)


class Variant(NamedTuple):
    """A method with the options it is measured with."""

    label: str
    method: str
    options: dict[str, Any]
    usual: bool
    """whether these are the method's defaults"""


def variants(*, all_options: bool = True) -> list[Variant]:
    """Everything that is measured, by method; with `all_options=False` each method once, as it is by default."""
    found = [each for method in all_methods().values() for each in _of(method)]
    return [each for each in found if all_options or each.usual]


def _of(method: Method) -> Iterator[Variant]:
    if method.name in NOT_GROUPING + SMALL_TABLES_ONLY:
        return
    fields = method.options.model_fields
    name = next((name for name in VARIED if name in fields), None)
    if name is None:
        yield Variant(method.name, method.name, {}, True)
        return
    for value in get_args(fields[name].annotation):
        yield Variant(f"{method.name}, {value}", method.name, {name: value}, value == fields[name].default)


def compile_all(known: Iterable[Variant]) -> None:
    """Run each once on a few rows: a process that compiles would hold much more memory than one that loads."""
    for variant in known:
        few = {"data": "census", "rows": 1_000, "method": variant.method, "options": variant.options, "k": 5}
        in_process("benchmarks.worker", {**few, "repetitions": 1, "bound": True})
