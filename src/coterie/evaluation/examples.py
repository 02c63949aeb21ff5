"""Encode cells as features for machine learning, the same for generalized and original rows.

* A number is the midpoint of its interval, scaled to 0 … 1; if values may be missing, a second feature is the
  probability of that.
* A category has one feature per value: the probability that the cell is that value. An original value is 1 in its own
  feature; a label over four values is ¼ in each of theirs; `*` is the same everywhere. So a model trained on labels can
  score rows with original values. Columns with very many values have features for hierarchy labels or for the frequent
  values instead (`bins.py`).

Equal rows are one weighted example.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from coterie.arrays import Bool, Float64, Int64
from coterie.evaluation.before_after import BeforeAfter, ColumnPair, joint_cells
from coterie.evaluation.bins import bins_of
from coterie.evaluation.cells import Cells

# Features of one column.
MOST_VALUES = 200


class Examples(NamedTuple):
    """A table as distinct examples: their features, and the distribution of their rows over classes."""

    matrix: Any
    """[example, feature], sparse"""
    shares: Float64
    """[example, class] probability of the class; rows of 0 if it is surely unknown"""
    of_row: Int64
    """row → example"""

    def weights(self, rows: Bool) -> Float64:
        """Return example → the number of these rows with it."""
        return np.bincount(self.of_row[rows], minlength=len(self.shares)).astype(np.float64)

    def labelled(self, rows: Bool) -> tuple[Any, Int64, Float64]:
        """Return the training data: features, class and weight. A cell with several possible classes is split."""
        weights = self.shares * self.weights(rows)[:, None]
        example, label = np.nonzero(weights)
        return self.matrix[example], label.astype(np.int64), weights[example, label]


def make_examples(tables: BeforeAfter, *, features: Sequence[str], target: str) -> tuple[Examples, Examples]:
    """Encode the original and the release as examples with the same features and classes."""
    pairs = [tables.column(name) for name in features]
    aimed = tables.column(target)
    return (
        _examples([pair.before for pair in pairs], aimed.before, pairs),
        _examples([pair.after for pair in pairs], aimed.after, pairs),
    )


def _examples(columns: list[Cells], target: Cells, pairs: Sequence[ColumnPair]) -> Examples:
    from scipy import sparse

    of_row, first = joint_cells([*columns, target])
    blocks = [_features(cells, pair)[cells.of_row[first]] for cells, pair in zip(columns, pairs, strict=True)]
    return Examples(sparse.hstack(blocks, format="csr"), class_shares(target)[target.of_row[first]], of_row)


def _features(cells: Cells, pair: ColumnPair) -> Any:  # noqa: ANN401 - a sparse matrix
    """Return the features of each cell as [cell, feature]."""
    from scipy import sparse

    domain = pair.domain
    if domain.kind != "number":
        found = bins_of(domain, most=MOST_VALUES, before=pair.before).spread(cells)
        return sparse.csr_matrix(found)
    span = float(np.nanmax(domain.numbers)) if domain.numbers is not None and domain.size > 1 else 1.0
    # Where nothing is known, the middle of the range.
    middle = np.nan_to_num(cells.middle() / (span or 1.0), nan=0.5)
    columns = [middle] if domain.missing < 0 else [middle, cells.blank]
    return sparse.csr_matrix(np.stack(columns, axis=1))


def class_shares(target: Cells) -> Float64:
    """Return [cell, class] probabilities of the target's values; classes are its codes, without missing."""
    domain = target.domain
    present = np.eye(domain.size)[: domain.size - (domain.missing >= 0)]
    return np.stack([target.mean_over_codes(only) for only in present], axis=1)
