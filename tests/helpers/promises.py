"""Privacy models on classes of rows: decided by the models themselves, as repair does, and by the judge."""

import numpy as np
import pyarrow as pa

from coterie.privacy.checks import check_domains, check_groups
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
