"""From a protocol request to our request context. The actor never comes from what a caller sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.context import ServerRequestContext

from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.records import visible_line

from .state import ConnectionState

THREAD_META = "mcp-memory/thread"
"""Key in a request's `_meta` under which a host names its conversation."""
_MAX_THREAD_CHARS = 200

Ctx = ServerRequestContext[ConnectionState, Any]
Identify = Callable[[Ctx], RequestContext]
"""Who asks: from settings over stdio, from the verified token over HTTP."""


def fixed_actor(actor: Actor, project: str | None = None) -> Identify:
    """Every request is this actor's, as over stdio."""

    def identify(ctx: Ctx) -> RequestContext:
        return RequestContext(actor, project, thread_id=thread_of(ctx))

    return identify


def thread_of(ctx: Ctx) -> str:
    """The conversation that the host names, else one a connection."""
    named: object = (ctx.meta or {}).get(THREAD_META)
    if isinstance(named, str) and (line := visible_line(named)):
        return line[:_MAX_THREAD_CHARS]
    return ctx.lifespan_context.thread_id
