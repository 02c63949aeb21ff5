"""A real browser for pages; where there is none, these tests are skipped and say why."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from page_way import PATIENCE, import_education, open_file, run_to_the_end, write_table

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(items):
    """Beside all other tests a server and a browser for each worker are too many; alone they share two cores well."""
    here = Path(__file__).parent
    if "PYTEST_XDIST_WORKER" not in os.environ or all(item.path.parent == here for item in items):
        return
    alone = pytest.mark.skip(reason="pages in a browser are tested on their own: make test-web")
    for item in items:
        if item.path.parent == here:
            item.add_marker(alone)


@pytest.fixture(scope="session")
def chromium():
    """Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make test-web")
    found = [shutil.which(name) for name in (os.environ.get("COTERIE_CHROMIUM") or "", *NAMES) if name]
    path = next(filter(None, found), None)
    if path is None:
        pytest.skip("no Chromium was found: scripts/install_browser.sh installs it where it can")
    with playwright.sync_playwright() as started:
        # A browser that runs as root has no sandbox; the pages are our own.
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """The script of axe-core, which looks for what keeps people with disabilities out."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: make test-web")
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


class Visit:
    """A page of the local site, and what it asked for and complained about."""

    def __init__(self, site, context):
        self.site = site
        self.page = context.new_page()
        self.asked, self.said = [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))

    def go(self, path):
        self.page.goto(self.site.origin + path)
        return self.page

    def check(self):
        """Nothing left this machine, and nothing went wrong unnoticed."""
        outside = [url for url in self.asked if not url.startswith(self.site.origin + "/")]
        assert outside == []
        assert self.said == []


class Site:
    """A server of its own, as a person starts it."""

    def __init__(self, folder):
        self.folder = folder
        start = "import sys; from coterie.cli.app import main; sys.exit(main())"
        command = [sys.executable, "-c", start, "serve", "--no-browser", "--port", "0", "--forget"]
        command += ["--allow", str(folder)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
        )
        found = None
        while found is None:
            line = self.process.stdout.readline()
            assert line, "the server ended before it said where it is"
            found = re.search(r"(http://127\.0\.0\.1:\d+)/\S*", line)
        self.address, self.origin = found[0], found[1]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self.process.stdout.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The server that all tests of the page share."""
    pytest.importorskip("starlette", reason="what the page needs is not installed: make test-web")
    started = Site(tmp_path_factory.mktemp("site"))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def let_in(site, chromium):
    """What a browser knows after it was opened by the address with the token."""
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(site.address)
    assert "token" not in page.url
    known = context.storage_state()
    context.close()
    return known


@pytest.fixture
def visit(site, chromium, let_in):
    """Opens the site; at the end each visit is checked for outside requests and messages in the console."""
    made = []

    def start(**how):
        context = chromium.new_context(**{"storage_state": let_in, "viewport": {"width": 1280, "height": 900}, **how})
        context.set_default_timeout(PATIENCE)
        found = Visit(site, context)
        made.append((found, context))
        return found

    yield start
    for found, context in made:
        context.close()
        found.check()


@pytest.fixture(scope="session")
def opened_project(site, chromium, let_in):
    """Opens a table of its own as a project; gives its address."""

    def start(name, **size):
        write_table(site.folder / name, **size)
        context = chromium.new_context(storage_state=let_in)
        context.set_default_timeout(PATIENCE)
        found = open_file(context.new_page(), site.origin, name)
        context.close()
        return found

    return start


@pytest.fixture(scope="session")
def ready(opened_project):
    """A project whose table was looked at."""
    return opened_project("ready.csv")


@pytest.fixture(scope="session")
def spare(opened_project):
    """Another one, for tests that leave it broken."""
    return opened_project("spare.csv")


@pytest.fixture(scope="session")
def finished(site, chromium, let_in, opened_project):
    """A project with a tree, a rule and a finished run at k = 5."""
    project = opened_project("finished.csv")
    context = chromium.new_context(storage_state=let_in)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    import_education(page, site.origin, project)
    page.goto(f"{site.origin}{project}/hierarchies/0")
    page.click("text=Save this rule")
    page.wait_for_selector("text=The rule is saved in coterie.toml")
    run_to_the_end(page, site.origin, project)
    context.close()
    return project
