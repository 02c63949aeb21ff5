"""Each kernel is compiled for one set of argument types: another dtype or layout would cost users seconds again.

What was compiled is read from the disk cache, which all processes of a test run share. It belongs to just these kernel
files, but remembers everything that was ever tried with them: after experiments with other types, empty the folder.
"""

import importlib
import pkgutil

import numba
import numpy as np
import pytest
from method_cases import METHODS, cut, group, mixed_table, option_sets
from numba.core.registry import CPUDispatcher

import coterie.kernels
from coterie.grouping.index import build_index
from coterie.kernels.signatures import SIGNATURES
from coterie.table.encode import encode


def kernels():
    """Every kernel by its full name."""
    found = {}
    for module in pkgutil.walk_packages(coterie.kernels.__path__, "coterie.kernels."):
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            if isinstance(value, CPUDispatcher) and value.py_func.__module__ == loaded.__name__:
                found[f"{loaded.__name__}.{name}"] = value
    return found


# Keys of two types are sorted, whole numbers and costs.
SEVERAL = {"coterie.kernels.sorting.sort_pairs": 2}


def compiled(kernel):
    """The argument types that a kernel was compiled for, by any process."""
    saved = kernel._cache._cache_file._load_index()
    return {signature for signature, *_ in saved} | set(kernel.signatures)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_every_kernel_is_compiled_once_at_most():
    import pyarrow as pa

    from coterie.settings.config import Config

    # All methods, on a table made by hand and on one that was read: their arrays must not differ in type.
    columns = pa.table({"x": pa.array([1, 2, None, 4] * 5), "y": pa.array(list("abcde") * 4).dictionary_encode()})
    for table in (mixed_table(40), encode(columns, Config(quasi=["x", "y"])).table):
        for name in METHODS:
            for options in option_sets(name):
                group(name, cut(name, table), 3, options, threads=2)
        index = build_index(table)
        point = table.codes[0]
        index.take(0)
        index.take(int(np.int32(1)))
        index.cheapest(point, point.copy())
        index.furthest(point)
        index.nearest(point, 3)
        index.neighbour_costs(2, threads=2)
    found = {name: compiled(kernel) for name, kernel in kernels().items()}
    twice = {name: types for name, types in found.items() if len(types) > SEVERAL.get(name, 1)}
    assert twice == {}
    spelled = {name: SIGNATURES[name.removeprefix("coterie.kernels.")].split() for name in found if listed(name)}
    assert {name: [coterie.kernels.spelled(kind) for kind in next(iter(found[name]))] for name in spelled} == spelled
    # Who holds an array that a part returns is not counted: it would be freed too early.
    returned = {name: kernel.overloads[types].signature.return_type for name, kernel, types in loaded(found)}
    assert {name: kind for name, kind in returned.items() if "array" in str(kind)} == {}


def listed(name):
    return name.removeprefix("coterie.kernels.") in SIGNATURES


def loaded(found):
    """Kernels that make no arrays, with the types that they were compiled for."""
    for name, kernel in kernels().items():
        if not kernel.targetoptions["_nrt"]:
            for types in found[name]:
                kernel.compile(types)
                yield name, kernel, types


def test_kernels_are_found():
    names = kernels()
    assert "coterie.kernels.search.rows_index.cheapest" in names
    assert "coterie.kernels.methods.kmembers.grow_groups" in names
