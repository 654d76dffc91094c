"""Reading what a server answered."""

import json
from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError


def text_of(result: types.CallToolResult) -> str:
    """The one text block of a tool's result."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def data_of(result: types.CallToolResult) -> dict[str, Any]:
    """The structured content of a result that is no error."""
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured content of a call that succeeds."""
    return data_of(await client.call_tool(tool, arguments))


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a call that fails, which must be flagged as an error and carry no data."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    return text_of(result)


async def read(client: Client, uri: str) -> str:
    """The text of a resource."""
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, types.TextResourceContents)
    assert contents.uri == uri
    return contents.text


async def read_json(client: Client, uri: str) -> Any:
    return json.loads(await read(client, uri))


async def not_readable(client: Client, uri: str) -> MCPError:
    """The error of a resource that cannot be read."""
    with pytest.raises(MCPError) as error:
        await client.read_resource(uri)
    assert error.value.error.data["uri"] == uri
    return error.value
