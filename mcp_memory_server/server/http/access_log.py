"""One line in the log for each request over HTTP, and nothing in it that could let somebody in."""

from __future__ import annotations

import logging
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_memory_server.errors import echo
from mcp_memory_server.server.logs import FIELDS

logger = logging.getLogger("mcp_memory_server.access")

_QUIET: Final = frozenset({"/healthz", "/readyz"})
"""Asked every few seconds by whatever watches the server: logged only when they fail."""


class AccessLog:
    """Logs method, path, status and duration. No header, and no query: sessions over SSE are named there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        answered: list[int] = []

        async def note_status(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered.append(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, note_status)
        finally:
            if scope["path"] not in _QUIET or answered != [200]:
                _log(scope, answered[0] if answered else None, time.monotonic() - began)


def _log(scope: Scope, status: int | None, seconds: float) -> None:
    path = scope["path"] if scope["path"].isascii() and len(scope["path"]) < 100 else echo(scope["path"])
    taken_ms = round(seconds * 1000)
    fields = {"method": scope["method"], "path": path, "status": status, "ms": taken_ms}
    logger.info("%s %s %s %d ms", scope["method"], path, status or "no answer", taken_ms, extra={FIELDS: fields})
