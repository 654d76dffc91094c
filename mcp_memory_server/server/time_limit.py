"""How long the handling of one request may take, whatever transport it came over."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError

_STREAMS: Final = frozenset({"subscriptions/listen"})

_limit: ContextVar[anyio.CancelScope | None] = ContextVar("limit", default=None)


class TimeLimit(ServerMiddleware[Any]):
    """Ends the handling of a request that takes too long. A write then left either the old or the new state."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method in _STREAMS or ctx.request_id is None:
            return await call_next(ctx)
        with anyio.move_on_after(self._seconds) as limit:
            before = _limit.set(limit)
            try:
                return await call_next(ctx)
            finally:
                _limit.reset(before)
        raise MCPError(
            types.INTERNAL_ERROR,
            f"The request took longer than {self._seconds:g} s and was ended. If it was to write, read whether it did.",
        )


@contextmanager
def person_is_asked() -> Generator[None]:
    """While a person thinks, no time passes for the request that asks them."""
    limit = _limit.get()
    if limit is None:
        yield
        return
    began, deadline = anyio.current_time(), limit.deadline
    limit.deadline = float("inf")
    try:
        yield
    finally:
        limit.deadline = deadline + anyio.current_time() - began
