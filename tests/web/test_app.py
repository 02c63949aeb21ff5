"""Who may ask, what every answer carries, and that GET changes nothing."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient
from web_cases import ORIGIN

from coterie.web import security

# ---- who may ask


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "[::1]:8765", ""])
def test_another_host_is_refused_even_with_the_cookie(client, host):
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 421
    assert "coterie-8765" not in answer.headers.get("set-cookie", "")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8765", ""]
)
def test_a_form_from_another_origin_is_refused(client, files, origin):
    (files / "a.csv").write_text("x\n1\n2\n")
    answer = client.post("/open", data={"path": "a.csv"}, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "Projects" not in client.get("/").text


def test_a_form_without_an_origin_needs_the_browsers_word(app, settings, files):
    (files / "a.csv").write_text("x\n1\n2\n")
    bare = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    bare.get(f"/?token={settings.token}")
    assert bare.post("/open", data={"path": "a.csv"}).status_code == 403
    cross = bare.post("/open", data={"path": "a.csv"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert cross.status_code == 403
    own = bare.post("/open", data={"path": "a.csv"}, headers={"Sec-Fetch-Site": "same-origin"})
    assert own.status_code == 303


@pytest.mark.parametrize("path", ["/", "/static/coterie.css", "/p/0123456789abcdef/data", "/nowhere", "/?token="])
def test_without_the_token_there_is_nothing_to_see(stranger, path):
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "coterie serve" in answer.text
    assert "set-cookie" not in answer.headers


def test_a_wrong_token_or_cookie_is_refused(stranger, settings):
    wrong = settings.token[:-1] + ("A" if settings.token[-1] != "A" else "B")
    assert stranger.get(f"/?token={wrong}").status_code == 403
    assert stranger.get("/?token=%C3%A9%ED%A0%80").status_code == 403
    stranger.cookies.set(settings.cookie, settings.token)
    assert stranger.get("/").status_code == 403


def test_tokens_are_compared_in_constant_time(monkeypatch, stranger):
    seen = []
    monkeypatch.setattr(security.hmac, "compare_digest", lambda a, b: seen.append((a, b)) or False)
    stranger.get("/?token=abc")
    assert len(seen) == 2  # the token, then the cookie


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger, settings):
    answer = stranger.get(f"/p/abc/data?token={settings.token}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/p/abc/data"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert settings.token.lower() not in cookie


def test_the_welcome_leads_nowhere_else(stranger, settings):
    answer = stranger.get(f"//evil.example/?token={settings.token}")
    assert answer.headers["location"] == "/" or answer.headers["location"].startswith("/")
    assert not answer.headers["location"].startswith("//")


# ---- what answers carry


def test_every_answer_carries_the_policy(client, stranger, adult):
    pages = [f"{adult.url}/{step}" for step in ("data", "roles", "hierarchies", "goals", "run", "configuration")]
    for path in ["/", "/static/coterie.css", "/nowhere", *pages]:
        for asked in (client, stranger):
            headers = asked.get(path).headers
            assert headers["content-security-policy"].startswith("default-src 'self'")
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in headers


def test_pages_have_no_inline_script_or_style(client, adult):
    for step in ("data", "roles", "hierarchies", "goals", "run", "configuration"):
        page = client.get(f"{adult.url}/{step}").text
        assert re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]* src=\"/static/)", page) is None
        assert re.search(r'(?:src|href|action)="(?:https?:)?//', page) is None


# ---- GET changes nothing


def test_no_change_is_made_by_get(client, app, adult):
    changing = [route for route in app.routes if getattr(route, "methods", None) and "POST" in route.methods]
    both = {route.path for route in app.routes if "GET" in (getattr(route, "methods", None) or ())}
    assert len(changing) > 10
    for route in changing:
        if route.path in both:
            continue
        path = re.sub(r"\{(\w+)[^}]*\}", lambda found: adult.id if found[1] == "project" else "0001", route.path)
        assert client.get(path).status_code in (404, 405), path
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert client.request(method, f"{adult.url}/data").status_code == 405


def test_pages_leave_the_configuration_and_the_projects_alone(client, app, adult):
    client.get(f"{adult.url}/data")  # notes that the file is the same, though copied
    before = {path: path.read_bytes() for path in adult.folder.rglob("*") if path.is_file()}
    for step in ("data", "roles", "goals", "run", "configuration", "data/rows?row=5", "run/options?method=kaca"):
        assert client.get(f"{adult.url}/{step}").status_code == 200
    assert {path: path.read_bytes() for path in adult.folder.rglob("*") if path.is_file()} == before
