"""The tree editor by keyboard alone, and with a large tree."""

import pytest
from page_way import import_education, press_and_load


@pytest.fixture
def education(visit, site, ready):
    here = visit()
    return here, import_education(here.page, site.origin, ready)


def focused(page):
    return page.evaluate("document.activeElement.dataset.label || document.activeElement.id")


def tab_to(page, wanted, most=60):
    """Press Tab until something has the focus, as somebody without a mouse does."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(f"document.activeElement.matches({wanted!r})"):
            return
    raise AssertionError(f"no {wanted} within {most} presses of Tab")


def rows_of(here, at):
    """The hierarchy as the server has it, as a dict of value → labels above."""
    text = here.page.request.get(f"{here.site.origin}{at}/download").text()
    rows = [line.split(";") for line in text.splitlines()]
    return {row[0]: row[1:] for row in rows}


def test_a_tree_is_edited_by_keyboard_alone(education):
    here, at = education
    page = here.page
    page.keyboard.press("Tab")
    assert focused(page) == "" and page.locator(":focus").inner_text() == "Skip to the content"
    tab_to(page, "[role=treeitem]")
    assert focused(page) == "*"
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Without diploma"
    page.keyboard.press("ArrowLeft")
    assert page.locator("[data-label='Without diploma']").get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Diploma or some college"
    page.keyboard.press("End")
    assert focused(page) == "Doctorate"
    page.keyboard.press("Home")
    assert focused(page) == "*"
    page.keyboard.type("mast")
    assert focused(page) == "Master's degree"
    page.keyboard.press("ArrowRight")
    assert focused(page) == "Masters"
    # Choose two and gather them in a new group.
    page.keyboard.press("Space")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    assert page.locator("#chosen").inner_text() == "Doctorate, Masters"
    page.keyboard.press("Enter")
    assert focused(page) == "move-to"
    tab_to(page, "#gather", most=3)
    page.keyboard.type("Graduate school")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-label='Graduate school']:focus")
    assert "New group" in page.locator("#tree-status").text_content()
    found = rows_of(here, at)
    assert "Graduate school" in found["Masters"]
    assert "Graduate school" in found["Doctorate"]
    # Rename it, move it, delete it, and undo all.
    page.keyboard.press("F2")
    assert focused(page) == "rename"
    page.keyboard.type("Advanced studies")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-label='Advanced studies']:focus")
    page.keyboard.press("Enter")
    page.keyboard.type("Without")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-label='Without diploma'] [data-label='Advanced studies']:focus")
    assert rows_of(here, at)["Masters"][-2:] == ["Without diploma", "*"]
    page.keyboard.press("Delete")
    page.wait_for_selector("[data-label='Advanced studies']", state="detached")
    assert "Advanced studies" not in rows_of(here, at)["Masters"]
    for left in (3, 2, 1, 0):
        page.keyboard.press("Control+z")
        page.wait_for_selector(f"text=Undo ({left})" if left else "button[value=undo]:disabled")
    assert rows_of(here, at)["Masters"] == ["Master's degree", "Advanced degree", "University degree", "*"]


def test_keys_pressed_before_a_change_is_answered_are_not_lost(education):
    here, at = education
    page = here.page
    before = rows_of(here, at)
    # Answers take as long as on a busy machine, so that all keys come before the first of them.
    page.route(f"**{at}/edit", lambda route: (page.wait_for_timeout(200), route.continue_()))
    page.locator("[data-label='Masters']").focus()
    for key in ("Delete", "End", "Delete", "Control+z"):
        page.keyboard.press(key)
    page.wait_for_selector("#actions .last:text('Undone.')")
    lost = {value for value, above in before.items() if rows_of(here, at).get(value) != above}
    assert lost == {"Masters"}
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.wait_for_selector("button[value=undo]:disabled")
    assert rows_of(here, at) == before


def test_values_without_a_place_are_shown_at_once_and_placed_by_keyboard(education):
    here, at = education
    page = here.page
    page.locator("[data-label='Masters']").focus()
    page.keyboard.press("Delete")
    page.wait_for_selector("text=1 value of the data")
    page.locator("#lost input[value='Masters']").focus()
    page.keyboard.press("Space")
    tab_to(page, "#place-to", most=3)
    page.keyboard.type("University")
    tab_to(page, "button[value=place]", most=2)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=1 value of the data", state="detached")
    assert rows_of(here, at)["Masters"][-2:] == ["University degree", "*"]


def test_an_answer_leaves_the_focus_to_whoever_moves_it_next(education):
    here, _ = education
    page = here.page
    # As soon as the answer is on the page, before anything else can happen there.
    page.evaluate("""new MutationObserver((_, watch) => {
        const box = document.querySelector("#lost input[value='Masters']");
        if (box) { watch.disconnect(); box.focus(); }
    }).observe(document.body, {childList: true, subtree: true})""")
    page.locator("[data-label='Masters']").focus()
    page.keyboard.press("Delete")
    page.wait_for_selector("#lost")
    page.wait_for_timeout(100)  # longer than htmx waits by itself before an answer counts as settled
    assert page.evaluate("document.activeElement.value") == "Masters"


def test_what_cannot_be_done_takes_the_focus(education):
    here, _ = education
    page = here.page
    page.locator("[data-label='Masters']").focus()
    page.keyboard.press("F2")
    page.keyboard.type("Bachelors")
    page.keyboard.press("Enter")
    page.wait_for_selector("#edit-errors:focus")
    assert "already" in page.locator("#edit-errors").inner_text()


def test_a_tree_of_thousands_of_values_is_sent_in_parts(visit, site, ready, tmp_path):
    here = visit()
    page = here.go(f"{ready}/hierarchies/1?view=start")
    path = tmp_path / "large.csv"
    path.write_text("".join(f"value {value};group {value % 50};half {value % 2};*\n" for value in range(5000)))
    page.set_input_files("#file", path)
    press_and_load(page, "role=button[name='Import']")
    page.wait_for_selector("text=The file was imported")
    assert page.locator("[role=treeitem]").count() < 300
    page.locator("[data-label='half 1']").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("[data-label='group 1']")
    page.locator("[data-label='group 1']").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("[data-label='value 51']")
    page.locator("[data-label='value 51']").focus()
    page.keyboard.press("F2")
    page.keyboard.type("another value")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-label='another value']:focus")
    # A change sends what is open, not the whole tree.
    assert page.locator("[role=treeitem]").count() < 300
    page.fill("#find", "value 4999")
    page.press("#find", "Enter")
    page.wait_for_selector("[data-label='value 4999'][aria-selected=true]:focus")
