"""What we use of the SDK although it promises nothing about it: these fail first when it moves."""

from contextlib import AsyncExitStack
from typing import Any

import mcp_types as types
from mcp.client import Client
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server

from mcp_memory_server.server.watch import connection_of


async def test_the_private_attribute_of_a_session_that_leads_to_its_connection_exists() -> None:
    seen: list[Connection] = []

    async def list_tools(ctx: Any, _: object) -> types.ListToolsResult:
        seen.append(connection_of(ctx.session))
        return types.ListToolsResult(tools=[])

    async with Client(Server("sdk", on_list_tools=list_tools), mode="legacy") as client:
        await client.list_tools(cache_mode="bypass")
        await client.list_tools(cache_mode="bypass")
    one, other = seen
    assert one is other
    assert isinstance(one.exit_stack, AsyncExitStack)
