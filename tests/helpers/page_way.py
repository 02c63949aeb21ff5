"""What people do on the page, step by step, for the tests that need a project in some state."""

import re

from coterie import datasets
from coterie.cli.commands.demo import people
from coterie.files import tables as io

PATIENCE = 45_000
"""milliseconds that anything may take; a busy machine is no fault of the page"""
QUASI = ("age", "education", "marital-status", "sex")
OTHERS = ("salary-class",)
ROWS = 700


def write_table(path, rows=ROWS):
    """Some people of Adult as a CSV file."""
    table = people()
    io.write(table.select([*QUASI, *OTHERS]).slice(0, rows), path)
    return path


def press_and_load(page, button):
    """Click, and wait until the page that follows is there with its scripts; the one before is no answer."""
    with page.expect_navigation(timeout=PATIENCE):
        page.click(button)


def open_file(page, origin, name):
    """Open a file by its path; gives the address of the project."""
    page.goto(f"{origin}/")
    page.fill("#path", name)
    page.click("role=button[name='Open']")
    return looked_at(page)


def looked_at(page):
    """Wait until the table was looked at; gives the address of the project."""
    page.wait_for_selector("text=Continue to Roles", timeout=PATIENCE)
    return re.match(r"https?://[^/]+(/p/[0-9a-f]+)", page.url)[1]


def import_education(page, origin, project):
    """Import the tree of education."""
    page.goto(f"{origin}{project}/hierarchies/{QUASI.index('education')}?view=start")
    page.set_input_files("#file", datasets.adult_hierarchy_files()["education"])
    press_and_load(page, "role=button[name='Import']")
    page.wait_for_selector("text=The file was imported")
    return re.match(r"https?://[^/]+([^?#]+)", page.url)[1]


def run_to_the_end(page, origin, project, *, k=5):
    """Set k, run, and wait for the results."""
    page.goto(f"{origin}{project}/goals")
    page.fill("#k", str(k))
    page.click("text=Save and continue to Run")
    page.wait_for_url("**/run")
    page.click("role=button[name='Run']")
    page.wait_for_selector("text=is finished", timeout=2 * PATIENCE)
    page.click("text=See the results")
    page.wait_for_url("**/results/*")
