"""Sending a file: how much of it was sent shows, it can be cancelled, and what cannot be sent says why."""

import re
import time

import pytest
from page_way import looked_at, write_table

SLOW = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 100_000}
"""bytes a second: the file would take minutes, so that the page stays as it is until somebody cancels"""


@pytest.fixture
def slow(visit):
    """A visit whose uploads hardly get on."""
    here = visit()
    tools = here.page.context.new_cdp_session(here.page)
    tools.send("Network.enable")
    tools.send("Network.emulateNetworkConditions", SLOW)
    return here


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.csv"
    path.write_bytes(b"age;town\n" + b"31;Rome\n" * (30 << 17))
    return path


def test_progress_shows_and_cancelling_keeps_nothing(slow, site, large):
    page = slow.go("/")
    page.set_input_files("#file", large)
    page.click("role=button[name='Upload']")
    page.wait_for_selector("#sending-stop:focus")
    assert page.locator("#upload-button").is_disabled()
    assert page.locator("#sending-name").inner_text() == "large.csv"
    page.locator("#sending-text").filter(has_text=re.compile(r"^[1-9]\d* %")).wait_for()
    told = page.locator("#sending-text").inner_text()
    assert re.fullmatch(r"\d+ %, \d+\.\d of 30\.0 MB", told)
    assert page.locator("#sending-said").text_content() != ""
    # While it is being sent it is no project, in any tab.
    assert "large.csv" not in page.request.get(f"{site.origin}/").text()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Cancelled. Nothing was saved")
    assert page.locator("#sending").is_hidden()
    page.wait_for_selector("#file:focus")
    assert page.locator("#upload-button").is_enabled()
    assert "large.csv" not in page.request.get(f"{site.origin}/").text()


def test_a_file_beyond_the_limit_is_not_sent_at_all(visit, large):
    here = visit()
    page = here.go("/")
    page.eval_on_selector("#upload", "form => { form.dataset.limit = 1 << 20; }")
    page.set_input_files("#file", large)
    page.click("role=button[name='Upload']")
    page.wait_for_selector("#sending-fault:focus")
    assert "It has 30.0 MB; the limit for uploads is 1.0 MB" in page.locator("#sending-fault").inner_text()
    assert not [url for url in here.asked if url.endswith("/upload")]


def test_what_the_server_says_is_shown(visit, tmp_path):
    here = visit()
    page = here.go("/")
    path = write_table(tmp_path / "people.csv")
    page.route("**/upload", lambda route: route.fulfill(status=507, content_type="text/html", body="<p>No room.</p>"))
    page.set_input_files("#file", path)
    page.click("role=button[name='Upload']")
    page.wait_for_selector("#sending-fault:focus")
    assert "No room." in page.locator("#sending-fault").inner_text()
    assert page.locator("#upload-button").is_enabled()
    # The browser's own word on a status of 507, and nothing else.
    assert [text for text in here.said if "507" not in text] == []
    here.said.clear()
    page.unroute("**/upload")
    page.click("role=button[name='Upload']")
    looked_at(page)


def test_a_file_is_sent_without_scripts(visit, tmp_path):
    page = visit(java_script_enabled=False).go("/")
    page.set_input_files("#file", write_table(tmp_path / "plain.csv", rows=40))
    page.click("role=button[name='Upload']")
    page.wait_for_url("**/data")
    # There is no script that would show the table when it was read.
    end = time.monotonic() + 60
    while page.locator("text=Continue to Roles").count() == 0:
        assert time.monotonic() < end, "the table is not read"
        page.goto(page.url)
