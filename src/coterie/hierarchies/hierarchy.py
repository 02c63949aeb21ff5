"""Hierarchies: which values may be published as what.

A hierarchy is an explicit tree (a CSV file in ARX's form, a nested mapping) or a rule (intervals, prefixes, dates,
flat). Bound to the values of a column it becomes a `Tree`, whose leaves are numbered depth-first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.arrays import Int32, Integers
from coterie.errors import ConfigError, HierarchyError, Problem
from coterie.hierarchies.grow import grow
from coterie.hierarchies.tree import Tree
from coterie.hierarchies.whole import ROOT, WholeTree

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.hierarchies.rules import HierarchyRule


class BoundHierarchy(NamedTuple):
    """A hierarchy over the values of a column."""

    tree: Tree
    codes: Int32
    """place of a value → its leaf code"""


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """A tree of labels, or a rule that makes one; not yet bound to data. Made by the class methods below.

    Two hierarchies are equal if they say the same, wherever they were read from.
    """

    form: WholeTree | HierarchyRule
    source: Path | None = field(default=None, compare=False)
    """the file that it was read from"""

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        *,
        delimiter: str | None = None,
        header: bool | None = None,
        encoding: str | None = None,
        root: str | None = None,
    ) -> Hierarchy:
        """Read ARX's form: one row per value, from the value up to the root.

        Args:
            path: The file.
            delimiter: What separates cells; `;` or `,` (also tab or `|`) is found when left out.
            header: Whether the first row names the columns; found when left out.
            encoding: The file's encoding; UTF-8 when left out.
            root: The root's label, for files in which some rows leave it out and it is not `*` or a word such as Any.

        Raises:
            HierarchyError: The file cannot be read or is not a tree; every fault is listed.
        """
        from coterie.hierarchies.files import read_rows

        rows = read_rows(path, delimiter=delimiter, header=header, encoding=encoding)
        return cls(grow(rows.cells, root=root, lines=rows.lines), Path(path))

    @classmethod
    def from_mapping(cls, mapping: Mapping[Any, Any] | Sequence[Any], *, root: str = ROOT) -> Hierarchy:
        """A nested mapping below an implied root: `{"High": ["Bachelors", "Masters"], "Low": ["11th"]}`.

        Lists and mappings may be mixed; a label with nothing beneath it is a value.
        """
        from coterie.hierarchies.spec import mapping_rows

        return cls(grow(mapping_rows(mapping, root=root), root=root))

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[object]], *, root: str | None = None) -> Hierarchy:
        """Rows as in a CSV file: `[["Bachelors", "High", "*"], …]`. Empty cells and None are padding."""
        from coterie.hierarchies.spec import row_texts

        cells = list(row_texts(list(rows)))
        return cls(grow(cells, root=root, lines=range(1, len(cells) + 1)))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Hierarchy:
        """Read a hierarchy file: `.json` and `.toml` hold what `from_spec` takes, anything else is CSV."""
        if Path(path).suffix.lower() not in (".json", ".toml"):
            return cls.from_csv(path)
        from coterie.hierarchies.files import read_mapping

        return cls(cls.from_spec(read_mapping(path), base=Path(path).parent).form, Path(path))

    @classmethod
    def from_spec(cls, spec: object, *, base: Path | None = None) -> Hierarchy:
        """What a TOML or JSON file, or a dict, may say of a hierarchy.

        Args:
            spec: A path; `"flat"`; a nested mapping, itself or as `{"tree": …}`; `{"csv": path}`;
                `{"intervals": [5, 10], "start": 0}`; `{"prefixes": [5, 3]}`; `{"dates": ["month", "year"]}`.
            base: The folder that relative paths start from; the current one when left out.

        Raises:
            ConfigError: It is none of these, or a rule's levels do not fit; every problem is listed.
            HierarchyError: The file or mapping is not a tree.
        """
        from coterie.hierarchies.spec import read_spec

        return read_spec(cls, spec, base=base)

    @classmethod
    def intervals(cls, *widths: float | str, start: float | str = 0) -> Hierarchy:
        """Numbers in intervals of growing width, each of which divides the next; one of them begins at `start`."""
        from coterie.hierarchies.rules import Intervals

        return cls(Intervals.of(widths, start))

    @classmethod
    def prefixes(cls, *lengths: int, mask: str = "*") -> Hierarchy:
        """Codes by their first characters: `021**`. Lengths from long to short; none means one at a time."""
        from coterie.hierarchies.rules import Prefixes

        return cls(Prefixes.of(lengths, mask))

    @classmethod
    def dates(cls, *levels: str) -> Hierarchy:
        """Dates by day, month, quarter, year, decade: those named, in this order; none means all."""
        from coterie.hierarchies.dates import Dates

        return cls(Dates.of(levels))

    @classmethod
    def flat(cls) -> Hierarchy:
        """Every value directly under the root."""
        from coterie.hierarchies.rules import Flat

        return cls(Flat())

    @property
    def kind(self) -> str:
        """`tree`, `intervals`, `prefixes`, `dates` or `flat`."""
        return "tree" if isinstance(self.form, WholeTree) else self.form.kind

    @property
    def tree(self) -> WholeTree | None:
        """The explicit tree, or None for a rule."""
        return self.form if isinstance(self.form, WholeTree) else None

    @property
    def spec(self) -> Any:  # noqa: ANN401 - whatever TOML holds
        """The hierarchy in what TOML and JSON can hold: `Hierarchy.from_spec(h.spec) == h`.

        A hierarchy that was read from a file is spelled out, so that it is the same whatever becomes of the file.
        """
        if not isinstance(self.form, WholeTree):
            return self.form.spec
        from coterie.hierarchies.spec import nested

        spec = {"tree": nested(self.form)}
        return spec if self.form.root == ROOT else spec | {"root": self.form.root}

    def bind(
        self,
        values: pa.Array,
        *,
        counts: Integers,
        column: str,
        missing: bool = False,
        show_values: bool = False,
    ) -> BoundHierarchy:
        """Number the values of a column by the tree that they make.

        Args:
            values: The distinct values, without nulls, in the column's own type.
            counts: The rows that hold each of them.
            column: The column's name, for messages.
            missing: Add one more leaf, labelled "", under the root: the last code.
            show_values: Let messages quote the values that have no place.

        Raises:
            HierarchyError: Values have no place in the hierarchy; each kind of fault is counted.
        """
        from coterie.hierarchies.bind import bind_rule, bind_tree

        if isinstance(self.form, WholeTree):
            return bind_tree(self.form, values, counts=counts, column=column, missing=missing, show_values=show_values)
        return bind_rule(self.form, values, counts=counts, column=column, missing=missing, show_values=show_values)

    def to_csv(self, path: str | os.PathLike[str], values: Any = None, *, force: bool = False) -> None:  # noqa: ANN401 - a column
        """Write ARX's form: `;`, no header, one row per value from the value up to the root.

        Args:
            path: The file, which appears whole or not at all.
            values: The values to write, an Arrow array or a list; a tree's own when left out. A rule needs them.
            force: Replace a file that exists.
        """
        from coterie.files.output import whole_file

        text = self.csv_text(values).encode()
        with whole_file(path, force=force) as file:
            file.write(text)

    def csv_text(self, values: Any = None) -> str:  # noqa: ANN401 - any array of values
        """What `to_csv` writes."""
        from coterie.hierarchies.files import csv_text

        if values is not None:
            from coterie.hierarchies.bind import tree_paths

            return csv_text(tree_paths(self, values))
        if not isinstance(self.form, WholeTree):
            raise ConfigError([Problem("values", f"{self.kind} is a rule without values of its own; pass the values")])
        return csv_text(self.form.path(node) for node in self.form.leaf_of.values())

    def __repr__(self) -> str:
        if isinstance(self.form, WholeTree):
            return f"<Hierarchy: a tree of {len(self.form.leaf_of):,} values under {self.form.root!r}>"
        return f"<Hierarchy: {self.form.spec}>"


intervals = Hierarchy.intervals
prefixes = Hierarchy.prefixes
dates = Hierarchy.dates
flat = Hierarchy.flat

__all__ = ["BoundHierarchy", "Hierarchy", "HierarchyError", "dates", "flat", "intervals", "prefixes"]
