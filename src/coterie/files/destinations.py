"""Check before the work that outputs can be written and do not overwrite the inputs.

A release is made from the input, and from the configuration with the hierarchies and population tables that it names.
Overwriting one of these, even on request, would lose the original or make the release irreproducible.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coterie.errors import ConfigError, Problem
from coterie.files.databases.place import Place, is_address, place_of, target_of
from coterie.files.input import with_sheet
from coterie.files.output import check_target, format_of, provenance_path

if TYPE_CHECKING:
    from coterie.settings.config import Config

AnyPath = str | os.PathLike[str]


class Original(NamedTuple):
    """An input of a release."""

    what: str
    """in messages: "the input" """
    where: Path | Place | str
    """a file or folder, a database table, or an address that only Spark can open"""


class Output(NamedTuple):
    """A file or table that will be written."""

    setting: str
    where: AnyPath
    beside: AnyPath | None = None
    """the output next to which coterie writes this file automatically"""


def check_apart(
    data: object,
    config: Config | None,
    *,
    output: AnyPath | None = None,
    mapping: AnyPath | None = None,
    reports: Sequence[AnyPath] = (),
    settings_beside: bool = True,
) -> None:
    """Refuse to overwrite an input of the release, by whatever name, or to write two outputs to one file.

    The input is a path, an address, the `Place` of a table, or a frame, which cannot be overwritten.
    """
    originals = list(originals_of(data, config))
    outputs = list(_outputs(output, mapping, reports, settings_beside=settings_beside))
    problems = [
        _overwrites(each, original)
        for each in outputs
        for original in originals
        if _touches(each.where, original.where)
    ]
    for at, each in enumerate(outputs):
        if each.beside is None and any(_same_target(each.where, other.where) for other in outputs[:at]):
            problems.append(Problem(each.setting, "needs its own file"))
    if problems:
        raise ConfigError(problems)


def check_outputs(
    data: object,
    config: Config | None,
    *,
    output: AnyPath | None,
    mapping: AnyPath | None = None,
    reports: Sequence[AnyPath] = (),
    force: bool,
) -> None:
    """Check before a run in memory that its outputs can be written."""
    for each in (output, mapping):
        if each is not None and place_of(each) is None:
            format_of(each)
    check_apart(data, config, output=output, mapping=mapping, reports=reports)
    for found in _outputs(output, mapping, reports, settings_beside=True):
        check_target(found.where, force=force)


def originals_of(data: object, config: Config | None) -> Iterator[Original]:
    """Return every input of a release with this data and configuration that has a path."""
    if (where := _where(data)) is not None:
        yield Original("the input", where)
    if config is None:
        return
    if config.file is not None:
        yield Original("the configuration in use", config.file)
    for column, hierarchy in config.hierarchies.items():
        if hierarchy.source is not None:
            yield Original(f"the hierarchy of {column!r}", hierarchy.source)
    for model in config.privacy:
        if (where := _where(getattr(model, "population", None))) is not None:
            yield Original(f"the population of {model.name}", where)


def _where(data: object) -> Path | Place | str | None:
    if isinstance(data, Place):
        return data
    if not isinstance(data, str | os.PathLike) or os.fspath(data) == "-":
        return None
    if (place := place_of(data)) is not None:
        return place
    if is_address(os.fspath(data)):
        return os.fspath(data)
    return Path(with_sheet(data)[0])


def _outputs(
    output: AnyPath | None, mapping: AnyPath | None, reports: Sequence[AnyPath], *, settings_beside: bool
) -> Iterator[Output]:
    if output is not None and os.fspath(output) != "-":
        yield Output("output", output)
        if settings_beside and not is_address(os.fspath(output)):
            yield Output("output", provenance_path(output), beside=output)
    if mapping is not None:
        if os.fspath(mapping) == "-":
            raise ConfigError([Problem("mapping", "needs its own file")])
        yield Output("mapping", mapping)
    for path in reports:
        yield Output("report", path)


def _overwrites(output: Output, original: Original) -> Problem:
    if output.beside is not None:
        text = f"its settings would go to {output.where}, which is {original.what}; give the output another name"
        return Problem(output.setting, text)
    kind = "table" if isinstance(original.where, Place) else "file"
    itself = " itself" if original.what == "the input" else ""
    return Problem(output.setting, f"is {original.what}{itself}; name another {kind}")


def _touches(output: AnyPath, original: Path | Place | str) -> bool:
    """Return whether writing the output would change the original."""
    place = target_of(output)
    if place is not None or isinstance(original, Place):
        return place is not None and isinstance(original, Place) and original.same_table(place)
    text = os.fspath(output)
    if isinstance(original, str) or is_address(text):
        one, two = str(original).rstrip("/") + "/", text.rstrip("/") + "/"
        return one.startswith(two) or two.startswith(one)
    target, source = Path(text.removeprefix("file://")), original.absolute()
    if not (os.path.exists(target) and os.path.exists(source)):  # noqa: PTH110 - it answers for any text
        return False
    if target.is_dir():  # it would be replaced, with all that it holds
        return any(_same(target, each) for each in (source, *source.resolve().parents))
    return _same(target, source) or (source.is_dir() and _same(target.resolve().parent, source))


def _same_target(one: AnyPath, two: AnyPath) -> bool:
    """Return whether two outputs would be the same file."""
    first, second = target_of(one), target_of(two)
    if first is not None or second is not None:
        return first is not None and second is not None and first.same_table(second)
    return Path(one).resolve() == Path(two).resolve() or _same(Path(one), Path(two))


def _same(one: Path, two: Path) -> bool:
    """Return whether both names lead to the same file, via links, hard links or case-insensitive names."""
    try:
        return one.samefile(two)
    except OSError:
        return False
