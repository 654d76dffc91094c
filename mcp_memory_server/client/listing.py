"""Reads what any MCP server publishes as its tools, trusting nothing of it.

No foreign pattern is compiled here. The SDK's client compiles an output schema when a tool is called, which never
happens, and only for tools that went through its own listing, which this does not use: that one also drops tools
with odd headers in silence, so that a server could keep a schema from being checked here and still show it to others.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TextIO, cast

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from .started import RememberingLoop, ending

_MOST_TOOLS: Final = 10_000
_MOST_PAGES: Final = 1_000
_LARGEST_EVENT: Final = 64 * 2**20
"""Bytes of a page. The SDK's own limit is a megabyte, which large listings pass."""
_LOG_LINES: Final = 10
_LOG_CHARS: Final = 4_000

Tool = dict[str, object]


@dataclass(frozen=True, slots=True)
class Command:
    """A server to be started over stdio. It gets a small environment, as hosts give it, and `environment` besides."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


class ServerUnusable(Exception):
    """The server cannot be reached, or does not keep to the protocol. The message says how; it may quote the server."""


def list_tools(server: Command | str, timeout_s: float) -> list[Tool]:
    """`read_tools` in an event loop of its own, which can tell how a process has ended.

    Raises:
        ServerUnusable
    """
    return anyio.run(read_tools, server, timeout_s, backend_options={"loop_factory": RememberingLoop})


async def read_tools(server: Command | str, timeout_s: float) -> list[Tool]:
    """Name, input schema and output schema of every tool, in the server's order, as tools/list writes them.

    `server` is a command or the URL of a streamable HTTP endpoint. Nothing is called, and whatever the server asks
    of its client is declined.

    Raises:
        ServerUnusable: also when all that takes longer than `timeout_s`.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log, _sdk_silent():
        try:
            with anyio.fail_after(timeout_s):
                async with Client(_transport(server, log), cache=None) as client:
                    return [_plain(tool) for tool in await _all_tools(client)]
        except Exception as error:  # the SDK lets through whatever its transports raise, in groups
            raise ServerUnusable(f"{_reason(error, timeout_s)}{_last_lines(log)}") from error


def _transport(server: Command | str, log: TextIO) -> AbstractAsyncContextManager[Any]:
    if isinstance(server, str):
        return streamable_http_client(server, max_sse_event_size=_LARGEST_EVENT)
    command, *arguments = server.words
    started = StdioServerParameters(command=command, args=arguments, env=dict(server.environment))
    return stdio_client(started, errlog=log)


async def _all_tools(client: Client) -> list[types.Tool]:
    tools: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        request = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
        try:
            page = await client.session.send_request(request, types.ListToolsResult)
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND and client.server_capabilities.tools is None:
                return []
            raise
        tools.extend(page.tools)
        if page.next_cursor is None:
            return tools
        if page.next_cursor == cursor or len(tools) > _MOST_TOOLS:
            break
        cursor = page.next_cursor
    raise ServerUnusable(f"Its list of tools does not end; {len(tools)} were read.")


def _plain(tool: types.Tool) -> Tool:
    return {"name": tool.name, "inputSchema": tool.input_schema, "outputSchema": tool.output_schema}


@contextmanager
def _sdk_silent() -> Generator[None]:
    """The SDK logs what servers do wrong, with tracebacks; here that is an answer, given once."""
    logger = logging.getLogger("mcp")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


def _reason(error: Exception, timeout_s: float) -> str:
    first = next(_leaves(error))
    match first:
        case ServerUnusable():
            return str(first)
        case TimeoutError():
            return f"It did not list its tools within {timeout_s:g} s."
        case MCPError() if first.error.code == types.CONNECTION_CLOSED:
            how = ending()
            return f"It {how} before it had listed its tools." if how else "It ended the connection."
        case MCPError():
            return f"It answered with an error: {first.error.message} ({first.error.code})."
        case ValidationError():
            fault = first.errors(include_input=False, include_url=False)[0]
            where = ".".join(map(str, fault["loc"]))
            return f"Its answer is not as the protocol says: {fault['msg']} at {where}."
        case OSError() if first.strerror:
            return f"It cannot be started or reached: {first.strerror}."
        case _:
            return f"It cannot be reached or understood: {first or type(first).__name__}."


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions inside nested groups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _last_lines(log: TextIO) -> str:
    """What the server said last on its standard error, as lines to append."""
    size = log.seek(0, 2)
    log.seek(max(0, size - _LOG_CHARS))
    lines = log.read().splitlines()[-_LOG_LINES:]
    return "".join(f"\n  {line}" for line in ("It wrote to standard error:", *lines)) if lines else ""
