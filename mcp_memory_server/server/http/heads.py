"""How long the head of a request may take to come in: until it has, no other limit knows of the connection."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 10.0
"""From the connection, or from the first byte of a later request on it, to the end of the head."""


class PunctualHeads(H11Protocol):
    """uvicorn's protocol, which alone waits for ever for a head that has begun and on a connection that says nothing.

    A few thousand of those use up the files that a process may open. What comes after a head has limits of its own
    (`limits.TimeToAnswer`), and so has the pause before another request (uvicorn's keep-alive).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._has_a_request():
            self._expect_nothing()
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def _has_a_request(self) -> bool:
        cycle: Any = self.cycle  # None before the first one
        return cycle is not None and not cycle.response_complete

    def _expect_head(self) -> None:
        if self._due is None:
            self._due = self.loop.call_later(HEAD_S, self.transport.close)

    def _expect_nothing(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
