"""An MCP server whose schemas are out to hang its host: `hostile_server.py stdio`, or `http`, which prints its URL.

It lists its tools on two pages. The tool on the second has a header annotation that makes the SDK's own client drop
it without a word.
"""

import os
import socket
import sys
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

PAGES: dict[str | None, list[types.Tool]] = {
    None: [
        types.Tool(
            name=os.environ.get("TOOL_NAME", "search"),
            input_schema={"type": "object", "properties": {"q": {"type": "string", "pattern": "^(a+)+$"}}},
            output_schema={"type": "object", "patternProperties": {r"\s+$": {"type": "string"}}},
        ),
        types.Tool(name="fine", input_schema={"type": "object", "properties": {"id": {"pattern": "^[a-z]+$"}}}),
    ],
    "2": [
        types.Tool(
            name="hidden",
            input_schema={
                "type": "object",
                "x-mcp-header": "at no place where one may stand",
                "properties": {"list": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
                "$defs": {"item": {"type": "string", "pattern": "(x|x)*y"}},
            },
        )
    ],
}


async def list_tools(_: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    cursor = None if params is None else params.cursor
    return types.ListToolsResult(tools=PAGES[cursor], next_cursor=None if cursor else "2")


server = Server[Any]("hostile", version="1", on_list_tools=list_tools)


async def serve_stdio() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp\n")
    sys.stdout.flush()
    await uvicorn.Server(config).serve([listening])


if __name__ == "__main__":
    anyio.run(serve_http if sys.argv[1] == "http" else serve_stdio)
