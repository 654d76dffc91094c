"""A crash tells the client that it happened, and nobody what was remembered."""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from mcp_memory_server.errors import StoreBusy
from mcp_memory_server.providers import open_provider
from mcp_memory_server.server.failures import ERROR_CODE_META
from mcp_memory_server.service import MemoryService
from tests.people import ANN
from tests.watched_provider import WatchedProvider

from .answers import called, refused, text_of
from .conftest import Connect

SECRET = "uses Helix"


async def _crashing_store(failure: Exception) -> WatchedProvider:
    provider = WatchedProvider()
    await MemoryService(provider).remember(ANN, "editor", SECRET)
    for name in ("list", "search", "write", "history", "stats", "page"):
        provider.failing[name] = failure
    return provider


async def test_a_tool_that_crashes_says_no_more_than_that(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    provider = await _crashing_store(RuntimeError(f"cannot handle {SECRET!r}"))
    async with connect(MemoryService(provider)) as client:
        for tool, given in (
            ("remember", {"key": "k", "fact": "f"}),
            ("recall_digest", {}),
            ("recall_digest", {"query": "x"}),
            ("forget", {"key": "editor"}),
        ):
            result = await client.call_tool(tool, given)
            assert result.is_error
            assert text_of(result) == f"{tool} failed inside the server; nothing more is known here. See its log."
    assert "RuntimeError" in caplog.text
    assert "Helix" not in caplog.text


READS: list[Callable[[Client], Awaitable[Any]]] = [
    lambda client: client.read_resource("memory://block"),
    lambda client: client.read_resource("memory://digest"),
    lambda client: client.read_resource("memory://stats"),
    lambda client: client.read_resource("memory://records/1"),
    lambda client: client.read_resource("memory://scopes/actor%3Aann"),
    lambda client: client.get_prompt("load_memory"),
    lambda client: client.complete(types.PromptReference(name="load_memory"), {"name": "query", "value": ""}),
]


@pytest.mark.parametrize("reading", READS)
async def test_a_read_that_crashes_is_an_internal_error_without_details(
    connect: Connect, reading: Callable[[Client], Awaitable[Any]], caplog: pytest.LogCaptureFixture
) -> None:
    provider = await _crashing_store(RuntimeError(f"cannot handle {SECRET!r}"))
    async with connect(MemoryService(provider)) as client:
        with pytest.raises(MCPError, match="failed inside the server") as error:
            await reading(client)
    assert error.value.error.code == types.INTERNAL_ERROR
    assert "Helix" not in error.value.error.message + caplog.text


async def test_a_store_that_is_busy_says_to_try_again(connect: Connect) -> None:
    provider = await _crashing_store(StoreBusy(5))
    async with connect(MemoryService(provider)) as client:
        assert "waited 5 s and wrote nothing. Try again." in await refused(client, "remember", key="k", fact="f")
        with pytest.raises(MCPError, match="Try again") as error:
            await client.read_resource("memory://block")
        assert error.value.error.data == {"uri": "memory://block", ERROR_CODE_META: "store_busy"}


async def test_a_session_outlives_a_crash(connect: Connect) -> None:
    provider = await _crashing_store(RuntimeError("once"))
    async with connect(MemoryService(provider)) as client:
        await refused(client, "recall_digest")
        provider.failing.clear()
        assert len((await called(client, "recall_digest"))["entries"]) == 1


async def test_a_journal_that_crashes_neither_fails_a_recall_nor_ends_the_service(connect: Connect) -> None:
    provider = WatchedProvider()
    provider.failing["journal"] = RuntimeError("once")
    async with MemoryService(provider) as service, connect(service) as client:
        assert not (await called(client, "recall_digest", turn_id="1"))["journaled"]
        provider.failing.clear()
        assert (await called(client, "recall_digest", turn_id="2"))["journaled"]


async def test_no_memory_and_no_query_is_logged_even_at_debug(
    connect: Connect, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    async with open_provider(url) as provider, MemoryService(provider) as service, connect(service) as client:
        await called(client, "remember", key="editor", fact=SECRET, tags=["Helixtag"])
        await called(client, "remember", key="editor", fact=f"{SECRET} and Vim")
        await called(client, "recall_digest", query="what of Helixquery?", turn_id="1")
        await client.call_tool("remember", {"key": "editor", "fact": "Helixconflict", "if_version": 1})
        await client.call_tool("remember", {"key": "editor", "fact": "Helixlong" * 50})
        await client.read_resource("memory://digest")
        await called(client, "forget", key="editor")
    logged = [record for record in caplog.records if record.name.startswith(("mcp_memory_server", "aiosqlite"))]
    assert not [record for record in logged if "Helix" in record.getMessage()]
