"""From a protocol request to our request context. The actor never comes from what a caller sends."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from mcp.server.context import ServerRequestContext

from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.records import visible_line

from .state import ConnectionState

THREAD_META = "mcp-memory/thread"
"""Key in a request's `_meta` under which a host names its conversation."""
_MAX_THREAD_CHARS = 200
_SESSION_HEADER = "mcp-session-id"
_SESSION_VARIABLE = "session_id"

Ctx = ServerRequestContext[ConnectionState, Any]
Identify = Callable[[Ctx], RequestContext]
"""Who asks: from settings over stdio, from the verified token over HTTP."""


def fixed_actor(actor: Actor, project: str | None = None) -> Identify:
    """Every request is this actor's, as over stdio."""

    def identify(ctx: Ctx) -> RequestContext:
        return RequestContext(actor, project, thread_id=thread_of(ctx))

    return identify


def thread_of(ctx: Ctx) -> str | None:
    """The conversation that the host names, else the session or the connection.

    None where there is neither, as from 2026-07-28 on over HTTP: each request stands for itself there.
    """
    named: object = (ctx.meta or {}).get(THREAD_META)
    if isinstance(named, str) and (line := visible_line(named)):
        return line[:_MAX_THREAD_CHARS]
    if ctx.lifespan_context.thread_id is not None:
        return ctx.lifespan_context.thread_id
    session_id = _session_of(ctx.request)
    # The id opens the session, and the thread is stored with every record: so it is a hash that is kept.
    return f"session-{sha256(session_id.encode()).hexdigest()[:32]}" if session_id else None


def _session_of(request: Any) -> str | None:
    """The session of a request over HTTP: a header of streamable HTTP, a part of the address over SSE."""
    if request is None:
        return None
    return request.headers.get(_SESSION_HEADER) or request.query_params.get(_SESSION_VARIABLE)
