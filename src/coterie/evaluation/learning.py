"""Learning utility: how well a model trained on a release predicts the original.

In each fold, three predictors are tested on the fold's original rows: one trained on the release's rows
outside the fold, one trained on the original's, and the majority class. scikit-learn does the learning
(`pip install 'coterie[ml]'`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from coterie.arrays import Bool, Float64, Int64
from coterie.errors import BackendError, ConfigError, DataError, Problem, refuse
from coterie.evaluation.examples import Examples, make_examples

if TYPE_CHECKING:
    from coterie.evaluation.before_after import BeforeAfter
    from coterie.methods._method import Progress

Model = Literal["linear", "forest"]
MODELS: tuple[str, ...] = get_args(Model)

MOST_CLASSES = 50


@dataclass(frozen=True)
class Score:
    """The performance of a predictor, as means over the folds."""

    accuracy: float
    """share of rows whose class is predicted correctly"""
    spread: float
    """standard deviation of the accuracy over the folds"""
    balanced: float
    """mean over the classes of the share of their rows that is predicted correctly"""
    auc: float | None
    """area under the ROC curve; for two classes only"""


@dataclass(frozen=True)
class LearningUtility:
    """What can be learned from a release, compared with the original and with the majority class."""

    target: str
    features: tuple[str, ...]
    model: str
    classes: int
    rows: int
    """the number of original rows used"""
    folds: int
    release: Score
    original: Score
    majority: Score

    @property
    def kept(self) -> float | None:
        """The share of the original's gain over the majority that the release preserves; None if there is no gain."""
        gain = self.original.accuracy - self.majority.accuracy
        return (self.release.accuracy - self.majority.accuracy) / gain if gain > 1e-9 else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "features": list(self.features), "kept": self.kept}


def learning_utility(
    tables: BeforeAfter,
    target: str,
    *,
    features: Sequence[str] | None = None,
    folds: int = 5,
    model: Model = "linear",
    most_rows: int = 50_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> LearningUtility:
    """Train on the release, test on the original, and compare.

    Args:
        tables: The original and its release.
        target: The column to predict: a category, or a number with few values. It may be a quasi-identifier.
        features: The predictors; by default all quasi-identifiers.
        folds: The number of cross-validation folds.
        model: `linear` (logistic regression) or `forest` (50 random trees).
        most_rows: A larger original is sampled down to this many rows.
        seed: Random seed.
        progress: Called now and then with (step, done, total).

    Raises:
        BackendError: scikit-learn is not installed.
        ConfigError: The target cannot be learned, or a column is not in both tables.
        DataError: There are too few rows.
    """
    learner = _learner(model, seed)
    chosen = tuple(name for name in (tables.config.quasi if features is None else features) if name != target)
    _check(tables, target, chosen, folds)
    before, after = make_examples(tables, features=chosen, target=target)
    classes = _classes_of_rows(before)
    fold_of_row = _deal(classes, folds=folds, most_rows=most_rows, seed=seed)
    rows = int(np.count_nonzero(fold_of_row >= 0))
    if rows < folds:
        raise DataError(
            f"Only {rows:,} rows have a value of {target!r}: too few for {folds} folds.",
            column=target,
            rows=rows,
            hint="Take fewer folds.",
        )
    fold_of_published = fold_of_row[tables.kept]
    found: dict[str, list[_Tried]] = {"release": [], "original": [], "majority": []}
    for fold in range(folds):
        if progress is not None:
            progress("learn", fold, folds)
        others = (fold_of_row >= 0) & (fold_of_row != fold)
        others_after = (fold_of_published >= 0) & (fold_of_published != fold)
        tried = _try(learner, before, after, (others, others_after, fold_of_row == fold))
        for name, score in tried.items():
            found[name].append(score)
    scores = {name: _mean(tried) for name, tried in found.items()}
    return LearningUtility(target, chosen, model, before.shares.shape[1], rows, folds, **scores)


class _Tried(NamedTuple):
    accuracy: float
    balanced: float
    auc: float | None


def _learner(model: str, seed: int) -> Callable[[], Any]:
    """Return the factory of a model, if scikit-learn is installed."""
    if model not in MODELS:
        raise ConfigError([Problem("model", f"there is no model {model!r}; there are {' and '.join(MODELS)}")])
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise BackendError(
            "Learning utility needs scikit-learn, which is not installed.", hint="Install it: pip install 'coterie[ml]'"
        ) from None
    if model == "forest":
        return lambda: RandomForestClassifier(n_estimators=50, min_samples_leaf=5, random_state=seed % 2**32)
    return lambda: LogisticRegression(max_iter=1000)


def _check(tables: BeforeAfter, target: str, features: Sequence[str], folds: int) -> None:
    problems = []
    if folds < 2:
        problems.append(Problem("folds", "must be at least 2"))
    if not features:
        problems.append(Problem("features", "no column is left to predict from"))
    domain = tables.column(target).domain
    classes = domain.size - (domain.missing >= 0)
    if classes < 2:
        problems.append(Problem("target", f"column {target!r} has only one value, so there is nothing to learn"))
    if classes > MOST_CLASSES:
        text = f"column {target!r} has {classes:,} values; choose one with at most {MOST_CLASSES}, or group its values"
        problems.append(Problem("target", text))
    refuse(problems)


def _classes_of_rows(before: Examples) -> Int64:
    """Return original row → class, −1 if missing."""
    known = before.shares.sum(axis=1) > 0.0
    return np.where(known, before.shares.argmax(axis=1), -1)[before.of_row]


def _deal(classes: Int64, *, folds: int, most_rows: int, seed: int) -> Int64:
    """Return row → fold, stratified by class; −1 for rows without a class or not sampled."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.flatnonzero(classes >= 0))[:most_rows]
    rows = rows[np.argsort(classes[rows], kind="stable")]
    fold_of_row = np.full(len(classes), -1, dtype=np.int64)
    fold_of_row[rows] = np.arange(len(rows)) % folds
    return fold_of_row


def _try(
    learner: Callable[[], Any], before: Examples, after: Examples, rows: tuple[Bool, Bool, Bool]
) -> dict[str, _Tried]:
    """Train the three predictors of a fold on rows before and after, and test them on its original rows."""
    train_before, train_after, test = rows
    weights = before.weights(test)
    held = np.flatnonzero(weights)
    matrix, truth, weights = before.matrix[held], before.shares[held].argmax(axis=1), weights[held]
    classes = before.shares.shape[1]
    _, labels, counts = before.labelled(train_before)
    majority = np.zeros((len(held), classes))
    majority[:, np.bincount(labels, weights=counts, minlength=classes).argmax()] = 1.0
    likely = {
        "release": _predict(learner, after.labelled(train_after), matrix, classes),
        "original": _predict(learner, before.labelled(train_before), matrix, classes),
        "majority": majority,
    }
    return {name: _score(found, truth, weights) for name, found in likely.items()}


def _predict(
    learner: Callable[[], Any],
    examples: tuple[Any, Int64, Float64],
    matrix: Any,  # noqa: ANN401 - sparse
    classes: int,
) -> Float64:
    """Return [row, class] predicted probabilities."""
    features, labels, weights = examples
    likely = np.zeros((matrix.shape[0], classes))
    known = np.unique(labels)
    if len(known) < 2:  # a release of one class, or of nothing
        likely[:, known[0] if len(known) else 0] = 1.0
        return likely
    model = learner()
    if "Forest" in type(model).__name__:  # trees are much slower on sparse features
        features, matrix = features.toarray().astype(np.float32), matrix.toarray().astype(np.float32)
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    # One thread: matrices are small, and the order of summation is then fixed.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # a model that has not converged after a thousand steps is good enough
        model.fit(features, labels, sample_weight=weights)
        likely[:, model.classes_] = model.predict_proba(matrix)
    return likely


def _score(likely: Float64, truth: Int64, weights: Float64) -> _Tried:
    right = weights * (likely.argmax(axis=1) == truth)
    size = np.bincount(truth, weights=weights, minlength=likely.shape[1])
    hit = np.bincount(truth, weights=right, minlength=likely.shape[1])
    held = size > 0.0
    auc = None
    if likely.shape[1] == 2 and held.all():
        from sklearn.metrics import roc_auc_score

        auc = float(roc_auc_score(truth, likely[:, 1], sample_weight=weights))
    return _Tried(float(right.sum() / weights.sum()), float((hit[held] / size[held]).mean()), auc)


def _mean(tried: Sequence[_Tried]) -> Score:
    accuracy = np.asarray([each.accuracy for each in tried])
    areas = [each.auc for each in tried if each.auc is not None]
    return Score(
        accuracy=float(accuracy.mean()),
        spread=float(accuracy.std()),
        balanced=float(np.mean([each.balanced for each in tried])),
        auc=float(np.mean(areas)) if areas else None,
    )
