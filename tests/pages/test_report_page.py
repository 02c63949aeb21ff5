"""The report in a real browser: no request, no error, readable by everybody, in light, dark and on paper."""

import pytest
from decided import kept_otherwise

import coterie
from coterie import datasets

QUASI = ["age", "education", "marital-status", "sex"]
# What axe-core calls serious or critical keeps people out.
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Reports of both variants, of groups and of rows published one by one."""
    folder = tmp_path_factory.mktemp("reports")
    table = datasets.adult(complete=True, part="test").slice(0, 800)
    trees = {name: tree for name, tree in datasets.adult_hierarchies().items() if name in QUASI and name != "age"}
    settings = {"quasi": QUASI, "sensitive": ["salary-class"], "hierarchies": trees, "k": 5, "author": "Data office"}
    settings = kept_otherwise(table.column_names, settings)
    for method in ("mondrian", "nh"):
        release = coterie.anonymize(table, method=method, **settings)
        for variant in ("internal", "external"):
            release.report(folder / f"{method}-{variant}.html", variant=variant)
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>n</title>'
    (folder / "notebook.html").write_text(f"{head}<main>{release._repr_html_()}</main></html>")
    return folder


NAMES = ["mondrian-internal", "mondrian-external", "nh-internal", "nh-external"]


@pytest.fixture
def opened(chromium):
    """Opens a page and notes what it asks for and complains about."""
    contexts = []

    def open_page(path, **how):
        context = chromium.new_context(**how)
        contexts.append(context)
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        return page, asked, said

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_asked_for_and_nothing_is_wrong(reports, opened, name, scheme):
    path = reports / f"{name}.html"
    page, asked, said = opened(path, color_scheme=scheme, viewport={"width": 1100, "height": 900})
    page.wait_for_load_state("networkidle")
    assert asked == [path.as_uri()]
    assert said == []
    assert page.title().startswith("Report on a release")
    assert page.locator("svg.chart").count() >= 5


def test_the_policy_is_in_force(reports, opened):
    page, _, said = opened(reports / "mondrian-internal.html")
    with page.expect_event("requestfailed") as failed:
        page.evaluate(
            "() => { const style = document.createElement('style'); style.textContent = 'body{display:none}';"
            " document.head.append(style); const image = new Image(); image.src = 'https://example.org/x.png';"
            " document.body.append(image); }"
        )
    assert "csp" in failed.value.failure
    for _ in range(100):  # what the console says may come after what happened
        if len(said) >= 2:
            break
        page.wait_for_timeout(100)
    assert sum("Content Security Policy" in text for text in said) == 2
    assert page.locator("h1").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_serious_fault(reports, opened, axe, name, scheme):
    # The policy would refuse the script of the test, too.
    page, _, _ = opened(reports / f"{name}.html", color_scheme=scheme, bypass_csp=True)
    for details in page.locator("details").all():
        details.evaluate("each => each.open = true")
    page.evaluate(axe)
    # By dark only colours differ; all else was looked at by light.
    rules = "{resultTypes: ['violations']}" if scheme == "light" else "{runOnly: ['color-contrast']}"
    found = page.evaluate(f"axe.run({rules})")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"] if each["impact"] in GRAVE] == []
    assert len(found["passes"]) >= (20 if scheme == "light" else 1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_follow_light_and_dark(reports, opened, scheme):
    page, _, _ = opened(reports / "mondrian-internal.html", color_scheme=scheme)
    ink = "getComputedStyle(document.querySelector('svg.chart text')).fill"
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    shades = [
        sum(map(int, page.evaluate(each).removeprefix("rgb(").removesuffix(")").split(","))) for each in (ink, ground)
    ]
    assert (shades[0] > shades[1]) == (scheme == "dark")
    page.emulate_media(media="print")
    assert page.evaluate(ink) == "rgb(26, 26, 26)"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_nothing_is_wider_than_a_telephone(reports, opened):
    page, _, _ = opened(reports / "mondrian-internal.html", viewport={"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_tables_of_charts_can_be_opened_by_keyboard(reports, opened):
    page, _, _ = opened(reports / "mondrian-internal.html")
    details = page.locator("#class-sizes details")
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    assert details.evaluate("each => each.open")
    assert details.locator("table").is_visible()


def test_it_prints(reports, opened):
    page, _, said = opened(reports / "mondrian-external.html")
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert 2 <= paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") + paper.count(b"/Type /Page/") <= 14
    assert said == []


def test_a_release_in_a_notebook(reports, opened, axe):
    page, asked, said = opened(reports / "notebook.html", bypass_csp=True)
    page.wait_for_load_state("networkidle")
    assert len(asked) == 1
    assert said == []
    assert page.locator("svg.chart").count() == 2
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    assert [each["id"] for each in found["violations"] if each["impact"] in GRAVE] == []
