"""Every step for everybody: faults that are said and found, any width, light and dark, what axe-core looks for."""

import pytest
from page_way import press_and_load

GRAVE = ("serious", "critical")
STEPS = [
    "/",
    "{}/data",
    "{}/roles",
    "{}/hierarchies",
    "{}/hierarchies/0",
    "{}/hierarchies/1",
    "{}/hierarchies/1?view=table",
    "{}/goals",
    "{}/run",
    "{}/configuration",
    "{}/results/0001",
    "{}/results/0001/row?row=3",
]
NAMES = [
    "projects",
    "data",
    "roles",
    "hierarchies",
    "rule",
    "tree",
    "table",
    "goals",
    "run",
    "configuration",
    "results",
    "row",
]

FAULTS = [
    ("/", "#path", "../../etc/passwd", "role=button[name='Open']", "outside the allowed folders"),
    ("{}/hierarchies/0", "#widths", "5, 12", "text=Save this rule", "not a multiple"),
    ("{}/goals", "#k", "0", "text=Save and continue to Run", "k"),
    ("{}/run", "#time_limit", "-3", "role=button[name='Save']", "time_limit"),
    ("{}/results/0001", "#row", "999999", "role=button[name='Explain']", "from 1 to"),
]


@pytest.mark.parametrize(
    ("step", "field", "text", "button", "said"), FAULTS, ids=["open", "hierarchy", "goals", "run", "results"]
)
def test_a_fault_is_said_takes_the_focus_and_leads_to_its_field(visit, finished, step, field, text, button, said):
    here = visit()
    page = here.go(step.format(finished))
    page.fill(field, text)
    page.click(button)
    page.wait_for_selector("#errors:focus")
    assert said in page.locator("#errors").inner_text()
    assert page.title().startswith("Error")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{field}:focus")
    assert page.input_value(field) == text
    assert page.get_attribute(field, "aria-invalid") == "true"


def test_a_fault_of_the_data_step(visit, site):
    (site.folder / "broken.csv").write_text("a,a\n1,2\n")
    here = visit()
    page = here.go("/")
    page.fill("#path", "broken.csv")
    page.click("role=button[name='Open']")
    page.wait_for_selector("text=have the same name")


def test_a_fault_of_the_roles_step(visit, site, finished, spare):
    here = visit()
    page = here.go(f"{spare}/roles")
    page.check("[data-check-all]")
    page.select_option("#many", "identifier")
    press_and_load(page, "role=button[name='Set']")
    page.click("text=Save and continue to Hierarchies")
    page.wait_for_selector("#errors:focus")
    assert "is empty" in page.locator("#errors").inner_text()
    assert page.locator("nav a:has-text('Roles')").inner_text().endswith("(has errors)")
    here.go(f"{spare}/run")
    assert "Roles" in page.locator("#in-the-way").inner_text()


@pytest.mark.parametrize("step", STEPS, ids=NAMES)
def test_nothing_is_wider_than_a_telephone(visit, finished, step):
    page = visit(viewport={"width": 360, "height": 740}).go(step.format(finished))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("step", STEPS, ids=NAMES)
def test_axe_finds_no_serious_fault(visit, finished, axe, step, scheme):
    # The policy would refuse the script of the test, too.
    page = visit(color_scheme=scheme, bypass_csp=True).go(step.format(finished))
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.evaluate(axe)
    # By dark only colours differ; all else was looked at by light.
    rules = "{resultTypes: ['violations']}" if scheme == "light" else "{runOnly: ['color-contrast']}"
    found = page.evaluate(f"axe.run({rules})")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"] if each["impact"] in GRAVE] == []
    assert len(found["passes"]) >= (15 if scheme == "light" else 1)


def test_what_was_typed_survives_a_reload(visit, finished):
    here = visit()
    page = here.go(f"{finished}/goals")
    page.fill("#k", "0")
    page.fill("#purpose", "a study of wages")
    page.click("text=Save and continue to Run")
    page.wait_for_selector("#errors")
    page.goto(page.url)
    assert page.input_value("#k") == "0"
    assert page.input_value("#purpose") == "a study of wages"
    press_and_load(page, "text=Discard changes")
    assert page.input_value("#k") == "5"


def test_pages_cannot_be_had_without_the_token(chromium, site, finished):
    context = chromium.new_context()
    page = context.new_page()
    assert page.goto(f"{site.origin}{finished}/data").status == 403
    assert "adult" not in page.content()
    context.close()


def test_the_report_can_be_read_in_place(visit, finished):
    page = visit().go(f"{finished}/results/0001/report/internal")
    assert page.title().startswith("Report on a release")
    assert page.locator("svg.chart").count() >= 4
    assert page.evaluate("getComputedStyle(document.querySelector('.verdict')).borderLeftWidth") != "0px"


def test_forms_work_without_scripts(visit, finished):
    here = visit(java_script_enabled=False)
    page = here.go(f"{finished}/hierarchies/1")
    assert page.locator("[role=treeitem]").count() > 16
    page.click("aside a:has-text('table')")
    page.fill("[name=c-0-1]", "Before school")
    page.click("text=Save these rows")
    page.wait_for_selector("text=The rows are saved")
    assert page.input_value("[name=c-0-1]") == "Before school"
    press_and_load(page, "text=Undo the last change")
    assert page.input_value("[name=c-0-1]") != "Before school"
    here.go(f"{finished}/results/0001")
    page.click("text=Next rows")
    page.wait_for_selector("text=rows 26 to 50 of")
