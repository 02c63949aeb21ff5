"""What published cells say by themselves, without the original: a value, two ends, some values, a node, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.values.notation import Cell, CellText, read_cell
from coterie.values.scalars import parse_moment, parse_number

if TYPE_CHECKING:
    from coterie.settings.config import Config

Key = Decimal | int
"""a number, or a moment in nanoseconds"""


class Said(NamedTuple):
    """What a published cell says."""

    ends: tuple[Key, Key] | None = None
    """the least and the largest value, where these can be compared"""
    values: int = 0
    """values that surely occur in a class that is published so, if cells are no wider than their rows"""
    children: int = 0
    """nodes beneath the published one that surely occur, each in a row of its own"""
    lost: float = 0.0
    """share of the column that it leaves open, where that does not follow from the ends"""

    @property
    def single(self) -> bool:
        """Whether it is one value, or a missing one."""
        return not self.lost and (self.ends is None or self.ends[0] == self.ends[1])


MISSING = Said()
ANYTHING = Said(lost=1.0)
SAID = {"missing": MISSING, "suppressed": ANYTHING}
"""kind of cell → what it says, if it has no value"""


def forms_of(config: Config) -> dict[str, Any]:
    """Return column → what its labels mean: a tree, a rule, or categories in their order."""
    return {name: each.form for name, each in config.hierarchies.items()} | dict(config.ordered)


def read_labels(texts: Sequence[CellText], form: Any) -> list[Said] | None:  # noqa: ANN401 - a tree or rule
    """Read the distinct cells of a column; None if nothing is known of how large its labels are.

    Args:
        texts: The cells.
        form: The tree (`labels`, `parent`) or rule (`widths`) of the column's hierarchy, or its categories in order.
    """
    if form is None:
        return _plain(texts)
    if isinstance(form, tuple):
        return _ordered(texts, {text: rank for rank, text in enumerate(form)})
    if hasattr(form, "labels"):
        known = _nodes(form)
        found = [MISSING if text is None else known.get(text) for text in texts if not isinstance(text, tuple)]
        return None if None in found or len(found) < len(texts) else found  # type: ignore[return-value]
    return _bands(texts, form.widths) if hasattr(form, "widths") else None


def _plain(texts: Sequence[CellText]) -> list[Said]:
    """Cells of a column without a hierarchy: numbers or dates if all of them are, categories otherwise."""
    cells = [read_cell(text, "interval") for text in texts]
    shown = [cell for cell in cells if cell.kind in ("value", "interval")]
    keys = {part: _key(part) for cell in shown for part in cell.parts}
    kinds = {type(key) for key in keys.values()}
    if shown and len(kinds) == 1 and type(None) not in kinds:
        return [SAID.get(c.kind) or _between(keys[c.parts[0]], keys[c.parts[-1]]) for c in cells]  # type: ignore[arg-type]
    return _categories(texts)


def _ordered(texts: Sequence[CellText], rank: dict[str, int]) -> list[Said] | None:
    """Read ordered categories and their intervals."""
    cells = [read_cell(text, "order") for text in texts]
    if any(part not in rank for cell in cells for part in cell.parts):
        return None
    return [SAID.get(c.kind) or _between(rank[c.parts[0]], rank[c.parts[-1]]) for c in cells]


def _categories(texts: Sequence[CellText]) -> list[Said]:
    """Read categories and sets. A set leaves its other members open, of all the values that the column publishes."""
    cells = [Cell("interval") if _has_ends(text) else read_cell(text, "set") for text in texts]
    published = {part for cell in cells if cell.kind in ("value", "set") for part in cell.parts}
    others = max(len(published) + any(cell.kind == "missing" for cell in cells) - 1, 1)
    found = []
    for cell in cells:
        values = len(set(cell.parts))
        if cell.kind == "interval":
            found.append(Said(values=2, lost=1.0))  # the order of the categories is not known
        else:
            found.append(SAID.get(cell.kind) or Said(values=values, lost=max(values - 1, 0) / others))
    return found


def _has_ends(text: CellText) -> bool:
    """Whether a cell is an interval of ordered categories."""
    return isinstance(text, str) and text.startswith("[") and ", " in text


def _between(low: Key, high: Key) -> Said:
    return Said((low, high), values=1 if low == high else 2)


def _key(text: str) -> Key | None:
    number = parse_number(text)
    if number is not None:
        return number
    moment = parse_moment(text)
    return None if moment is None else moment.nanoseconds


def _nodes(tree: Any) -> dict[str, Said]:  # noqa: ANN401 - labels and parents
    """Label → what it says. A node is published only where rows below two of its children are: of two, both occur."""
    inner = Counter(tree.parent)
    alone = Counter(above for node, above in enumerate(tree.parent) if tree.sizes[node] == 1)
    often = Counter(tree.labels)
    found: dict[str, Said] = {}
    for node, label in enumerate(tree.labels):
        if not inner[node]:
            said = Said(values=1)
        else:
            # Suppressed cells look like the root, and equal labels are ambiguous.
            pair = inner[node] == 2 and node > 0 and often[label] == 1
            said = Said(values=alone[node] * pair, children=2 * pair, lost=int(tree.sizes[node]) / int(tree.sizes[0]))
        found[label] = max(said, found.get(label, said), key=lambda each: each.lost)
    return found


def _bands(texts: Sequence[CellText], widths: Sequence[Decimal]) -> list[Said] | None:
    """Labels of a hierarchy of intervals: `[20-24]`, `[-5, -1]` of whole numbers, `[20, 25)` of decimals."""
    found = []
    for text in texts:
        closed = text if not isinstance(text, str) or not text.endswith(")") else text[:-1] + "]"
        cell = read_cell(closed, "interval")
        keys = [parse_number(part) for part in cell.parts]
        if cell.kind in SAID:
            found.append(SAID[cell.kind])
        elif None in keys or isinstance(text, tuple):
            return None
        else:
            low, high = keys[0], keys[-1]
            assert low is not None
            assert high is not None
            whole = closed == text
            found.append(_band(low, high, Decimal(1 if whole and low != high else 0), widths))
    return found


def _band(low: Decimal, high: Decimal, step: Decimal, widths: Sequence[Decimal]) -> Said:
    """Return an interval of a known width: if two of the next narrower ones fit in it, both of them occur."""
    if low == high:
        return _between(low, high)
    finer = [width for width in widths if width < high - low + step] or [step]
    pair = bool(finer[-1]) and high - low + step == 2 * finer[-1]
    return Said((low, high), values=2 if pair and finer == [step] else 0, children=2 if pair else 0)
