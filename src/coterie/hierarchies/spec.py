"""Hierarchies as plain values: nested mappings, and hierarchy specifications in TOML or JSON."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from coterie.errors import ConfigError, HierarchyError, Problem
from coterie.hierarchies.whole import ROOT, WholeTree
from coterie.values.scalars import decimal_text, float_text

if TYPE_CHECKING:
    from coterie.hierarchies.hierarchy import Hierarchy

# Keyword of a rule → the settings that it can be combined with.
_SETTINGS = {
    "tree": ("root", "weights"),
    "csv": ("delimiter", "header", "encoding", "root", "weights"),
    "intervals": ("start",),
    "prefixes": ("mask",),
    "dates": (),
    "flat": (),
}


def scalar_text(value: object) -> str | None:
    """Return a single value of a mapping or row as its label; None if it cannot be one."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return None


def mapping_rows(nested: object, *, root: str = ROOT) -> list[tuple[str, ...]]:
    """Return the rows (value … root) of a nested mapping; lists and mappings may be mixed at any depth.

    Raises:
        HierarchyError: The mapping contains something other than labels; every place is listed.
    """
    rows: list[tuple[str, ...]] = []
    problems: list[Problem] = []
    # An explicit stack: a mapping may be deeper than Python's recursion limit.
    stack: list[tuple[object, tuple[str, ...]]] = [(nested, (root,))]
    while stack:
        thing, path = stack.pop()
        if isinstance(thing, Mapping):
            beneath = [_branch(key, child, path, problems) for key, child in thing.items()]
            stack.extend(branch for branch in reversed(beneath) if branch is not None)
        elif _is_list(thing):
            inner = sum(map(_is_list, thing))
            problems += [_at(path, "a list is directly inside a list; give the inner one a label")] * inner
            stack.extend((item, path) for item in reversed(thing) if not _is_list(item))
        elif (label := _label(thing, path, problems)) is not None:
            rows.append((label, *path))
    if problems:
        raise HierarchyError(problems)
    return rows


def _branch(
    key: object, child: object, path: tuple[str, ...], problems: list[Problem]
) -> tuple[object, tuple[str, ...]] | None:
    label = _label(key, path, problems)
    if label is None:
        return None
    # A label with nothing beneath it is a value itself.
    if child is None or (isinstance(child, Mapping | Sequence) and not isinstance(child, str) and not child):
        return (label, path)
    if not label.strip():
        problems.append(_at(path, "a label is empty; give the group a name"))
        return None
    return (child, (label, *path))


def _label(thing: object, path: tuple[str, ...], problems: list[Problem]) -> str | None:
    """Return the label of a single value, or note that it is none."""
    label = scalar_text(thing)
    if label is None:
        problems.append(_at(path, f"{_kind(thing)} is not a label; use text, numbers or dates"))
    return label


def _is_list(thing: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(thing, Sequence) and not isinstance(thing, str | bytes)


def _kind(thing: object) -> str:
    return "null" if thing is None else f"a value of type {type(thing).__name__}"


def _at(path: tuple[str, ...], text: str) -> Problem:
    return Problem(f'under "{path[0]}"', text)


def nested(tree: WholeTree) -> object:
    """Return the tree below its root as nested mappings, with lists where all children are values.

    TOML writes the plain values of a table before its tables, which would change the order of children. So a mapping
    has children of one shape only; where they differ, a list of values and single-label mappings keeps the order.
    """
    beneath: list[list[int]] = [[] for _ in tree.labels]
    for node in range(1, len(tree.labels)):
        beneath[tree.parent[node]].append(node)
    made: list[Any] = [None] * len(tree.labels)
    shapes = ["value"] * len(tree.labels)
    for node in range(len(tree.labels) - 1, -1, -1):
        children = beneath[node]
        below = {shapes[child] for child in children}
        if not children:
            continue
        if below == {"value"}:
            made[node] = [tree.labels[child] for child in children]
            shapes[node] = "list"
        elif below in ({"list"}, {"mapping"}):
            made[node] = {tree.labels[child]: made[child] for child in children}
            shapes[node] = "mapping"
        else:
            made[node] = [
                {tree.labels[child]: made[child]} if beneath[child] else tree.labels[child] for child in children
            ]
            shapes[node] = "mixed"
    return made[0]


def read_spec(cls: type[Hierarchy], spec: object, *, base: Path | None) -> Hierarchy:
    """Return the hierarchy described by a plain value; see `Hierarchy.from_spec`."""
    if isinstance(spec, cls):
        return spec
    if spec == "flat":
        return cls.flat()
    if isinstance(spec, str | os.PathLike):
        return cls.from_file(_located(spec, base))
    if isinstance(spec, Mapping):
        words = [word for word in _SETTINGS if word in spec]
        return _by_word(cls, spec, words, base=base) if words else cls.from_mapping(spec)
    if isinstance(spec, Sequence) and not isinstance(spec, bytes):
        return cls.from_mapping(spec)
    raise ConfigError([Problem("", f"{_kind(spec)} is not a hierarchy; give a path, a rule or a nested mapping")])


def _located(path: str | os.PathLike[str], base: Path | None) -> Path:
    return Path(path) if base is None else base / path


def _by_word(cls: type[Hierarchy], spec: Mapping[str, Any], words: list[str], *, base: Path | None) -> Hierarchy:
    word = words[0]
    allowed = (word, *_SETTINGS[word])
    problems = [_unexpected(str(key), word, allowed) for key in spec if key not in allowed]
    if problems:
        raise ConfigError(problems)
    value = spec[word]
    settings = {key: spec[key] for key in allowed[1:] if key in spec}
    if word in ("csv", "tree"):
        weights = settings.pop("weights", {})
        made = _from_csv(cls, value, settings, base=base) if word == "csv" else _from_tree(cls, value, settings)
        return made if weights == {} else made.weighted(weights)
    if word == "flat":
        if value is not True:
            raise ConfigError([Problem("flat", 'must be true; or write the hierarchy as "flat"')])
        return cls.flat()
    levels = list(value) if _is_list(value) else [value]
    if word == "intervals":
        return cls.intervals(*levels, **settings)
    return cls.prefixes(*levels, **settings) if word == "prefixes" else cls.dates(*levels)


def _unexpected(key: str, word: str, allowed: Sequence[str]) -> Problem:
    beside = f"; {word} can be combined with {' and '.join(allowed[1:])}" if len(allowed) > 1 else ""
    return Problem(
        key, f"cannot be combined with {word}{beside}. A tree with a label {word!r} is written as {{tree = …}}"
    )


def _from_csv(cls: type[Hierarchy], path: object, settings: dict[str, Any], *, base: Path | None) -> Hierarchy:
    problems = [] if isinstance(path, str | os.PathLike) else [Problem("csv", "must be the path of a file")]
    problems += [
        Problem(key, "must be text")
        for key, value in settings.items()
        if key != "header" and not isinstance(value, str)
    ]
    if "header" in settings and not isinstance(settings["header"], bool):
        problems.append(Problem("header", "must be true or false"))
    if problems or not isinstance(path, str | os.PathLike):
        raise ConfigError(problems)
    return cls.from_csv(_located(path, base), **settings)


def _from_tree(cls: type[Hierarchy], value: Any, settings: dict[str, Any]) -> Hierarchy:  # noqa: ANN401 - from TOML
    problems = []
    if not isinstance(value, Mapping) and not _is_list(value):
        problems.append(Problem("tree", "must be a nested mapping or a list of values"))
    root = settings.get("root", ROOT)
    if not isinstance(root, str) or not root.strip():
        problems.append(Problem("root", "must be a label"))
    if problems or not isinstance(root, str):
        raise ConfigError(problems)
    return cls.from_mapping(value, root=root)


def row_texts(rows: Sequence[Sequence[object]]) -> Iterator[list[str]]:
    """Convert rows of Python values to rows of labels; None and NaN are empty cells.

    Raises:
        HierarchyError: A row is not a list of labels; every such row is counted.
    """
    wrong = 0
    for row in rows:
        cells = []
        fits = _is_list(row)
        for cell in row if fits else ():
            text = "" if cell is None or cell != cell else scalar_text(cell)
            fits = fits and text is not None
            cells.append(text or "")
        wrong += not fits
        yield cells
    if wrong:
        raise HierarchyError(
            f"{wrong:,} of the rows are not lists of labels; give each as a list: value, group, …, root"
        )
