"""Metrics through OpenTelemetry's interface, which the SDK brings and also traces with: nothing without an exporter.

Counts and durations, by method and tool; never an argument, a text, or a name of a scope or an actor.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from typing import Any, Final

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError
from opentelemetry import metrics

from mcp_memory_server.errors import MemoryServerError
from mcp_memory_server.providers.base import MemoryProvider, can_browse

logger = logging.getLogger(__name__)

SIZE_EVERY_S: Final = 60.0
_METER: Final = "mcp_memory_server"
_STREAMS: Final = frozenset({"subscriptions/listen"})
_BOUNDS_S: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class Metrics(ServerMiddleware[Any]):
    """Counts requests and how long they take. Only the names `tools` become labels: a client makes up others."""

    def __init__(self, tools: Collection[str]) -> None:
        self._tools = frozenset(tools)
        self._duration = metrics.get_meter(_METER).create_histogram(
            "mcp.server.operation.duration",
            unit="s",
            description="How long requests take.",
            explicit_bucket_boundaries_advisory=_BOUNDS_S,
        )

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None or ctx.method in _STREAMS:
            return await call_next(ctx)
        labels = {"mcp.method.name": ctx.method}
        name = (ctx.params or {}).get("name")
        if ctx.method == "tools/call" and name in self._tools:
            labels["gen_ai.tool.name"] = str(name)
        began = time.monotonic()
        try:
            result = await call_next(ctx)
        except BaseException as error:
            code = error.error.code if isinstance(error, MCPError) else type(error).__name__
            self._duration.record(time.monotonic() - began, labels | {"error.type": str(code)})
            raise
        if (failure := _failure_of(result)) is not None:
            labels["error.type"] = failure
        self._duration.record(time.monotonic() - began, labels)
        return result


async def measure_store(provider: MemoryProvider) -> None:
    """Measure the store now and then, until cancelled; never where nobody takes the figures."""
    if not can_browse(provider) or not _is_exported():
        return
    meter = metrics.get_meter(_METER)
    records = meter.create_gauge("mcp_memory.store.records", description="Records in the store.")
    versions = meter.create_gauge("mcp_memory.store.versions", description="Records, and the versions they replaced.")
    while True:
        try:
            stats = await provider.stats(await provider.scopes())
        except MemoryServerError as error:
            logger.warning("the size of the store cannot be measured (%s)", error.code)
        else:
            records.set(stats.records)
            versions.set(stats.versions)
        await anyio.sleep(SIZE_EVERY_S)


def _failure_of(result: HandlerResult) -> str | None:
    """The stable code of our own error, where a tool failed. Results come by here as they go over the wire."""
    match result:
        case {"isError": True, "_meta": {"mcp-memory/error": code}}:
            return str(code)
        case {"isError": True}:
            return "tool_error"
        case _:
            return None


def _is_exported() -> bool:
    """Whether a process has set up more than the interface."""
    return not type(metrics.get_meter_provider()).__module__.startswith("opentelemetry.metrics.")
