"""How far groups are from a guarantee, by hand: repair goes where this says, and a wrong figure leads it astray."""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

from coterie.errors import ConfigError, InfeasibleError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.privacy import KMap, Model
from coterie.privacy.checks import refuse_infeasible
from coterie.privacy.distance import distance
from coterie.privacy.exact import log_sign
from coterie.privacy.histogram import Groups, Histogram, count_columns, count_values
from coterie.settings.config import Config
from coterie.settings.models import parse_model
from coterie.table.encode import encode

# a a a b | b b c c: shares of the table 3/8, 3/8, 2/8
LABELS, VALUES = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1, 2, 2])
H = log(4) - 0.75 * log(3)  # entropy of 3/4, 1/4
E = exp(0.5)


def groups_of(labels=LABELS, values=VALUES):
    histogram = count_values(labels, values, groups=int(labels.max()) + 1, values=int(values.max()) + 1)
    return Groups(histogram.sizes, {"s": histogram})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("k-anonymity:5", [1 / 5, 1 / 5]),
        ("k-anonymity:4", [0, 0]),
        ("l-diversity:3", [1 / 3, 1 / 3]),
        ("l-diversity:2", [0, 0]),
        ("l-diversity:2::frequency", [3 / 4 - 1 / 2, 0]),
        ("l-diversity:3::entropy", [(log(3) - H) / log(3), (log(3) - log(2)) / log(3)]),
        ("l-diversity:1::entropy", [0, 0]),
        ("l-diversity:2::recursive:2", [(3 - 2 * 1) / 4, 0]),
        ("alpha-k:0.5::5", [1 / 4 + 1 / 5, 1 / 5]),
        ("t-closeness:0.25::equal", [3 / 8 - 1 / 4, 3 / 8 - 1 / 4]),
        ("beta-likeness:0.5", [3 / 4 - 1.5 * 3 / 8, 1 / 2 - 1.5 * 2 / 8]),
        ("beta-likeness:4::enhanced", [3 / 4 - (1 - log(3 / 8)) * 3 / 8, 0]),
        # Too many of a and none of c; too many of c and none of a.
        ("delta-disclosure:0.5", [3 / 4 - 3 / 8 * E + 2 / 8 / E, 1 / 2 - 2 / 8 * E + 3 / 8 / E]),
    ],
)
def test_shortfalls_are_what_their_models_say(spec, expected):
    model, groups = parse_model(spec), groups_of()
    assert model.shortfall(groups, "s") == pytest.approx(expected)
    assert ((np.array(expected) == 0) == model.holds(groups, "s")).all()


def test_too_few_of_a_value_count_as_too_many_do():
    """The lower side of δ-disclosure: nothing is above its limit here but a, and b falls short."""
    labels, values = np.repeat([0, 1], 10), np.array([0] * 9 + [1] + [0] * 5 + [1] * 5)
    groups = groups_of(labels, values)
    model = parse_model("delta-disclosure:1")
    assert list(model.holds(groups, "s")) == [False, True]
    assert model.measure(groups, "s") == pytest.approx([log(0.3 / 0.1), log(0.5 / 0.3)])
    assert model.shortfall(groups, "s") == pytest.approx([0.3 / exp(1) - 0.1, 0])


@dataclass(frozen=True)
class Own(Model):
    """A model as users write one, with what `Model` itself gives it."""

    least: float
    parts: ClassVar[tuple[str, ...]] = ("least",)

    def figure(self, counts, totals):
        return counts[0] / 4

    def keeps(self, counts, totals):
        return self.figure(counts, totals) >= self.least


def test_a_model_of_ones_own_falls_short_by_its_share_of_the_limit_and_by_one_at_most():
    groups = groups_of()
    assert Own(0.9).shortfall(groups, "s") == pytest.approx([0.15, 0.9])  # no share of limits below 1
    assert Own(3).shortfall(groups, "s") == pytest.approx([2.25 / 3, 1])
    assert Own(0.75).shortfall(groups, "s") == pytest.approx([0, 0.75])
    assert Own(-4).shortfall(groups_of(), "s") == pytest.approx([0, 0])


def test_k_map_falls_short_by_the_missing_share_of_k():
    model = KMap(5, "people.csv")
    groups = Groups(np.array([2, 2, 2]), {}, {model.key: np.array([4, 5, 6])})
    assert list(model.holds(groups)) == [False, True, True]
    assert model.shortfall(groups) == pytest.approx([1 / 5, 0, 0])


@pytest.mark.parametrize("kind", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("scale", [2**20, 2**29, 2**31])
def test_distances_do_not_depend_on_how_often_the_table_is_repeated(kind, scale):
    """With so many rows products leave 64 bits: they must be noticed, or a distance is anything."""
    values = np.random.default_rng(5).choice(list("abcdefghijkl"), 120)
    tree = Hierarchy.from_mapping({"low": list("abcdef"), "high": {"x": list("ghi"), "y": list("jkl")}})
    table = encode(pa.table({"s": values}), Config(sensitive=["s"], hierarchies={"s": tree})).table
    one = count_columns(np.repeat([0, 1, 2], 40), table.sensitive_codes, table.sensitive, groups=3).column("s")
    many = Histogram(one.group, one.value, one.count * scale, one.sizes * scale, one.totals * scale, one.tree)
    few, much = distance(one, kind), distance(many, kind)
    for at in range(3):
        expected = Fraction(int(few.numerator[at]), int(few.denominator[at]))
        assert Fraction(int(much.numerator[at]), int(much.denominator[at])) == expected


def test_a_ratio_of_one_has_the_logarithm_zero():
    assert [log_sign(Fraction(1), Fraction(limit)) for limit in ("-1/2", "0", "1/2", "1", "2")] == [1, 0, -1, -1, -1]


def test_messages_name_the_limits_that_there_are():
    with pytest.raises(ConfigError, match=r"must be a number of more than 0$"):
        parse_model("delta-disclosure:0")
    with pytest.raises(ConfigError, match=r"must be a number of more than 0 and at most 1$"):
        parse_model("alpha-k:2")


def test_who_cannot_have_a_guarantee_is_told_what_helps():
    whole = groups_of(np.zeros(8, dtype=int))
    with pytest.raises(InfeasibleError, match="4-diversity of 's' is infeasible") as caught:
        refuse_infeasible(whole, [parse_model("l-diversity:4")], ["s"])
    assert caught.value.hint == "Ask for less, or leave the column out of the release."
    with pytest.raises(InfeasibleError) as caught:
        refuse_infeasible(whole, [parse_model("k-anonymity:9")], ["s"])
    assert caught.value.hint == "Ask for less."
