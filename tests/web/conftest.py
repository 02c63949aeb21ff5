"""A real browser for pages; where there is none, these tests are skipped and say why."""

import os
import shutil
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


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
