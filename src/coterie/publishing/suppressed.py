"""How suppressed rows are shown: the one rule for whether they are, and for the content of their cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.publishing.labels import Boxes, Labels, label, style_of

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.settings.fields.hierarchies import Publish
    from coterie.table.domain import Domain


def published_as(domain: Domain, publish: Mapping[str, Publish]) -> dict[str, tuple[pa.DataType, Any]]:
    """Return a quasi-identifier's published columns → their types and the value for a suppressed row."""
    one = np.zeros(1, dtype=np.int32)
    labels = label(Boxes(domain, one, one, one, one), style_of(domain, publish))
    return {
        name: (values.type, values[labels.suppressed].as_py())
        for name, values in zip(labels.names, labels.values, strict=True)
    }


def starred_rows(recoded: Iterable[Labels], sizes: Int64) -> int:
    """Count the rows of the groups published as `*` throughout."""
    starred = np.ones(len(sizes), dtype=np.bool_)
    for labels in recoded:
        starred &= labels.of_group == labels.suppressed
    return int(sizes[starred].sum())


def may_show(config: Config, *, suppressed: int, starred: int) -> bool:
    """Return whether suppressed rows, with the groups published as `*` throughout, are enough to be shown."""
    return config.suppressed == "auto" and (suppressed == 0 or suppressed + starred >= config.k)
