"""The whole way in a real browser: from an upload to a release that is, byte for byte, that of the command line."""

import re
import tomllib

import pytest
from web_way import QUASI, import_education, looked_at, write_table

import coterie


@pytest.fixture(scope="module")
def table(site):
    return write_table(site.folder / "adult.csv")


def test_from_upload_to_download(visit, site, table, tmp_path):
    here = visit(accept_downloads=True)
    page = here.go("/")
    page.set_input_files("#file", table)
    page.click("role=button[name='Upload']")
    project = looked_at(page)
    assert page.locator("th:has-text('education')").first.is_visible()

    page.click("text=Yes, go on to roles")
    page.wait_for_url("**/roles")
    page.click("text=Save and go on to hierarchies")
    page.wait_for_url("**/hierarchies")
    education = import_education(page, site.origin, project)
    assert page.locator("[role=treeitem]").count() > 16
    page.goto(f"{site.origin}{project}/hierarchies")
    page.click("role=link[name='age']")
    page.fill("#widths", "5, 10, 20")
    page.click("text=Try on the values")
    page.wait_for_selector("text=[15-19]")
    page.click("text=Save this rule")
    page.wait_for_selector("text=The rule is in coterie.toml")
    page.click("text=All hierarchies")
    page.click("text=Go on to Goals")
    page.wait_for_url("**/goals")
    page.fill("#k", "5")
    page.click("text=Save and go on to the run")
    page.wait_for_url("**/run")
    page.click("role=button[name='Run']")
    page.wait_for_selector("text=is under way")
    # A reload in the middle shows the same run, and another tab does as well.
    page.reload()
    assert page.locator("text=is under way").is_visible()
    page.wait_for_selector("text=is finished", timeout=120_000)
    page.click("text=See the results")
    page.wait_for_url("**/results/0001")
    assert page.locator("text=Every promise is kept").is_visible()
    assert page.locator("td.changed").count() > 0
    assert page.locator("figure svg.chart").count() >= 4

    files = {}
    for name in ("Release", "Report for others", "Report, internal", "Report as JSON", "Mapping", "Configuration"):
        with page.expect_download() as started:
            page.click(f"role=link[name='{name}']")
        files[name] = tmp_path / started.value.suggested_filename
        started.value.save_as(files[name])
        assert files[name].stat().st_size > 0
    settings = tomllib.loads(files["Configuration"].read_text())
    assert settings["k"] == 5
    assert set(settings["quasi"]) == set(QUASI)
    again = coterie.anonymize(table, config=str(files["Configuration"]))
    again.write(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == files["Release"].read_bytes()
    assert education.startswith(project)
    _ask_why(page)


def _ask_why(page):
    """Why is this row so coarse, and what would another k cost?"""
    page.locator("a:has-text('why?')").first.click()
    page.wait_for_url(re.compile(r"/row\?row=1$"))
    page.click("text=Find out")
    page.wait_for_selector("text=What each column costs", timeout=90_000)
    assert page.locator("text=In a group of").is_visible()
    page.click("text=Results of run 1")
    page.click("text=Rows after")
    page.wait_for_selector("text=rows 26 to 50 of")
    page.fill("#from", "650")
    page.press("#from", "Enter")
    page.wait_for_selector("text=rows 650 to")
    page.click("text=Work out loss over k")
    page.wait_for_selector("#loss-over-k svg", timeout=120_000)


def test_cancel_during_a_run_keeps_nothing_and_can_be_tried_again(visit, site, ready):
    page = visit().go(f"{ready}/run")
    runs = page.locator("table tbody tr").count()
    page.click("role=button[name='Run']")
    page.wait_for_selector("text=is under way")
    page.click("text=Cancel the run")
    page.wait_for_selector("text=was cancelled")
    assert page.locator("table tbody tr").count() == runs + 1
    assert page.locator("table tbody tr").first.locator("text=cancelled").is_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("table tbody tr").first.locator("role=button").click()
    page.wait_for_selector("role=button[name='Run']")
    assert page.locator("table tbody tr").count() == runs
    assert page.locator("role=button[name='Run']").is_enabled()
