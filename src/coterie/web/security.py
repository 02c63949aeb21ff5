"""Check every request and set the headers of every response: one ASGI middleware around everything else.

A page on another site can make a browser send requests here, so the address alone protects nothing. A request passes
if it names this machine (Host: other names could be made to point here), carries the token's cookie, and, if it
changes something, comes from a page of this server (Origin). GET never changes anything. Internal errors are
reported only by kind and place, because the text of other libraries' errors may quote cells.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import traceback
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coterie.web.settings import Settings

POLICY: Final = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
# no-referrer would also remove the Origin of forms, which is needed to recognize them.
HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
}
READS: Final = ("GET", "HEAD")
UNLIMITED: Final = "coterie.unlimited"
"""key of a scope whose reader limits the body itself"""

_log = logging.getLogger("coterie.web")


def same_token(submitted: str | None, token: str) -> bool:
    """Compare tokens in constant time."""
    return hmac.compare_digest((submitted or "").encode("utf-8", "surrogatepass"), token.encode())


def cookie_value(settings: Settings) -> str:
    """Return the cookie's value: derived from the token, so that a stolen cookie does not reveal the address."""
    return hashlib.sha256(b"coterie cookie " + settings.token.encode()).hexdigest()


class Guard:
    """Admits only requests from this server's own pages by someone who knows the token."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            refused = self._refused(scope)
            if refused is not None:
                await refused(scope, receive, answer)
            else:
                await self.app(scope, limited(scope, receive, self.settings.form_limit), answer)
        except Exception as error:
            # Not handed on: the server would write the text of the error, which may quote cells, to its log.
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
            _log.error("unexpected %s in %s", type(error).__name__, where)
            if not started:
                text = f"Something went wrong inside coterie ({type(error).__name__} in {where}). Nothing was changed."
                await simple_page(500, "A bug in coterie", text)(scope, receive, answer)

    def _refused(self, scope: Scope) -> Response | None:
        """Return the response to a request that may not pass, or None."""
        headers, settings = Headers(scope=scope), self.settings
        if headers.getlist("host") not in [[host] for host in settings.hosts]:
            return simple_page(421, "Not this server", "This server only answers at 127.0.0.1 and localhost.")
        asked = HTTPConnection(scope)
        method = scope["method"]
        if method not in (*READS, "POST"):
            return simple_page(405, "Not allowed", "Only GET and POST requests are supported.")
        if method == "POST" and not self._from_here(headers):
            return simple_page(403, "Refused", "This request does not come from a page of this server.")
        submitted = asked.query_params.get("token")
        if submitted is not None and method in READS and same_token(submitted, settings.token):
            return self._welcome(scope["path"])
        if not same_token(asked.cookies.get(settings.cookie), cookie_value(settings)):
            text = "Open the address that `coterie serve` printed when it started: it contains the access token."
            return simple_page(403, "Not let in", text, link="/")
        return None

    def _from_here(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is not None:
            return origin in self.settings.origins
        return headers.get("sec-fetch-site") == "same-origin"

    def _welcome(self, path: str) -> Response:
        """Turn the token into a cookie and remove it from the address, which browsers keep and show."""
        to = path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"
        answer = RedirectResponse(to, status_code=303)
        answer.set_cookie(self.settings.cookie, cookie_value(self.settings), httponly=True, samesite="strict", path="/")
        return answer


def limited(scope: Scope, receive: Receive, limit: int) -> Callable[[], Awaitable[Message]]:
    """Read a request's body up to a limit, unless the scope says that its reader enforces one."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request" and not scope.get(UNLIMITED):
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413, f"A form may have up to {limit:,} bytes. Nothing was changed.")
        return message

    return counted


def simple_page(status: int, title: str, text: str, *, link: str = "") -> Response:
    """Return a page of fixed text for rejected requests."""
    from html import escape

    more = f'<p><a href="{escape(link)}">Try again</a></p>' if link else ""
    body = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><title>{escape(title)} – coterie</title></head>'
        f"<body><main><h1>{escape(title)}</h1><p>{escape(text)}</p>{more}</main></body></html>"
    )
    return HTMLResponse(body, status_code=status)
