"""What is refused, in which words, all at once, and without a word of what cells hold."""

import numpy as np
import pyarrow as pa
import pytest

from coterie.errors import ConfigError, CoterieError, DataError, HierarchyError
from coterie.hierarchies.check import check_file, distinct_values
from coterie.hierarchies.faults import doubts
from coterie.hierarchies.hierarchy import Hierarchy

NESTED = {"High": ["Bachelors", "Masters"], "Low": ["11th"]}
SECRET = "Secret-7"


def problems(call):
    with pytest.raises((HierarchyError, ConfigError)) as caught:
        call()
    return [str(problem) for problem in caught.value.problems]


def faults_of(*rows):
    return problems(lambda: Hierarchy.from_rows([row.split(";") for row in rows]))


# --- trees


def test_two_parents():
    assert faults_of("a;X;*", "b;X;*", "a;Y;*") == [
        '"a" has two parents: "X" (row 1) and "Y" (row 3); labels must be unique'
    ]
    assert faults_of("a;X;*", "a;*") == ['"a" has two parents: "X" (row 1) and "*" (row 2); labels must be unique']
    assert faults_of("a;G;X;*", "b;G;Y;*", "c;G;*") == [
        '"G" has 3 parents: "X" (row 1), "Y" (row 2) and "*" (row 3); labels must be unique'
    ]
    # A value in one row, a group elsewhere in another.
    assert faults_of("G;X;*", "a;G;Y;*") == ['"G" has two parents: "X" (row 1) and "Y" (row 2); labels must be unique']


def test_lines_of_the_file_are_named(tmp_path):
    (tmp_path / "h.csv").write_text('value;group;top\n\na;"two\nlines";*\n\nb;Y;*\na;Y;*\n')
    assert problems(lambda: Hierarchy.from_csv(tmp_path / "h.csv")) == [
        '"a" has two parents: "two\nlines" (row 3) and "Y" (row 7); labels must be unique'
    ]


def test_two_parents_in_a_mapping():
    assert problems(lambda: Hierarchy.from_mapping({"X": ["a", "b"], "Y": ["a"], "Z": {"b": []}})) == [
        '"a" has two parents: "X" and "Y"; labels must be unique',
        '"b" has two parents: "X" and "Z"; labels must be unique',
    ]


def test_cycles():
    assert faults_of("a;X;Y;*", "b;Y;X;*") == ['a cycle: "X" under "Y" under "X"; a label cannot be its own ancestor']
    assert faults_of("a;b", "b;a") == ['a cycle: "a" under "b" under "a"; a label cannot be its own ancestor']
    assert faults_of("a;X;a;*") == ['a cycle: "a" under "X" under "a"; a label cannot be its own ancestor']
    assert faults_of("a;X;*;X") == ['a cycle: "X" under "*" under "X"; a label cannot be its own ancestor']
    long = faults_of(";".join(f"n{level}" for level in range(5000)), "n4999;n0")
    assert long == [
        'a cycle: "n0" under "n1" under "n2" under "n3" under "n4" under "n5" under … 4,994 more … under "n0"; '
        "a label cannot be its own ancestor"
    ]


def test_every_fault_at_once():
    found = faults_of("a;X;Y;*", "b;Y;X;*", "c;P;Q;*", "d;Q;P;*", "e;V", "e;W", "f;X", "f;P")
    assert [text.split(" under")[0].split(" has")[0] for text in found] == [
        'a cycle: "X"',
        'a cycle: "P"',
        '"e"',
        '"f"',
    ]


def test_a_root_that_is_none():
    rows = [["a", "X", "*"], ["b", "Y", "*"]]
    assert problems(lambda: Hierarchy.from_rows(rows, root="X")) == ['the root "X" has a parent itself: "*"']


@pytest.mark.parametrize("rows", [[], [[]], [["", " "], []]])
def test_no_values(rows):
    assert "has no values" in problems(lambda: Hierarchy.from_rows(rows))[0]


def test_rows_that_are_none():
    assert problems(lambda: Hierarchy.from_rows([["a", "*"], "ab", [["b"], "*"]])) == [
        "2 of the rows are not lists of labels; give each as a list: value, group, …, root"
    ]


def test_mappings_that_hold_no_labels():
    found = problems(
        lambda: Hierarchy.from_mapping({"X": ["a", None, ["b"]], "Y": {(1, 2): []}, "": ["c"], "Z": [object()]})
    )
    assert sorted(found) == [
        'under "*": a label is empty; give the group a name',
        'under "X": a list is directly inside a list; give the inner one a label',
        'under "X": null is not a label; use text, numbers or dates',
        'under "Y": a value of type tuple is not a label; use text, numbers or dates',
        'under "Z": a value of type object is not a label; use text, numbers or dates',
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (7, ["a value of type int is not a hierarchy; give a path, a rule or a nested mapping"]),
        ({"flat": False}, ['flat: must be true; or write the hierarchy as "flat"']),
        ({"csv": 3, "header": "yes", "root": 1},
         ["csv: must be the path of a file", "root: must be text", "header: must be true or false"]),
        ({"tree": "x", "root": ""}, ["tree: must be a nested mapping or a list of values", "root: must be a label"]),
        ({"intervals": [5], "mask": "*", "stop": 3},
         ["mask: cannot be combined with intervals; intervals can be combined with start. "
          "A tree with a label 'intervals' is written as {tree = …}",
          "stop: cannot be combined with intervals; intervals can be combined with start. "
          "A tree with a label 'intervals' is written as {tree = …}"]),
        ({"dates": ["Medjool"]}, ["dates: 'Medjool' is not a level; choose from day, month, quarter, year, decade"]),
    ],
)  # fmt: skip
def test_specifications_that_say_nothing(spec, expected):
    assert problems(lambda: Hierarchy.from_spec(spec)) == expected


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("none.csv", None, "cannot be read: no such file or directory"),
        ("latin.csv", "é;*".encode("latin-1"), "is not text in utf-8. Save it as UTF-8, or name its encoding."),
        ("quote.csv", b'a;*\n"b;*\n', "is broken at line 2"),
        ("bad.toml", b"x = ", "is not valid TOML"),
        ("bad.json", b"{", "is not valid JSON"),
        ("twice.json", b'{"X": ["a"], "Y": [], "X": ["b"]}', '"X" is listed twice in one place; join the two'),
        ("deep.json", b"[" * 100_000, "is nested too deeply; write it as CSV"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, text):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_file(tmp_path / name)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_settings_of_files(tmp_path):
    (tmp_path / "h.csv").write_text("a;*\n")
    assert "single character" in problems(lambda: Hierarchy.from_csv(tmp_path / "h.csv", delimiter=";;"))[0]
    assert "no encoding 'utf-77'" in problems(lambda: Hierarchy.from_csv(tmp_path / "h.csv", encoding="utf-77"))[0]


# --- data against a tree


def bind(hierarchy, values, *, counts, **options):
    return hierarchy.bind(pa.array(values), counts=np.asarray(counts), column="education", **options)


def test_values_without_a_place_are_counted():
    hierarchy = Hierarchy.from_mapping(NESTED)
    with pytest.raises(HierarchyError) as caught:
        bind(hierarchy, ["PhD", "Bachelors", "HS"], counts=[5, 100, 12])
    error = caught.value
    assert str(error) == (
        "education: 2 values (17 rows) are missing from the hierarchy; add the missing rows to the hierarchy"
    )
    assert (error.column, error.rows) == ("education", 17)
    assert isinstance(error, DataError)


def test_values_are_shown_on_request_only():
    hierarchy = Hierarchy.from_mapping(NESTED)
    values = [SECRET, "High"]
    silent = problems(lambda: bind(hierarchy, values, counts=[1, 2000]))
    assert silent == [
        "education: 1 value (1 row) is missing from the hierarchy; add the missing rows to the hierarchy",
        "education: 1 value (2,000 rows) is the label of a group, not a value: the data are already generalized in "
        "part; give the original values, or a row in the hierarchy that starts with the label",
    ]
    loud = problems(lambda: bind(hierarchy, values, counts=[1, 2000], show_values=True))
    assert f'from the hierarchy: "{SECRET}"; add' in loud[0]
    assert 'in part: "High"; give' in loud[1]
    many = problems(lambda: bind(hierarchy, [f"v{n}" for n in range(137)], counts=[1] * 137, show_values=True))
    assert '"v99" and 37 more' in many[0]


def test_spaces_around_values_are_hinted_at():
    found = problems(lambda: bind(Hierarchy.from_mapping(NESTED), [" Masters", "x"], counts=[3, 1]))
    assert "or remove the spaces around 1 value of the data, which would then fit" in found[0]


@pytest.mark.parametrize(
    ("hierarchy", "values"),
    [
        (Hierarchy.from_mapping(NESTED), [SECRET]),
        (Hierarchy.from_mapping({SECRET: ["a"]}), [SECRET]),
        (Hierarchy.intervals(5), [SECRET]),
        (Hierarchy.prefixes(), [SECRET + "*"]),
        (Hierarchy.prefixes(), [SECRET * 20]),
        (Hierarchy.dates(), [SECRET]),
        (Hierarchy.flat(), [{"a": SECRET}]),
    ],
)
def test_no_message_quotes_a_cell(hierarchy, values):
    with pytest.raises(CoterieError) as caught:
        bind(hierarchy, values, counts=[1])
    assert SECRET not in str(caught.value)
    assert "education" in str(caught.value)
    assert caught.value.__cause__ is None


# --- doubts, and the check of a file


def test_ranges_that_do_not_hold_their_values():
    rows = [["5", "0-4"], ["6", "5-9"], ["20", "[15, 20)"], ["21", "20 to 24"], ["-3", "[-5, -1]"], ["70", ">= 65"]]
    rows += [["64", "≥65"], ["3", "< 3"], ["2.5", "2..3"], ["x", "1-2"], ["9", "(8, 10]"], ["8", "]8, 10]"]]
    hierarchy = Hierarchy.from_rows([[*row, "*"] for row in rows])
    assert [str(doubt) for doubt in doubts(hierarchy.tree)] == [
        '5 values lie outside the range that a label above states, such as "5" under "0-4"'
    ]


def test_values_that_are_also_groups():
    tree = Hierarchy.from_rows([["Misc", "Other", "*"], ["Other", "Other", "*"]]).tree
    assert [str(doubt) for doubt in doubts(tree)] == [
        '"Other" is a value and also the name of a group: readers cannot tell which is meant'
    ]


def test_a_broken_file_and_lost_values_are_told_together(tmp_path):
    path = tmp_path / "h.csv"
    path.write_text("a;X;*\na;Y;*\nb;Y;*\n")
    column = distinct_values(pa.table({"c": ["a", "b", "lost", "lost", "X", None]}), "c")
    assert column.missing == 1
    found = check_file(path, column)
    assert found.hierarchy is None
    assert [str(problem).split(";")[0].split(" (row")[0] for problem in found.problems] == [
        '"a" has two parents: "X"',
        "c: 1 value (2 rows) is missing from the hierarchy",
        "c: 1 value (1 row) is the label of a group, not a value: the data are already generalized in part",
    ]


def test_nan_is_missing():
    column = distinct_values(pa.table({"c": [1.0, float("nan"), None, 1.0]}), "c")
    assert (column.values.to_pylist(), column.counts.tolist(), column.missing) == ([1.0], [2], 2)
