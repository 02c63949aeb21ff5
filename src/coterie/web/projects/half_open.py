"""Connections that were opened and then say nothing, or only half of a request: closed after a while.

uvicorn closes connections that are idle between two requests, but waits for ever for the first one and for the rest of
one that has begun. Each such connection costs a file of the process, until there are none left for people.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 60.0
"""seconds for the head of a request, and between two pieces of its body"""


class TimedProtocol(H11Protocol):
    """One connection, which has to go on with what it has begun."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as in uvicorn
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Something came: wait anew for what is still missing, not while an answer is worked out."""
        self._enough()
        super().data_received(data)
        if self._state in ("IDLE", "SEND_BODY") and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._enough()
        super().connection_lost(exc)

    @property
    def _state(self) -> str:
        """What the other side is doing, in the words of h11."""
        return repr(self.conn.their_state)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(PATIENCE, self._close)

    def _enough(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _close(self) -> None:
        # A body that is not read because its handler is busy (an upload on a slow disk) is no fault of the sender.
        if self._state == "SEND_BODY" and self.flow.read_paused:
            self._wait()
        elif not self.transport.is_closing():
            self.transport.close()
