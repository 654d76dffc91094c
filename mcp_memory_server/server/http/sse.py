"""The transport of 2024, for older clients: a stream of server-sent events, and requests posted beside it."""

from __future__ import annotations

from typing import Final

from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from mcp_memory_server.server.state import ConnectionState

from .limits import refusal

SSE_PATH: Final = "/sse"
MESSAGES_PATH: Final = "/messages"


class SseConnections:
    """The connections of one process, at most so many, each of which the server runs by itself."""

    def __init__(
        self, server: Server[ConnectionState], security: TransportSecuritySettings, max_body_bytes: int, most: int
    ) -> None:
        self._server = server
        self._transport = SseServerTransport(f"{MESSAGES_PATH}/", security, max_body_bytes)
        self._most = most
        self._open = 0

    async def connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._open >= self._most:
            await refusal(503, "Too many connections. Try again later.", {"Retry-After": "30"})(scope, receive, send)
            return
        self._open += 1
        try:
            async with self._transport.connect_sse(scope, receive, send) as (read, write), read, write:
                await self._server.run(read, write, self._server.create_initialization_options())
        finally:
            self._open -= 1

    async def post(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._transport.handle_post_message(scope, receive, send)
