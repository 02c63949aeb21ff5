"""The judge on whole published tables, drawn at random, against the twins: classes, k, people and every model at once.

As many tables as Hypothesis has examples, times a hundred: 100,000 under HYPOTHESIS_PROFILE=thorough. A table is a few
rows of cells as releases have them: missing ones, suppressed ones, intervals, labels, numbers; limits are drawn so that
they are often met exactly.
"""

import random
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import settings
from oracles import naive_privacy, naive_verify

import coterie

PARENTS = {"*": None, "lung": "*", "skin": "*", "flu": "lung", "cough": "lung", "pox": "skin", "rash": "skin"}
TREE = {"lung": ["flu", "cough"], "skin": ["pox", "rash"]}
CELLS = {
    "age": [None, "*", "[20-29]", "[20-30]", "21"],
    "place": ["*", "North", "a", None],
    "size": [None, 0.0, -0.0, float("nan"), 1.5],
}
BATCHES = 10


def draw_table(draw):
    """Cells of quasi-identifiers, sensitive values and people, by column."""
    rows = draw.randint(1, 14)
    few = {name: draw.sample(cells, draw.randint(1, 2)) for name, cells in CELLS.items()}
    table = {name: [draw.choice(cells) for _ in range(rows)] for name, cells in few.items()}
    ills = draw.sample(["flu", "cough", "pox", "rash"], draw.randint(1, 4))
    table["ill"] = [draw.choice(ills) for _ in range(rows)]
    table["pay"] = [draw.choice([1, 2, 3, 10]) for _ in range(rows)]
    table["who"] = [draw.choice("uvwxyz") for _ in range(rows)]
    return table


def draw_limit(draw):
    """A threshold from 0 to 1 that small groups often meet exactly, as a text without rounding."""
    return draw.choice(["0.1", "0.125", "0.2", "0.25", "0.3", "0.375", "0.5", "0.6", "0.75", "0.8"])


def draw_models(draw):
    """One model of each kind: its text and the oracle's description of it, by column."""
    l, whole = draw.choice(["1.5", "2", "2.5", "3"]), draw.choice([1, 2, 3])  # noqa: E741 - its name in every paper
    c, beta, delta = draw.choice([1, 2, 3]), draw.choice([1, 2, 3]), draw.choice(["0.5", "0.7", "1.2"])
    t, alpha, least = draw_limit(draw), draw_limit(draw), draw.choice([2, 3])
    diverse = {"model": "l-diversity"}
    close = {"model": "t-closeness", "t": t}
    return [
        (f"k-anonymity:{least}", "ill", {"model": "k-anonymity", "k": least}),
        (f"l-diversity:{whole}:ill", "ill", diverse | {"l": whole}),
        (f"l-diversity:{l}:ill:frequency", "ill", diverse | {"l": Fraction(l), "kind": "frequency"}),
        (f"l-diversity:{l}:ill:entropy", "ill", diverse | {"l": Fraction(l), "kind": "entropy"}),
        (f"l-diversity:{whole}:ill:recursive:{c}", "ill", diverse | {"l": whole, "kind": "recursive", "c": c}),
        (f"t-closeness:{t}:ill", "ill", close),
        (f"t-closeness:{t}:pay:ordered", "pay", close | {"distance": "ordered"}),
        (f"t-closeness:{t}:ill:hierarchical", "ill", close | {"distance": "hierarchical"}),
        (f"alpha-k:{alpha}:ill:{least}", "ill", {"model": "alpha-k", "alpha": alpha, "k": least}),
        (f"beta-likeness:{beta}:ill", "ill", {"model": "beta-likeness", "beta": beta}),
        (f"beta-likeness:{beta}:pay:enhanced", "pay", {"model": "beta-likeness", "beta": beta, "kind": "enhanced"}),
        (f"delta-disclosure:{delta}:pay", "pay", {"model": "delta-disclosure", "delta": delta}),
    ]


def expected_of(table, k, models):
    """What the twins find: figures of the classes, and which promises are kept."""
    plain = naive_verify.verify([table[name] for name in CELLS], k)
    labels = plain["class_of_row"]
    kept = [plain["passed"]]
    for _, column, model in models:
        order = sorted(set(table["pay"]))
        kept.append(not naive_privacy.breaks(model, labels, table[column], order=order, parents=PARENTS))
    people = {label: set() for label in labels}
    for label, person in zip(labels, table["who"], strict=True):
        people[label].add(person)
    kept.append(min(map(len, people.values())) >= k)
    return plain, kept


@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_judge_agrees_with_the_twins(batch):
    tables = settings().max_examples * 100 // BATCHES if settings().max_examples > 50 else 20
    for number in range(tables):
        seed = f"{batch}/{number}"
        draw = random.Random(seed)
        table, models, k = draw_table(draw), draw_models(draw), draw.choice([1, 2, 3])
        plain, kept = expected_of(table, k, models)
        found = coterie.verify(
            pa.table(table),
            quasi=list(CELLS),
            sensitive=["ill", "pay"],
            entity="who",
            hierarchies={"ill": TREE},
            privacy=[text for text, *_ in models],
            k=k,
        )
        assert [check.passed for check in found.checks] == kept, seed
        for name in ("rows", "groups", "k", "largest", "rows_below", "classes_below", "missing_cells"):
            assert getattr(found, name) == plain[name], (seed, name)
        assert found.class_of_row.tolist() == plain["class_of_row"], seed
