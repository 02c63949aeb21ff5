"""The Hierarchies step: what its forms write is what the command line reads."""

import re
import tomllib

import pytest
from starlette.testclient import TestClient
from web_cases import send

from coterie import datasets
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.settings.config import Config
from coterie.web.configuration.configuration import frozen
from coterie.web.hierarchies import tree_view as hierarchy_view
from coterie.web.hierarchies.edit_tree import flat_tree
from coterie.web.hierarchies.store import MOST_UNDO, open_hierarchy
from coterie.web.project import Project

HTMX = {"HX-Request": "true"}
EVIL = '<script>alert(1)</script>"&;'


def configuration(project: Project) -> dict:
    return tomllib.loads(project.config_path.read_text())


def tree_of(project: Project, column: str = "education") -> Hierarchy:
    found = open_hierarchy(project, column).hierarchy
    assert found is not None
    return found


def nodes(page: str) -> dict[str, str]:
    """Label → number of the node, as the page shows them."""
    return {label: node for node, label in re.findall(r'data-node="(\d+)" data-label="([^"]*)"', page)}


def change(client: TestClient, at: str, **fields: str) -> str:
    answer = client.post(f"{at}/edit", data=fields, headers=HTMX)
    assert answer.status_code == 200
    return answer.text


def test_the_list_names_each_quasi_identifier_and_its_state(client, adult, education, names):
    page = client.get(f"{adult.url}/hierarchies").text
    for name in configuration(adult)["quasi"]:
        assert f">{name}</a>" in page
    assert "Tree of 16 values, 4 levels, hierarchies/education.csv" in page
    assert "covers every value" in page
    assert "published as ranges" in page


def test_the_step_is_done_once_it_was_looked_over(client, adult):
    answer = client.post(f"{adult.url}/hierarchies")
    assert answer.headers["location"] == f"{adult.url}/goals"
    assert '<li class="done">\n<a href="' + f'{adult.url}/hierarchies"' in client.get(f"{adult.url}/hierarchies").text


def test_an_imported_file_is_kept_beside_the_configuration(adult, education):
    assert configuration(adult)["hierarchies"]["education"] == "hierarchies/education.csv"
    assert tree_of(adult) == datasets.adult_hierarchies()["education"]
    assert Config.from_toml(adult.config_path).hierarchies["education"] == tree_of(adult)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Choose a file first"),
        (b"a;x;*\na;y;*\nb;y;*\n", "has two parents"),
        (b"\xff\xfe\x00\xd8\x00", "is not text"),
        (b"x" * ((8 << 20) + 1), "larger than"),
    ],
    ids=["nothing", "two-parents", "no-text", "large"],
)
def test_files_that_are_no_hierarchy_are_refused_with_the_reason(client, adult, names, content, said):
    at = f"{adult.url}/hierarchies/{names.index('education')}"
    answer = send(client, f"{at}/import", files={"file": ("mine.csv", content)})
    assert answer.status_code == 422
    assert said in answer.text
    assert str(adult.folder) not in answer.text
    assert "education" not in configuration(adult).get("hierarchies", {})


def test_comma_and_header_can_be_said(client, adult, names):
    at = f"{adult.url}/hierarchies/{names.index('sex')}"
    content = b"sex,all\nMale,*\nFemale,*\n"
    answer = client.post(
        f"{at}/import", files={"file": ("s.csv", content)}, data={"delimiter": "comma", "header": "yes"}
    )
    assert answer.status_code == 303
    assert list(tree_of(adult, "sex").tree.leaf_of) == ["Male", "Female"]


@pytest.mark.parametrize(
    ("fields", "spec"),
    [
        ({"kind": "intervals", "widths": "5, 10 20", "start": "1"}, {"intervals": [5, 10, 20], "start": 1}),
        ({"kind": "intervals", "widths": "2.5", "start": ""}, {"intervals": [2.5]}),
        ({"kind": "flat"}, "flat"),
    ],
    ids=["intervals", "decimals", "flat"],
)
def test_rules_go_into_the_configuration_and_are_shown_as_forms_again(client, adult, names, fields, spec):
    at = f"{adult.url}/hierarchies/{names.index('age')}"
    assert client.post(f"{at}/rule", data={**fields, "do": "save"}).status_code == 303
    assert configuration(adult)["hierarchies"]["age"] == spec
    page = client.get(at).text
    assert f'value="{fields["kind"]}" checked' in page
    if fields["kind"] == "intervals":
        assert f'id="widths" name="widths" value="{", ".join(map(str, spec["intervals"]))}"' in page


def test_a_rule_is_tried_without_being_saved(client, adult, names):
    at = f"{adult.url}/hierarchies/{names.index('age')}"
    page = send(client, f"{at}/rule", data={"kind": "intervals", "widths": "5, 20", "start": "0", "do": "try"}).text
    assert "[15-19]" in page
    assert "[0-19]" in page
    assert "age" not in configuration(adult).get("hierarchies", {})


@pytest.mark.parametrize(
    ("column", "fields", "field", "said"),
    [
        ("age", {"kind": "intervals", "widths": "5, 12"}, "widths", "not a multiple"),
        ("age", {"kind": "intervals", "widths": "5", "start": "x"}, "start", "not a number"),
        ("age", {"kind": "intervals", "widths": ""}, "widths", "at least one"),
        ("age", {"kind": "dates"}, "levels", "at least one level"),
        ("sex", {"kind": "prefixes", "lengths": "2, 5"}, "lengths", "from long to short"),
        ("sex", {"kind": "prefixes", "lengths": "1", "mask": "##"}, "mask", "one character"),
        ("age", {"kind": "other"}, "kind", "choose a kind"),
        ("education", {"kind": "intervals", "widths": "5"}, "kind", "are not numbers"),
    ],
    ids=["nest", "start", "empty", "levels", "order", "mask", "kind", "fit"],
)
def test_faults_of_a_form_stand_beside_their_field_and_what_was_typed_stays(
    client, adult, names, column, fields, field, said
):
    at = f"{adult.url}/hierarchies/{names.index(column)}"
    answer = send(client, f"{at}/rule", data={**fields, "do": "save"})
    assert answer.status_code == 422
    assert f'<a href="#{field}">' in answer.text
    assert said in answer.text
    if "widths" in fields:
        assert f'name="widths" value="{fields["widths"]}"' in answer.text
    assert column not in configuration(adult).get("hierarchies", {})


def test_a_rule_becomes_a_tree_and_values_a_flat_one(client, adult, names):
    at = f"{adult.url}/hierarchies/{names.index('age')}"
    client.post(f"{at}/rule", data={"kind": "intervals", "widths": "20", "start": "0", "do": "save"})
    assert client.post(f"{at}/to-tree").status_code == 303
    assert configuration(adult)["hierarchies"]["age"] == "hierarchies/age.csv"
    assert "[20-39]" in tree_of(adult, "age").tree.inner_labels
    assert client.post(f"{at}/values").status_code == 303
    flat = tree_of(adult, "age").tree
    assert flat.inner_labels == {"*"}
    assert list(flat.leaf_of) == sorted(flat.leaf_of, key=int)
    assert client.post(f"{at}/remove").status_code == 303
    assert "age" not in configuration(adult).get("hierarchies", {})


def test_changes_are_saved_at_once_and_can_be_undone_one_by_one(client, adult, education):
    before = tree_of(adult)
    known = nodes(client.get(education).text)
    page = change(
        client, education, what="gather", nodes=f"{known['Masters']},{known['Bachelors']}", label="Degree", open="0"
    )
    assert "New group" in page
    after = tree_of(adult).tree
    assert after.path(after.leaf_of["Masters"])[1] == "Degree"
    page = change(client, education, what="rename", nodes=nodes(page)["Degree"], label="Academic")
    assert "Academic" in tree_of(adult).tree.inner_labels
    assert "Undo (2)" in page
    page = change(client, education, what="undo")
    assert "Degree" in tree_of(adult).tree.inner_labels
    page = change(client, education, what="undo")
    assert tree_of(adult) == before
    assert "There is nothing to undo" in change(client, education, what="undo")


def test_no_more_steps_are_kept_than_needed(client, adult, education):
    node = nodes(client.get(education).text)["Masters"]
    for step in range(MOST_UNDO + 3):
        change(client, education, what="rename", nodes=node, label=f"Masters {step}")
    assert f"Undo ({MOST_UNDO})" in client.get(education).text


def test_what_cannot_be_done_is_said_and_nothing_changes(client, adult, education):
    before = tree_of(adult)
    known = nodes(client.get(education).text)
    page = change(client, education, what="rename", nodes=known["Masters"], label="Bachelors")
    assert "This change is not possible" in page
    assert "already" in page
    assert "no longer exists" in change(client, education, what="delete", nodes="9999")
    assert "unknown operation" in change(client, education, what="sing", nodes=known["Masters"])
    assert "select" in change(client, education, what="move", nodes="", to="0")
    assert tree_of(adult) == before
    plain = send(client, f"{education}/edit", data={"what": "delete", "nodes": "0"})
    assert plain.status_code == 422
    assert "root" in plain.text


def test_values_without_a_place_are_shown_and_can_be_placed(client, adult, education):
    known = nodes(client.get(education).text)
    page = change(client, education, what="delete", nodes=f"{known['Masters']},{known['12th']}")
    assert "2 values of the data" in page
    assert 'name="values" value="Masters"' in page
    assert "does not fit" in client.get(f"{adult.url}/hierarchies").text
    page = change(client, education, what="place", values="Masters", to=nodes(page)["Advanced degree"])
    assert "1 value of the data" in page
    page = change(client, education, what="place-all", to="0")
    assert "are missing from the hierarchy" not in page
    assert set(tree_of(adult).tree.leaf_of) >= {"Masters", "12th"}


def test_an_empty_group_stays_in_the_editor_and_out_of_the_file(client, adult, education):
    change(client, education, what="add-group", nodes="0", label="For later")
    assert "For later" in nodes(client.get(education).text)
    assert "For later" not in tree_of(adult).tree.labels


def test_a_file_that_was_changed_elsewhere_wins_over_the_draft(client, adult, education):
    change(client, education, what="add-group", nodes="0", label="For later")
    (adult.hierarchy_folder / "education.csv").write_text("Masters;High;*\n11th;Low;*\n")
    page = client.get(education).text
    assert "For later" not in page
    assert "High" in nodes(page)
    assert "are missing from the hierarchy" in page
    assert "There is nothing to undo" in change(client, education, what="undo")
    assert "Undo (1)" in change(client, education, what="add-group", nodes="0", label="For later")


def test_labels_are_never_taken_for_html(client, adult, education):
    known = nodes(client.get(education).text)
    page = change(client, education, what="rename", nodes=known["Masters"], label=EVIL)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert EVIL in tree_of(adult).tree.leaf_of
    for address in (education, f"{education}?view=table", f"{adult.url}/hierarchies"):
        assert "<script>alert" not in client.get(address).text
    assert "<script>alert" not in change(client, education, what="find", label="<script>")
    assert client.get(f"{education}/download").headers["content-disposition"].startswith("attachment")


def test_finding_chooses_and_opens_what_was_found(client, adult, education):
    page = change(client, education, what="find", label="GRADE", open="0")
    assert "found and selected" in page
    assert re.search(r'data-label="Grade 9 or 10"[^>]*aria-selected="true"', page)


def test_the_table_changes_rows_adds_levels_and_names_faulty_rows(client, adult, education):
    view = hierarchy_view.TablePage.of(flat_tree([]))
    assert view.rows == []
    page = client.get(f"{education}?view=table").text
    cells = dict(re.findall(r'name="(c-\d+-\d+)" value="([^"]*)"', page))
    assert len(cells) == 16 * 4
    fields = {**{name: value.replace("&#39;", "'") for name, value in cells.items()}}
    fields |= {"from": "0", "levels": "3", "count": "16"}
    wider = send(client, f"{education}/table", data={**fields, "do": "level"})
    assert wider.status_code == 200
    assert 'name="c-0-4"' in wider.text
    fields["c-0-1"] = "Nothing yet"
    assert client.post(f"{education}/table", data=fields).status_code == 303
    tree = tree_of(adult).tree
    assert tree.path(tree.leaf_of["Preschool"])[1:3] == ["Nothing yet", "Elementary school"]
    broken = send(client, f"{education}/table", data={**fields, "c-3-2": "Elsewhere"})
    assert broken.status_code == 422
    assert "has two parents" in broken.text
    assert "(row 4)" in broken.text
    assert 'name="c-3-2" value="Elsewhere"' in broken.text
    assert client.post(f"{education}/undo").status_code == 303
    assert "Nothing yet" not in tree_of(adult).tree.inner_labels


@pytest.mark.parametrize("column", [-1, 99, 10**9])
def test_columns_that_are_not_there(client, adult, column):
    assert client.get(f"{adult.url}/hierarchies/{column}").status_code == 404


def test_files_outside_are_not_read(client, adult, names):
    text = adult.config_path.read_text()
    evil = '[hierarchies]\neducation = "../../../../../../etc/passwd"\nage = { csv = "/etc/passwd" }'
    adult.config_path.write_text(text.replace("[hierarchies]", evil))
    for column in ("education", "age"):
        page = client.get(f"{adult.url}/hierarchies/{names.index(column)}").text
        assert "outside the allowed folders" in page
        assert "root:" not in page


def test_a_configuration_that_is_no_toml_is_said_to_be(client, adult, names):
    adult.config_path.write_text("k = = 3")
    assert "is not valid TOML" in client.get(f"{adult.url}/hierarchies").text
    assert "is not valid TOML" in client.get(f"{adult.url}/hierarchies/{names.index('age')}").text


def test_large_trees_are_shown_in_part_and_branch_by_branch(client, adult, names, tmp_path):
    rows = "".join(f"v{value};g{value % 40};*\n" for value in range(4000))
    at = f"{adult.url}/hierarchies/{names.index('education')}"
    client.post(f"{at}/import", files={"file": ("large.csv", rows.encode())})
    page = client.get(at).text
    assert len(page) < 150_000
    known = nodes(page)
    assert len(known) == 41
    branch = client.get(f"{at}/branch?node={known['g7']}").text
    assert len(nodes(branch)) == 100
    flat = "".join(f"v{value};*\n" for value in range(4000))
    client.post(f"{at}/import", files={"file": ("flat.csv", flat.encode())})
    page = client.get(at).text
    assert len(nodes(page)) == 1 + hierarchy_view.AT_ONCE
    assert "Show more (3,800 left)" in page
    more = client.get(f"{at}/branch?node=0&first={hierarchy_view.AT_ONCE}").text
    assert next(iter(nodes(more))) == f"v{hierarchy_view.AT_ONCE}"
    found = change(client, at, what="find", label="v3999", open="0")
    assert "v3999" in nodes(found)


def test_weights_survive_edits_of_the_tree_and_of_the_table(client, adult, education):
    file = configuration(adult)["hierarchies"]["education"]
    group = next(label for label in tree_of(adult).tree.inner_labels if label != "*")
    weights = {"Masters": 3.0, group: 0.5}
    written = f'{{ csv = "{file}", weights = {{ Masters = 3.0, "{group}" = 0.5 }} }}'
    adult.config_path.write_text(adult.config_path.read_text().replace(f'"{file}"', written))
    assert configuration(adult)["hierarchies"]["education"] == {"csv": file, "weights": weights}
    found = nodes(client.get(education).text)
    change(client, education, what="rename", nodes=found[group], label="Renamed")
    renamed = {"Masters": 3.0, "Renamed": 0.5}
    assert configuration(adult)["hierarchies"]["education"] == {"csv": file, "weights": renamed}
    assert dict(tree_of(adult).tree.weights) == renamed
    change(client, education, what="undo")
    assert configuration(adult)["hierarchies"]["education"] == {"csv": file, "weights": weights}
    change(client, education, what="delete", nodes=found[group])
    assert configuration(adult)["hierarchies"]["education"]["weights"] == {"Masters": 3.0}
    change(client, education, what="undo")
    table = client.get(f"{education}?view=table").text
    fields = dict(re.findall(r'name="(c-\d+-\d+|from|levels|count)" value="([^"]*)"', table))
    assert client.post(f"{education}/table", data={**fields, "c-0-0": "Another", "do": "save"}).status_code == 303
    assert "Another" in tree_of(adult).tree.labels
    assert dict(tree_of(adult).tree.weights) == weights
    # A run keeps the hierarchy in full, with its weights.
    kept = tomllib.loads(frozen(adult))["hierarchies"]["education"]
    assert kept["weights"] == weights
    assert "csv" not in kept
