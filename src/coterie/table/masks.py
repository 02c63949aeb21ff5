"""User-requested suppression: masks of rows and cells, and a limit for suppression by methods.

A suppressed row is in no group: it is removed, or published as `*` throughout if enough rows look like that. A
suppressed cell is treated as missing from the start, so that its value has no influence; and since all rows of a group
are published alike, the column is `*` in every group with such a cell. Both count as fully lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import AnyFlags, Bool, Int64
from coterie.errors import ConfigError, InfeasibleError, Problem, refuse

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table


class Mask(NamedTuple):
    """The rows and cells of a table to suppress."""

    rows: Bool | None = None
    """row → whether it is"""
    cells: Mapping[str, Bool] = {}
    """quasi-identifier → row → whether the cell is"""

    def of(self, numbers: Int64) -> Mask:
        """Return the masks of some rows, by their numbers in the table."""
        given = [flags for flags in (self.rows, *self.cells.values()) if flags is not None]
        if given and len(numbers) and int(numbers.max()) >= len(given[0]):
            raise _misfit("fewer", len(given[0]))
        return Mask(
            None if self.rows is None else self.rows[numbers],
            {name: flags[numbers] for name, flags in self.cells.items()},
        )

    def check(self, count: int) -> None:
        """Raise a ConfigError if the table has turned out to have another number of rows."""
        for flags in (self.rows, *self.cells.values()):
            if flags is not None and len(flags) != count:
                raise _misfit(f"{count:,} and not", len(flags))

    @property
    def note(self) -> str:
        """The request, for the user; empty if nothing is masked."""
        rows = 0 if self.rows is None else int(self.rows.sum())
        cells = sum(int(flags.sum()) for flags in self.cells.values())
        if not rows and not cells:
            return ""
        return f"{rows:,} rows and {cells:,} cells were suppressed by the masks"

    @property
    def sha256(self) -> str:
        """The hash of the masks, for reproducing the release; empty if nothing is masked."""
        if not self.note:
            return ""
        digest = hashlib.sha256()
        for name, flags in (("", self.rows), *sorted(self.cells.items())):
            if flags is not None and flags.any():
                digest.update(f"{len(name.encode())}:{name}:{len(flags)}:".encode() + np.packbits(flags).tobytes())
        return digest.hexdigest()


def read_mask(
    rows: AnyFlags,
    cells: AnyFlags,
    *,
    count: int | None,
    quasi: Sequence[str],
) -> Mask:
    """Validate the user's masks.

    Args:
        rows: Row → whether it is suppressed: a list, an array or a column of a frame; None for none.
        cells: Quasi-identifier → row → whether the cell is suppressed: a mapping or a frame; None for none.
        count: Rows of the table; None if nobody knows yet (`Mask.check` asks later).
        quasi: The quasi-identifiers.

    Raises:
        ConfigError: A mask does not fit the table; reports every problem at once.
    """
    problems: list[Problem] = []
    if count is None:
        given = [] if rows is None else [rows]
        count = next((len(each) for each in (*given, *(cells[name] for name in _names(cells)))), 0)
    row_flags = None if rows is None else _flags(rows, "suppress_rows", count, problems)
    flags: dict[str, Bool] = {}
    for name in _names(cells):
        path = f"suppress_cells.{name}"
        if name not in quasi:
            text = f"column {name!r} is not a quasi-identifier; only cells of quasi-identifiers can be suppressed"
            problems.append(Problem(path, text))
            continue
        found = _flags(cells[name], path, count, problems)
        if found is not None and len(found) and found.all():
            problems.append(Problem(path, f"every cell of {name!r} would be suppressed; drop the column instead"))
        elif found is not None and found.any():
            flags[name] = found
    refuse(problems)
    return Mask(row_flags, flags)


def _misfit(wanted: str, held: int) -> ConfigError:
    text = f"masks must have one True or False for each row of the table: {wanted} {held:,}"
    return ConfigError([Problem("suppress_rows", text)])


def _names(cells: AnyFlags) -> list[str]:
    if cells is None:
        return []
    names = cells.keys() if isinstance(cells, Mapping) else getattr(cells, "columns", None)
    if hasattr(cells, "column_names"):  # an Arrow table's `columns` are its data
        names = cells.column_names
    if not isinstance(names, Iterable):
        raise ConfigError([Problem("suppress_cells", "must be a mapping or a frame: column → mask of its rows")])
    return [str(name) for name in names]


def _flags(mask: AnyFlags, path: str, count: int, problems: list[Problem]) -> Bool | None:
    values = np.asarray(mask)
    if values.ndim != 1 or values.dtype != np.bool_ or len(values) != count:
        problems.append(Problem(path, f"must have one True or False for each of the {count:,} rows"))
        return None
    flags: Bool = values.astype(np.bool_)
    return flags


def star_masked(grouping: Grouping, table: Table, cells: Mapping[str, Bool]) -> Grouping:
    """Widen the interval to the whole domain in every group with a cell that the masks of columns suppress."""
    if not cells:
        return grouping
    starred = {
        at: np.unique(grouping.labels[cells[domain.name] & (grouping.labels >= 0)])
        for at, domain in enumerate(table.domains)
        if domain.name in cells
    }
    return grouping.with_stars(starred, table.domains)


def refuse_suppression(suppressed: int, *, rows: int, config: Config) -> None:
    """Raise an InfeasibleError if a method suppressed more rows than allowed."""
    if config.suppress_at_most is None:
        return
    # 100 · s > p · n, with p a decimal number: 0.1 % of 1,000 rows is one row.
    if 100 * suppressed <= config.suppress_at_most * rows * (1 + 1e-12):
        return
    share = 100 * suppressed / rows
    raise InfeasibleError(
        f"{config.method} suppressed {suppressed:,} of {rows:,} rows ({share:.2f} %); at most "
        f"{config.suppress_at_most:g} % are allowed.",
        wanted=config.suppress_at_most,
        possible=share,
        hint=f"Set suppress_at_most = {np.ceil(share * 100) / 100:g}, or change the method's options.",
    )
