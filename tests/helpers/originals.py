"""Random tables with hierarchies and roles, for tests that follow them from start to finish."""

import datetime as dt

import pyarrow as pa
from hypothesis import strategies as st
from oracles import naive_rules

import coterie
from coterie.methods import all_methods

METHODS = all_methods()
IN_CLASSES = [name for name, method in METHODS.items() if method.recoding != "per-row"]

TREE = {"North": {"Oslo": ["o1", "o2"], "Bergen": ["b1"]}, "South": ["s1", "s2", "s3"], "x": []}
PATHS = {
    **dict.fromkeys(("o1", "o2"), ("Oslo", "North", "*")),
    "b1": ("Bergen", "North", "*"),
    **dict.fromkeys(("s1", "s2", "s3"), ("South", "*")),
    "x": ("*",),
}
ODD = ["*", "[1-2]", "{a}", "\\", "a, b", "}", "", " ", "plain", "02138"]


def above(name, value):
    """The labels above a value in its column's hierarchy; None for a column that has none."""
    rules = {
        "place": lambda: PATHS[value],
        "level": lambda: naive_rules.interval_labels(int(value), [5, 20]),
        "code": lambda: naive_rules.prefix_labels(value, [3, 2]),
        "day": lambda: naive_rules.date_labels(value),
    }
    if name not in rules:
        return None
    return ["*"] if value is None else rules[name]()


HIERARCHIES = {
    "place": TREE,
    "level": coterie.intervals(5, 20),
    "code": coterie.prefixes(3, 2),
    "day": coterie.dates("month", "quarter", "year", "decade"),
}
COLUMNS = {
    "age": (st.integers(-20, 99), pa.int64()),
    "size": (st.integers(-8, 40).map(lambda quarter: quarter / 4), pa.float64()),
    "born": (st.integers(0, 900).map(lambda day: dt.date(2018, 11, 1) + dt.timedelta(day)), pa.date32()),
    "odd": (st.sampled_from(ODD), pa.string()),
    "place": (st.sampled_from(sorted(PATHS)), pa.string()),
    "level": (st.integers(-30, 60), pa.int32()),
    "code": (st.integers(0, 400).map("{:04}".format), pa.large_string()),
    "day": (st.integers(0, 9000).map(lambda day: dt.date(1998, 11, 1) + dt.timedelta(day)), pa.date32()),
}


@st.composite
def originals(draw, *, missing=True):
    """A table with an identifier, quasi-identifiers, a sensitive column and another; and the roles of these."""
    rows = draw(st.integers(1, 25))
    quasi = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4, unique=True))
    gaps = missing and draw(st.booleans())

    def column(name):
        cells, kind = COLUMNS[name]
        pool = draw(st.lists(cells, min_size=1, max_size=8))  # few values make equal rows
        cell = st.sampled_from([*pool, None] if gaps else pool)
        return pa.array(draw(st.lists(cell, min_size=rows, max_size=rows)), type=kind)

    table = pa.table(
        {
            "name": [f"person {row}" for row in range(rows)],
            **{name: column(name) for name in quasi},
            "disease": draw(st.lists(st.sampled_from(["flu", "gout", "*", ""]), min_size=rows, max_size=rows)),
            "note": list(range(rows)),
        }
    )
    roles = {
        "quasi": quasi,
        "identifiers": ["name"],
        "sensitive": ["disease"],
        "keep": ["note"],
        "hierarchies": {name: HIERARCHIES[name] for name in quasi if name in HIERARCHIES},
    }
    return table, roles
