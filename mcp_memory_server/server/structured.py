"""The data of an answer, on their way around the SDK's check of results.

Whatever a handler returns the SDK checks, and copies value by value, before it goes over the wire. Structured content
is JSON by then, in the form of a published schema, and nine tenths of a recall's answer. So it is taken out before
that and put back behind it: into the same field, which every version of the protocol that is served has.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

_FIELD: Final = "structuredContent"

_taken: ContextVar[list[dict[str, Any]] | None] = ContextVar("taken", default=None)


def wire_form(result: types.CallToolResult) -> dict[str, Any]:
    """A result as JSON. Its data are left to `StructuredContent`, where that is at work."""
    wire = result.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"structured_content"})
    data, taken = result.structured_content, _taken.get()
    if data is not None:
        if taken is None:
            wire[_FIELD] = data
        else:
            taken.append(data)
    return wire


class StructuredContent(ServerMiddleware[Any]):
    """Puts the data of a tool's answer into what the SDK made of the rest of it."""

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        taken: list[dict[str, Any]] = []
        before = _taken.set(taken)
        try:
            result = await call_next(ctx)
        finally:
            _taken.reset(before)
        if taken and isinstance(result, dict):
            result[_FIELD] = taken[-1]
        return result
