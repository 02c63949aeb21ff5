"""Privacy models on classes of rows: decided by the models themselves, as repair does, and by the judge."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from coterie.privacy.checks import check_domains
from coterie.privacy.histogram import Groups, count_columns
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.verification.arrow import ArrowCounter
from coterie.verification.models import check_promises
from coterie.verification.promises import promise_of


def settings_of(columns, types, hierarchies):
    names = columns.column_names
    return Config(
        sensitive=tuple(names),
        types={name: kind for name, kind in (types or {}).items() if name in names},
        hierarchies={name: each for name, each in (hierarchies or {}).items() if name in names},
    )


class ModelCheck(NamedTuple):
    """One model on one sensitive column, and whether every class satisfies it; the worst class is −1 without rows."""

    model: object
    column: str | None
    wanted: float
    found: float
    passed: bool
    failing: int
    rows: int
    worst: int
    size: int


def check_groups(groups, models, sensitive):
    """What the models find in counted groups."""
    return [check_group(groups, model, column) for model in models for column in model.columns(sensitive)]


def check_group(groups, model, column):
    if not len(groups.sizes):
        return ModelCheck(model, column, model.wanted, model.wanted, True, 0, 0, -1, 0)
    holds, found, rows = model.holds(groups, column), model.measure(groups, column), groups.sizes
    # A class that fails goes before one that does not, also where rounding shows the same value for both.
    candidates = np.arange(len(holds)) if holds.all() else np.flatnonzero(~holds)
    worst = candidates[(np.argmin if model.higher_is_better else np.argmax)(found[candidates])]
    failing = np.count_nonzero(~holds)
    return ModelCheck(
        model, column, model.wanted, found[worst], bool(holds.all()), failing, rows[~holds].sum(), worst, rows[worst]
    )


def check_models(classes, columns, models, *, types=None, hierarchies=None):
    """What the models find themselves; rows of class −1 are not counted."""
    classes, names = np.asarray(classes), columns.column_names
    groups = int(classes.max(initial=-1)) + 1
    if not names:
        return check_groups(Groups(np.bincount(classes[classes >= 0], minlength=groups)), models, ())
    table = encode(columns, settings_of(columns, types, hierarchies)).table
    check_domains(models, table.sensitive)
    return check_groups(count_columns(classes, table.sensitive_codes, table.sensitive, groups=groups), models, names)


def judge_models(classes, columns, models, *, types=None, hierarchies=None):
    """What the judge finds; rows of class −1 are not there."""
    classes = np.asarray(classes)
    kept = np.flatnonzero(classes >= 0)
    columns = columns.take(pa.array(kept))
    counter = ArrowCounter(columns, (), known=(classes[kept], int(classes.max(initial=-1)) + 1))
    names = columns.column_names
    promises = [
        promise_of(model, column)
        for model in models
        for column in ([None] if model.name == "k-anonymity" else names if model.on is None else [model.on])
    ]
    return check_promises(counter, promises, settings_of(columns, types, hierarchies), names=names)
