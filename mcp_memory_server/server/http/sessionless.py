"""Clients of the handshake era without sessions, so that each request may reach another server.

The SDK then makes all that a request needs for that request alone. What is left of a session is its name, under which
the client goes on: nothing is kept by it, and it says which requests are one conversation. What a server would have to
say by itself has no way to such a client, and it is told so: there are no subscriptions, and no person is asked.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .limits import refusal

_MARK: Final = "mcp_memory_server.sessionless"
_SUBSCRIBING: Final = frozenset({"resources/subscribe", "resources/unsubscribe"})


class Sessionless:
    """Names a conversation when it begins, and turns away who wants to listen to a session or to end one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if headers.get(MCP_PROTOCOL_VERSION_HEADER, HANDSHAKE_PROTOCOL_VERSIONS[-1]) not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._app(scope, receive, send)
        elif scope["method"] != "POST":
            await refusal(405, "There is no session here to listen to or to end.", {"Allow": "POST"})(
                scope, receive, send
            )
        else:
            begins = MCP_SESSION_ID_HEADER not in headers
            await self._app({**scope, _MARK: True}, receive, _naming(send) if begins else send)


def _naming(send: Send) -> Send:
    async def send_with_name(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            MutableHeaders(scope=message)[MCP_SESSION_ID_HEADER] = uuid4().hex
        await send(message)

    return send_with_name


class WithoutSubscriptions(ServerMiddleware[Any]):
    """Says that there are no subscriptions where nobody could be told: rather that than silence."""

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if _MARK not in getattr(ctx.request, "scope", ()):
            return await call_next(ctx)
        if ctx.method in _SUBSCRIBING:
            raise MCPError(
                types.METHOD_NOT_FOUND,
                "This server keeps no sessions, so nobody can be told of changes who speaks a protocol before "
                "2026-07-28. Read the resource again when you need it.",
            )
        result = await call_next(ctx)
        if ctx.method == "initialize":
            return _unsubscribable(result)
        return result


def _unsubscribable(result: HandlerResult) -> HandlerResult:
    """What a server can do, as it greets a client, less subscriptions."""
    if not isinstance(result, types.InitializeResult):
        result = types.InitializeResult.model_validate(result)
    resources = result.capabilities.resources
    if resources is None:
        return result
    capabilities = result.capabilities.model_copy(
        update={"resources": resources.model_copy(update={"subscribe": False})}
    )
    return result.model_copy(update={"capabilities": capabilities})
