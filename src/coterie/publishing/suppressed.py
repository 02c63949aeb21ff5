"""The rule for the published cells of suppressed rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coterie.publishing.labels import Boxes, label, style_of

if TYPE_CHECKING:
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
