"""Work in threads keeps the order of its items, takes few ahead, and raises errors where their results would be."""

import threading

import pyarrow as pa
import pytest

from coterie.arrays import in_threads


def test_results_come_in_the_order_of_their_items():
    second = threading.Event()

    def work(item):
        if item == 0 and pa.cpu_count() > 1:
            assert second.wait(10)
        if item == 1:
            second.set()
        return item * item

    assert list(in_threads(work, range(50))) == [item * item for item in range(50)]
    assert list(in_threads(work, [])) == []


def test_items_are_taken_only_when_they_are_needed():
    taken = []

    def items():
        for item in range(1_000):
            taken.append(item)
            yield item

    results = in_threads(str, items())
    assert next(results) == "0"
    assert len(taken) == pa.cpu_count() + 1
    results.close()
    assert len(taken) == pa.cpu_count() + 1


def test_an_error_is_raised_after_the_results_before_it():
    def work(item):
        if item >= 3:
            raise ValueError(f"item {item}")
        return item

    results = in_threads(work, range(10))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="item 3"):
        next(results)
