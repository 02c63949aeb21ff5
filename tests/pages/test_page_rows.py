"""Scrolling through the rows of a table: all can be reached by keyboard, and the page never holds more than a few."""

import pytest
from page_way import open_file

ROWS = 1_930
MOST = 500


@pytest.fixture(scope="module")
def numbered(site, chromium, let_in):
    """A project with rows whose cells are known."""
    lines = [f"{at},place {at % 7},{at % 90}" for at in range(1, ROWS + 1)]
    (site.folder / "numbered.csv").write_text("\n".join(["number,place,age", *lines]) + "\n")
    context = chromium.new_context(storage_state=let_in)
    found = open_file(context.new_page(), site.origin, "numbered.csv")
    context.close()
    return found


def parts(page):
    """Where the rows begin and end that the page holds, and how many they are."""
    return page.evaluate(
        """() => {
            const bodies = Array.from(document.querySelectorAll("[data-rows] tbody"));
            const rows = bodies.flatMap((body) => Array.from(body.rows));
            return {
                start: Number(bodies[0].dataset.start),
                end: Number(bodies[bodies.length - 1].dataset.end),
                cells: rows.map((row) => Number(row.cells[1].textContent)),
                index: rows.map((row) => Number(row.getAttribute("aria-rowindex"))),
            };
        }"""
    )


def check(found):
    """One row after the other, each with its place, and not too many."""
    assert found["cells"] == list(range(found["start"] + 1, found["end"] + 1))
    assert found["index"] == [number + 1 for number in found["cells"]]
    assert len(found["cells"]) <= MOST


def test_all_rows_by_keyboard_with_few_at_a_time(visit, numbered):
    page = visit().go(f"{numbered}/data")
    page.focus("[data-rows]")
    while (now := parts(page))["end"] < ROWS:
        check(now)
        page.keyboard.press("End")
        page.wait_for_selector(f"[data-rows] tbody[data-end='{min(now['end'] + 100, ROWS)}']", state="attached")
    check(now)
    assert now["start"] > 0
    assert page.locator("#rows-shown").inner_text() == f"{now['start'] + 1:,} to {ROWS:,}"
    while (now := parts(page))["start"] > 0:
        check(now)
        page.keyboard.press("Home")
        page.wait_for_selector(f"[data-rows] tbody[data-start='{max(now['start'] - 100, 0)}']", state="attached")
    check(now)
    assert page.evaluate("document.activeElement.matches('[data-rows]')")
    assert page.get_attribute("[data-rows] table", "aria-rowcount") == str(ROWS + 1)


def test_rows_that_come_above_do_not_move_what_is_read(visit, numbered):
    page = visit().go(f"{numbered}/data?row=951")
    assert parts(page)["start"] == 950
    where = """number => document.querySelector(`[aria-rowindex='${number}']`).getBoundingClientRect().top
        - document.querySelector("[data-rows]").getBoundingClientRect().top"""
    before = page.evaluate(where, 955)
    page.focus("[data-rows]")
    page.keyboard.press("Shift")  # no scrolling, but a sign of somebody there
    page.wait_for_selector("[data-rows] tbody[data-start='850']", state="attached")
    assert abs(page.evaluate(where, 955) - before) < 2
    check(parts(page))


def test_a_server_that_does_not_answer_is_said(visit, numbered):
    here = visit()
    page = here.go(f"{numbered}/data")
    page.route("**/data/rows?*", lambda route: route.abort())
    page.focus("[data-rows]")
    page.keyboard.press("End")
    page.wait_for_selector("#rows-status:has-text('could not be read')")
    check(parts(page))
    assert [text for text in here.said if "ERR_FAILED" not in text] == []
    here.said.clear()
