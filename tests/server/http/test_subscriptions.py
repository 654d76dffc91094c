"""Who hears of which change over HTTP, where one watch serves every connection."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.exceptions import MCPError

from mcp_memory_server.identity import Actor
from mcp_memory_server.server import watch
from tests.server.answers import called

from .conftest import ACCEPT, ENDPOINTS, Serve, Site

pytestmark = pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed:UserWarning")

ANN, BOB, EVE = Actor("ann", "acme"), Actor("bob", "acme"), Actor("eve", "globex")
URIS = ["memory://block", "memory://scopes/actor%3Aann", "memory://scopes/tenant%3Aacme"]


@asynccontextmanager
async def hearing(
    site: Site, how: str, token: str | None, uris: list[str] = URIS
) -> AsyncGenerator[MemoryObjectReceiveStream[str]]:
    send, heard = anyio.create_memory_object_stream[str](100)

    async def hear(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            await send.send(str(message.params.uri))

    async with send, heard, site.client(how, token, message_handler=hear) as client:
        if how == "auto":
            async with client.listen(resource_subscriptions=uris):
                yield heard
            return
        for uri in uris:
            await client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]
        await client.list_tools()
        yield heard


async def told(heard: MemoryObjectReceiveStream[str], count: int) -> list[str]:
    with anyio.fail_after(10):
        return sorted([await heard.receive() for _ in range(count)])


@pytest.mark.parametrize("how", ENDPOINTS)
async def test_a_subscriber_hears_of_what_it_may_read_and_of_nothing_else(serve: Serve, how: str) -> None:
    async with serve(tokens=True) as site:
        ann, bob, eve = (site.token(actor) for actor in (ANN, BOB, EVE))
        async with (
            hearing(site, how, ann) as hers,
            hearing(site, how, bob) as his,
            hearing(site, how, eve) as theirs,
            site.client("auto", ann) as writer,
            site.client("auto", eve) as stranger,
        ):
            await called(writer, "remember", key="office", fact="Lyon")
            assert await told(hers, 2) == sorted(URIS[:2])
            await called(stranger, "remember", key="office", fact="Brno")
            assert await told(theirs, 1) == ["memory://block"]
            for stream in (hers, his, theirs):  # whoever was told too much would have been by now
                assert stream.statistics().current_buffer_used == 0


@pytest.mark.parametrize("how", ENDPOINTS)
async def test_who_goes_leaves_nothing_behind(serve: Serve, how: str) -> None:
    async with serve() as site:
        async with hearing(site, how, None):
            assert site.web.subscribers == 1
        with anyio.fail_after(10):
            while site.web.subscribers:  # noqa: ASYNC110  # the server sees the end of a connection when it does
                await anyio.sleep(0.02)


async def test_who_does_not_read_holds_nobody_up(serve: Serve) -> None:
    """A stream that is open and never read, beside one that is told at once, again and again."""
    async with serve() as site, site.http() as http:
        headers = {**ACCEPT, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
        meta: dict[str, Any] = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"_meta": meta, "notifications": {"resourceSubscriptions": URIS}}
        request = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
        async with (
            http.stream("POST", "/mcp", json=request, headers=headers) as stuck,
            hearing(site, "auto", None, ["memory://block"]) as heard,
            site.client() as writer,
        ):
            assert stuck.status_code == 200
            for number in range(20):
                await called(writer, "remember", key="office", fact=f"number {number}")
                assert await told(heard, 1) == ["memory://block"]


async def test_one_caller_leaves_room_for_others(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_MOST_OF_ONE", 1)
    async with serve(tokens=True) as site:
        ann, bob = site.token(ANN), site.token(BOB)
        async with (
            hearing(site, "legacy", ann),
            site.client("legacy", ann) as second,
            site.client("auto", bob) as other,
        ):
            with pytest.raises(MCPError, match="Too many subscribers"):
                await second.subscribe_resource("memory://block")  # pyright: ignore[reportDeprecated]
            async with other.listen(resource_subscriptions=["memory://block"]):
                assert site.web.subscribers == 2
