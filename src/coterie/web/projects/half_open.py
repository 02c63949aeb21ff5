"""Close connections that stay silent, or send only half of a request, after a while.

uvicorn closes connections that are idle between requests, but waits forever for the first request and for the rest of
a partial one. Each such connection uses a file descriptor, until none are left.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 60.0
"""seconds for the head of a request, and between two pieces of its body"""


class TimedProtocol(H11Protocol):
    """A connection with a timeout for unfinished requests."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as in uvicorn
        """Start waiting for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Restart the timeout for the missing part, but not while a response is being computed."""
        self._enough()
        super().data_received(data)
        if self._state in ("IDLE", "SEND_BODY") and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        self._enough()
        super().connection_lost(exc)

    @property
    def _state(self) -> str:
        """The client's state in h11."""
        return repr(self.conn.their_state)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(PATIENCE, self._close)

    def _enough(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _close(self) -> None:
        # The sender is not to blame for a body that is not read because its handler is busy, such as on a slow disk.
        if self._state == "SEND_BODY" and self.flow.read_paused:
            self._wait()
        elif not self.transport.is_closing():
            self.transport.close()
