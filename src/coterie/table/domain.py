"""Domain: the values of one column as codes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import pyarrow as pa

from coterie.arrays import Float64
from coterie.hierarchies.tree import Tree

Kind = Literal["number", "tree"]


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of one column as codes 0 … size − 1: in numeric order, or in the tree's depth-first order."""

    name: str
    kind: Kind
    values: pa.Array
    """code → value, in the column's own Arrow type; null at the code of missing values"""
    numbers: Float64 | None
    """numbers only: code → distance from the smallest value (exact for integers below 2**53); NaN for missing"""
    tree: Tree | None
    """trees only: leaf c is code c"""
    missing: int
    """the code of missing values (always the last code), or −1 if there are none"""
    weight: float
    labelled: bool
    """whether the user gave a hierarchy, whose labels are then published; otherwise sets of values are"""
    step: Decimal | None = None
    """the ends of published intervals are rounded outward to multiples of it"""
    order: tuple[str, ...] = ()
    """ordered categories only: all that may occur, as text, in their order; `numbers` are ranks among them"""

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.values)
