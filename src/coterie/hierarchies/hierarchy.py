"""Hierarchies: how each value may be generalized.

A hierarchy is an explicit tree (a CSV file in ARX format, a nested mapping) or a rule (intervals, prefixes, dates,
flat). Binding it to the values of a column gives a `Tree`, whose leaves are numbered depth-first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.arrays import Int32, Integers
from coterie.errors import ConfigError, HierarchyError, Problem
from coterie.hierarchies.dates import Dates
from coterie.hierarchies.files import csv_text, read_mapping, read_rows
from coterie.hierarchies.grow import grow
from coterie.hierarchies.rules import Flat, HierarchyRule, Intervals, Prefixes
from coterie.hierarchies.spec import mapping_rows, nested, read_spec, row_texts
from coterie.hierarchies.tree import Tree
from coterie.hierarchies.whole import ROOT, WholeTree

if TYPE_CHECKING:
    import pyarrow as pa


class BoundHierarchy(NamedTuple):
    """A hierarchy over the values of a column."""

    tree: Tree
    codes: Int32
    """position of a value → its leaf code"""


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """A tree of labels, or a rule that makes one, not yet bound to data. Use the class methods below to create one.

    Two hierarchies are equal if they have the same content, wherever they were read from.
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
        """Read an ARX hierarchy: one row per value, from the value up to the root.

        Args:
            path: The file.
            delimiter: The cell delimiter; by default `;`, `,`, tab or `|` is detected.
            header: Whether the first row is a header; detected by default.
            encoding: The file's encoding; UTF-8 by default.
            root: The root's label, for files in which some rows omit it and it is not `*` or a word such as Any.

        Raises:
            HierarchyError: The file cannot be read or is not a tree; every problem is listed.
        """
        rows = read_rows(path, delimiter=delimiter, header=header, encoding=encoding)
        return cls(grow(rows.cells, root=root, lines=rows.lines), Path(path))

    @classmethod
    def from_mapping(cls, mapping: Mapping[Any, Any] | Sequence[Any], *, root: str = ROOT) -> Hierarchy:
        """Build a hierarchy from a nested mapping, root omitted: `{"High": ["Bachelors", "Masters"], "Low": ["11th"]}`.

        Lists and mappings may be mixed; a label with nothing below it is a value.
        """
        return cls(grow(mapping_rows(mapping, root=root), root=root))

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[object]], *, root: str | None = None) -> Hierarchy:
        """Build a hierarchy from rows: `[["Bachelors", "High", "*"], …]`. Empty cells and None are padding."""
        cells = list(row_texts(list(rows)))
        return cls(grow(cells, root=root, lines=range(1, len(cells) + 1)))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Hierarchy:
        """Read a hierarchy file: `.json` and `.toml` contain what `from_spec` takes; anything else is CSV."""
        if Path(path).suffix.lower() not in (".json", ".toml"):
            return cls.from_csv(path)
        return cls(cls.from_spec(read_mapping(path), base=Path(path).parent).form, Path(path))

    @classmethod
    def from_spec(cls, spec: object, *, base: Path | None = None) -> Hierarchy:
        """Build a hierarchy from plain values, as in a TOML or JSON file or a dict.

        Args:
            spec: A path; `"flat"`; a nested mapping, itself or as `{"tree": …}`; `{"csv": path}`;
                both also with `"weights": {"Masters": 3}`;
                `{"intervals": [5, 10], "start": 0}`; `{"prefixes": [5, 3]}`; `{"dates": ["month", "year"]}`.
            base: The folder that relative paths start from; the current one by default.

        Raises:
            ConfigError: It is none of these, or a rule's levels are invalid; every problem is listed.
            HierarchyError: The file or mapping is not a tree.
        """
        return read_spec(cls, spec, base=base)

    @classmethod
    def intervals(cls, *widths: float | str, start: float | str = 0) -> Hierarchy:
        """Group numbers into intervals of increasing width, each dividing the next; one of them begins at `start`."""
        return cls(Intervals.of(widths, start))

    @classmethod
    def prefixes(cls, *lengths: int, mask: str = "*") -> Hierarchy:
        """Group codes by their first characters: `021**`. Lengths go from long to short; none means one at a time."""
        return cls(Prefixes.of(lengths, mask))

    @classmethod
    def dates(cls, *levels: str) -> Hierarchy:
        """Group dates by day, month, quarter, year or decade: the given levels in this order, or all of them."""
        return cls(Dates.of(levels))

    @classmethod
    def flat(cls) -> Hierarchy:
        """Place every value directly under the root."""
        return cls(Flat())

    def weighted(self, weights: Mapping[str, float]) -> Hierarchy:
        """Return the hierarchy with weights of some labels: `{"Masters": 3, "High": 0.5}`.

        The NCP of a label is the sum of the weights at and below it ÷ that of the root. By default a value weighs 1
        and a group 0.

        Raises:
            ConfigError: It is a rule, not a tree, or the weights are not a mapping.
            HierarchyError: A weight is invalid; every problem is listed.
        """
        if not isinstance(self.form, WholeTree):
            raise ConfigError([Problem("weights", f"weights need the labels of a tree; {self.kind} is a rule")])
        if not isinstance(weights, Mapping):
            raise ConfigError([Problem("weights", "must be a table of labels and numbers, such as {High = 0.5}")])
        return replace(self, form=self.form.weighted(weights))

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
        """The hierarchy as plain values for TOML and JSON: `Hierarchy.from_spec(h.spec) == h`.

        A hierarchy read from a file is written out in full, so it stays the same whatever happens to the file.
        """
        if not isinstance(self.form, WholeTree):
            return self.form.spec
        spec: dict[str, Any] = {"tree": nested(self.form)}
        spec |= {} if self.form.root == ROOT else {"root": self.form.root}
        return spec | {"weights": dict(self.form.weights)} if self.form.weights else spec

    def bind(
        self,
        values: pa.Array,
        *,
        counts: Integers,
        column: str,
        missing: bool = False,
        show_values: bool = False,
    ) -> BoundHierarchy:
        """Encode the values of a column with this hierarchy.

        Args:
            values: The distinct values, without nulls, in the column's type.
            counts: The number of rows with each value.
            column: The column's name, for messages.
            missing: Add one more leaf, labelled "", under the root: the last code.
            show_values: Let messages quote the values that the hierarchy lacks.

        Raises:
            HierarchyError: The hierarchy lacks some values; each kind of problem is counted.
        """
        from coterie.hierarchies.bind import bind

        return bind(self.form, values, counts=counts, column=column, missing=missing, show_values=show_values)

    def to_csv(self, path: str | os.PathLike[str], values: Any = None, *, force: bool = False) -> None:  # noqa: ANN401 - a column
        """Write the hierarchy in ARX format: `;`, no header, one row per value from the value up to the root.

        Args:
            path: The file. It is written atomically.
            values: The values to write, an Arrow array or a list; by default a tree's own. A rule needs them.
            force: Overwrite an existing file.
        """
        from coterie.files.output import whole_file

        text = self.csv_text(values).encode()
        with whole_file(path, force=force) as file:
            file.write(text)

    def csv_text(self, values: Any = None) -> str:  # noqa: ANN401 - any array of values
        """Return the text that `to_csv` writes."""
        if values is not None:
            from coterie.hierarchies.bind import tree_paths

            return csv_text(tree_paths(self, values))
        if not isinstance(self.form, WholeTree):
            raise ConfigError([Problem("values", f"{self.kind} is a rule without values; pass the values")])
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
