"""How long a request may take."""

import anyio
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from mcp_memory_server.server.time_limit import TimeLimit, person_is_asked


def server(seconds: float, think_s: float, work_s: float) -> Server[dict[str, object]]:
    """Its one tool asks a person, and works afterwards."""

    async def call(*_: object) -> types.CallToolResult:
        with person_is_asked():
            await anyio.sleep(think_s)
        await anyio.sleep(work_s)
        return types.CallToolResult(content=[])

    async def tools(*_: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])

    made = Server("slow", on_call_tool=call, on_list_tools=tools)
    made.middleware.append(TimeLimit(seconds))
    return made


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_request_that_takes_too_long_is_ended_and_says_so(era: str) -> None:
    mode: object = era
    async with Client(server(0.05, 0, 3600), mode=mode) as client:  # pyright: ignore[reportArgumentType]
        with anyio.fail_after(10), pytest.raises(MCPError, match=r"longer than 0\.05 s"):
            await client.call_tool("anything")
        assert (await client.list_tools()).tools == []


async def test_while_a_person_thinks_no_time_passes() -> None:
    async with Client(server(0.2, 0.5, 0)) as client:
        assert not (await client.call_tool("anything")).is_error
    async with Client(server(0.2, 0.5, 3600)) as client:
        with anyio.fail_after(10), pytest.raises(MCPError, match="longer"):
            await client.call_tool("anything")


def test_without_a_limit_a_person_may_be_asked_too() -> None:
    with person_is_asked():
        pass
