"""What is served beside the pages: the vendored script is the one that its note describes."""

from __future__ import annotations

import hashlib
import re

from coterie.web.app import STATIC


def test_htmx_is_what_the_notice_says():
    notice = (STATIC / "NOTICE.txt").read_text()
    said = re.search(r"sha256\s+([0-9a-f]{64})", notice)
    assert said is not None
    data = (STATIC / "htmx.min.js").read_bytes()
    assert hashlib.sha256(data).hexdigest() == said[1]
    version = re.search(r"version\s+(\S+)", notice)[1]
    assert f'version:"{version}"'.encode() in data
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE.txt").read_text()


def test_nothing_of_ours_asks_the_outside():
    for path in STATIC.iterdir():
        if path.name.startswith("coterie") or path.suffix in (".js", ".css"):
            text = path.read_text()
            found = re.findall(r"https?://[^\s\"')]+", text)
            assert [url for url in found if "w3.org" not in url] == [] or path.name == "htmx.min.js", path.name


def test_static_files_are_served_and_nothing_else(client):
    assert client.get("/static/htmx.min.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/static/coterie.css").status_code == 200
    assert client.get("/static/").status_code == 404
