"""The forms of rules: what they mean, what they show again, what they suggest, and what a rule makes of values."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from coterie.errors import ConfigError
from coterie.hierarchies.check import ColumnValues
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.web.hierarchies import form as forms
from coterie.web.hierarchies.column_values import fit_problems, lost_text, value_texts
from coterie.web.hierarchies.edit_tree import flat_tree
from coterie.web.hierarchies.tree_view import counts_of


def column(values, name="c"):
    return ColumnValues(name, pa.array(values), np.arange(1, len(values) + 1), 0)


RULES = [
    Hierarchy.intervals(5, 10, 20),
    Hierarchy.intervals("0.5", "2.5", start="-1"),
    Hierarchy.dates("month", "year"),
    Hierarchy.dates(),
    Hierarchy.prefixes(5, 3),
    Hierarchy.prefixes(mask="#"),
    Hierarchy.flat(),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.spec))
def test_a_rule_is_the_rule_of_its_own_form(rule):
    assert forms.rule_of(forms.form_of_rule(rule)) == rule


def test_what_a_form_sends_is_read():
    form = forms.read_form({"kind": "dates", "widths": "x" * 9999, "levels": "year,decade"})
    assert forms.rule_of(form) == Hierarchy.dates("year", "decade")
    assert len(form.widths) == 500
    with pytest.raises(ConfigError, match="comes after"):
        forms.rule_of(forms.read_form({"kind": "dates", "levels": "decade,year"}))


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([str(age) for age in range(17, 91)], "integer", Hierarchy.intervals(5, 10, 20)),
        (["0", "1"], "integer", Hierarchy.intervals(2, 4, 8)),
        (["0.01", "0.4"], "decimal", Hierarchy.intervals("0.02", "0.04", "0.08")),
        (["7"], "integer", Hierarchy.intervals(5, 10, 20)),
        ([10_000, 900_000], "integer", Hierarchy.intervals(50_000, 100_000, 200_000)),
        (["2024-03-05"], "date", Hierarchy.dates("month", "quarter", "year", "decade")),
        (["02138"], "code", Hierarchy.prefixes()),
        (["a", "b"], "category", Hierarchy.flat()),
    ],
    ids=["ages", "two", "decimals", "one", "large", "dates", "codes", "texts"],
)
def test_suggestions_fit_the_values(values, kind, expected):
    found = column(values)
    rule = forms.rule_of(forms.suggested(found, kind))
    assert rule == expected
    assert fit_problems(rule, found) == []


def test_a_preview_spreads_over_the_values_and_pads_short_ways():
    days = [dt.date(2000, 1, 1) + dt.timedelta(days=40 * at) for at in range(100)]
    shown = forms.preview(Hierarchy.dates("month", "year"), column(days))
    assert len(shown.rows) == forms.SHOWN
    assert shown.more == 100 - forms.SHOWN
    assert shown.rows[0] == ["2000-01-01", "2000-01", "2000", "*"]
    assert shown.rows[-1][2] > "2008"
    codes = forms.preview(Hierarchy.prefixes(), column(["A", "A01"]))
    assert codes.rows == [["A", "", "A**", "*"], ["A01", "A0*", "A**", "*"]]


def test_a_preview_says_what_does_not_fit_with_the_values():
    shown = forms.preview(Hierarchy.intervals(5), column(["1", "many", "2"]))
    assert shown.rows == []
    assert "many" in shown.problems[0].text


def test_values_stand_in_ascending_order_and_lost_ones_by_their_rows():
    assert value_texts(column(["10", "9", "2.5"])) == ["2.5", "9", "10"]
    assert value_texts(column(["10", "9", "b", "a"])) == ["10", "9", "a", "b"]
    lost = counts_of(flat_tree(["a"]), column(["a", "b", "c"])).lost
    assert [tuple(value) for value in lost] == [("c", 3), ("b", 2)]
    assert lost_text(lost) == "2 values of the data (5 rows) are missing from the hierarchy"


def test_rules_are_tried_on_some_of_very_many_values():
    many = column([str(number) for number in range(3 * forms.MOST_TRIED)])
    shown = forms.preview(Hierarchy.intervals(1000, 10_000), many)
    assert shown.tried == forms.MOST_TRIED
    assert shown.more == 3 * forms.MOST_TRIED - forms.SHOWN
    assert shown.rows[0][0] == "0"
    assert forms.rule_of(forms.suggested(many, "integer")) == Hierarchy.intervals(5000, 10_000, 20_000)
    assert forms.sample_of(column(["a"])).values.to_pylist() == ["a"]
