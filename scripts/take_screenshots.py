"""Take screenshots of every step of the web app: light and dark, wide and narrow.

    .venv/bin/python scripts/take_screenshots.py FOLDER [--docs]

Starts its own server, walks from a file to results with people from the Adult table, and saves images called
`step-scheme-width.png`
in FOLDER. With --docs it also writes the four images of the documentation to docs/page/, as small WebP files;
that needs Pillow. Needs the packages that `make test-web` installs.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from coterie import datasets
from coterie.cli.commands.demo import people
from coterie.files import tables

ROOT = Path(__file__).parent.parent
WIDTHS = {"wide": 1280, "narrow": 360}
COLUMNS = ["age", "workclass", "education", "marital-status", "occupation", "sex", "salary-class"]
ROWS = 3_000
TALLEST = 8_000
"""pixels of a picture; longer pages are cut"""
STEPS = {
    "projects": "/",
    "data": "{}/data",
    "roles": "{}/roles",
    "hierarchies": "{}/hierarchies",
    "rule": "{}/hierarchies/0",
    "tree": "{}/hierarchies/2",
    "table": "{}/hierarchies/2?view=table",
    "goals": "{}/goals",
    "run": "{}/run",
    "results": "{}/results/0001",
    "row": "{}/results/0001/row?row=3",
    "configuration": "{}/configuration",
}
DOCS = {"roles": "light", "tree": "light", "results": "light", "results-dark": "dark"}
"""picture of the documentation → its scheme"""


def main() -> None:
    """Take the screenshots."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", action="store_true", help="also write docs/page/*.webp")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        tables.write(people().select(COLUMNS).slice(0, ROWS), Path(folder) / "people.csv")
        server, address = start(Path(folder))
        browser = started.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            take_all(browser, address, given.folder, docs=given.docs)
        finally:
            browser.close()
            server.send_signal(signal.SIGINT)
            server.wait(20)


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a server that may open files of this folder; return its address."""
    code = "import sys; from coterie.cli.app import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "serve", "--no-browser", "--port", "0", "--forget", "--allow", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    assert server.stdout is not None
    while line := server.stdout.readline():
        if found := re.search(r"http://\S+", line):
            return server, found[0]
    raise SystemExit("The server did not start.")


def chromium() -> str:
    """Return the path of Chromium."""
    names = (os.environ.get("COTERIE_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit("No Chromium was found: scripts/install_browser.sh installs it where it can.")
    return found


def take_all(browser: Browser, address: str, folder: Path, *, docs: bool) -> None:
    """Walk through all steps once, then capture each step in each mode."""
    origin = address.split("/?")[0]
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    project = walk(page, origin)
    known = context.storage_state()
    context.close()
    for scheme in ("light", "dark"):
        for size, width in WIDTHS.items():
            how: dict[str, Any] = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
            context = browser.new_context(storage_state=known, **how)
            page = context.new_page()
            for step, path in STEPS.items():
                page.goto(origin + path.format(project))
                page.wait_for_load_state("networkidle")
                picture(page, step, folder / f"{step}-{scheme}-{size}.png", width)
            context.close()
    if docs:
        for name, scheme in DOCS.items():
            context = browser.new_context(
                storage_state=known, color_scheme=scheme, viewport={"width": 1200, "height": 900}
            )
            page = context.new_page()
            page.goto(origin + STEPS[name.removesuffix("-dark")].format(project))
            page.wait_for_load_state("networkidle")
            picture_of_docs(page, name)
            context.close()


def walk(page: Page, origin: str) -> str:
    """Go from a file to results; return the address of the project."""
    page.fill("#path", "people.csv")
    page.click("role=button[name='Open']")
    page.wait_for_selector("text=Continue to Roles", timeout=120_000)
    found = re.match(r"https?://[^/]+(/p/[0-9a-f]+)", page.url)
    assert found is not None
    project = found[1]
    page.click("text=Continue to Roles")
    page.click("text=Save and continue to Hierarchies")
    page.wait_for_url("**/hierarchies")
    page.goto(f"{origin}{project}/hierarchies/0")
    page.fill("#widths", "5, 10, 20")
    page.click("text=Save this rule")
    page.wait_for_selector("text=The rule is saved in coterie.toml")
    for name in ("education", "marital-status", "occupation", "workclass"):
        page.goto(f"{origin}{project}/hierarchies/{COLUMNS.index(name)}")
        page.set_input_files("#file", datasets.adult_hierarchy_files()[name])
        page.click("role=button[name='Import']")
        page.wait_for_selector("text=The file was imported")
    page.goto(f"{origin}{project}/hierarchies")
    page.click("text=Continue to Goals")
    for k in ("12", "5"):
        page.goto(f"{origin}{project}/goals")
        page.fill("#k", k)
        page.click("text=Save and continue to Run")
        page.click("role=button[name='Run']")
        page.wait_for_selector("text=is finished", timeout=300_000)
    page.goto(f"{origin}{project}/results/0001")
    page.click("text=Compute loss by k", timeout=120_000)
    page.wait_for_selector("#loss-over-k svg", timeout=300_000)
    page.goto(f"{origin}{project}/results/0001/row?row=3")
    page.click("button:text-is('Explain')")
    page.wait_for_selector("text=Cost by column", timeout=120_000)
    return project


def picture(page: Page, step: str, path: Path, width: int) -> None:
    """Capture one step; report if it is wider than the window."""
    wide, tall = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    if wide > width:
        sys.stderr.write(f"{step} at {width} is {wide} pixels wide\n")
    clip = {"x": 0, "y": 0, "width": width, "height": min(tall, TALLEST)}
    page.screenshot(path=path, full_page=True, clip=clip)


def picture_of_docs(page: Page, name: str) -> None:
    """Save the upper part of a page as a small WebP file."""
    from PIL import Image

    folder = ROOT / "docs" / "page"
    folder.mkdir(exist_ok=True)
    with Image.open(io.BytesIO(page.screenshot())) as image:
        image.convert("RGB").save(folder / f"{name}.webp", quality=82, method=6)


if __name__ == "__main__":
    main()
