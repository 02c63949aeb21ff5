"""Tight ends against a plain count."""

import pyarrow as pa

import coterie
from coterie.disclosure.ends import tight_ends


def test_two_cells_of_each_class_are_known_up_to_the_row():
    table = pa.table({"age": ["[1-5]"] * 4 + ["[6-9]"] * 3 + ["7"] * 2, "sex": ["f"] * 9})
    (found,) = tight_ends(table, quasi=["age", "sex"])
    assert found.column == "age"
    assert found.known == (2 + 2 + 2) / 9
    assert found.exact == 2 / 9
    assert tight_ends(table, quasi=["age", "sex"], but=["age"]) == ()


def test_suppressed_cells_are_not_tight():
    table = pa.table({"age": ["*"] * 5 + ["[6-9]"] * 3})
    assert tight_ends(table, quasi=["age"])[0].known <= 2 / 8


def test_attack_tells_of_order_and_ends():
    known = pa.table({"age": [3, 8]})
    ages = [f"[{at}-{at + 4}]" for at in range(1, 40, 2) for _ in range(3)]
    found = coterie.attack(pa.table({"age": ages}), known, quasi=["age"], k=3)
    assert found.order[0].column == "age"
    assert found.ends[0].known == 2 / 3
    assert found.to_dict()["order"][0]["column"] == "age"
