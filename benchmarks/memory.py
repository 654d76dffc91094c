"""How much memory many active scopes take, over what the SDK alone takes.

    python benchmarks/memory.py STORE_URL

Two servers over stdio: one of the SDK's with a tool that does nothing, and ours, which answers a question for each of
100 actors of 200 facts. `latency.py` prints the difference too.
"""

from __future__ import annotations

import sys

import anyio
import mcp_types as types
from facts import QUERIES
from mcp.server.lowlevel import Server
from stdio_client import attached

from mcp_memory_server import Actor, MemoryService, RequestContext
from mcp_memory_server.providers.sqlite import open_sqlite
from mcp_memory_server.server import build_server
from mcp_memory_server.server.identity import Ctx
from mcp_memory_server.server.stdio import run_stdio

SCOPES = 100
LIMIT_MB = 60


def measure(url: str) -> tuple[float, float]:
    """Megabytes of the SDK's server and of ours, with all scopes in use."""
    with attached([__file__, "--serve-nothing"]) as client:
        for _ in range(SCOPES):
            client.call("something")
        bare = client.memory_mb()
    with attached([__file__, "--serve", url]) as client:
        for number in range(SCOPES):
            for query in QUERIES:
                client.call("recall_digest", {"query": query}, meta={"actor": f"other-{number}"})
        return bare, client.memory_mb()


async def serve(url: str) -> None:
    """Our server, for the actor that each request names."""

    def identify(ctx: Ctx) -> RequestContext:
        return RequestContext(Actor(str((ctx.meta or {}).get("actor", "nobody"))))

    async with open_sqlite(url) as provider, MemoryService(provider) as service:
        await run_stdio(build_server(service, identify=identify))


async def serve_nothing() -> None:
    async def list_tools(_: object, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="something", input_schema={"type": "object"})])

    async def call_tool(_: object, __: object) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="nothing")])

    await run_stdio(Server("nothing", on_list_tools=list_tools, on_call_tool=call_tool))


def shown(bare: float, ours: float) -> str:
    word = "ok" if ours - bare <= LIMIT_MB else "ABOVE"
    return (
        f"{word}: {SCOPES} active scopes of 200 facts take {ours - bare:.0f} MB over the SDK's {bare:.0f} MB; "
        f"the limit is {LIMIT_MB} MB"
    )


def main() -> None:
    match sys.argv[1:]:
        case ["--serve-nothing"]:
            anyio.run(serve_nothing)
        case ["--serve", url]:
            anyio.run(serve, url)
        case [url]:
            print(shown(*measure(url)))
        case _:
            print(__doc__)


if __name__ == "__main__":
    main()
