"""A real web server in this process, and clients of every kind for it."""

import gc
import warnings
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from sse_starlette.sse import AppStatus

from mcp_memory_server.config import Settings, load_settings
from mcp_memory_server.identity import Actor
from mcp_memory_server.opening import open_service
from mcp_memory_server.server.auth import Authentication, open_authentication
from mcp_memory_server.server.auth.token_file import TokenFile
from mcp_memory_server.server.http.running import WebServer, address_of, listening
from mcp_memory_server.service import MemoryService

ENDPOINTS = ["auto", "legacy", "sse"]
"""How a client may speak: streamable HTTP of either era, or the transport of 2024."""


@dataclass(frozen=True)
class Site:
    """A running server: where it is, its service, and the file of those it lets in."""

    base: str
    service: MemoryService
    web: WebServer
    tokens: TokenFile

    def token(self, actor: Actor, name: str | None = None) -> str:
        return self.tokens.add(name or actor.id, actor, "2026-01-01T00:00:00.000Z")

    @asynccontextmanager
    async def client(self, how: str = "auto", token: str | None = None, **options: Any) -> AsyncGenerator[Client]:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if how == "sse":
            async with Client(sse_client(f"{self.base}/sse", headers=headers), mode="legacy", **options) as client:
                yield client
            return
        mode: Any = how
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(f"{self.base}/mcp", http_client=http), mode=mode, **options) as client,
        ):
            yield client

    @asynccontextmanager
    async def http(self, token: str | None = None) -> AsyncGenerator[httpx2.AsyncClient]:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(base_url=self.base, headers=headers, timeout=30) as client:
            yield client


Serve = Callable[..., AbstractAsyncContextManager[Site]]
"""Starts a server. Takes settings; `authentication` replaces what they say. `tokens=True` asks for tokens of a file."""


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    for name in (*Settings.model_fields, "config"):
        monkeypatch.delenv(f"MCP_MEMORY_{name.upper()}", raising=False)
    file = tmp_path / "tokens.json"

    @asynccontextmanager
    async def start(
        *, tokens: bool = False, authentication: Authentication | None = None, **given: object
    ) -> AsyncGenerator[Site]:
        AppStatus.should_exit = False  # sse-starlette ends the streams of a process for good
        settings = settings_of(given | ({"token_file": str(file)} if tokens else {}))
        with listening("127.0.0.1", 0) as listener:
            url = address_of(listener, settings)
            async with open_authentication(settings, url) as ours, open_service(settings) as service:
                web = WebServer(settings, service, authentication or ours)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(web.run, listener)
                    yield Site(url.rpartition("/")[0], service, web, TokenFile(file))
                    web.stop()

    yield start
    with warnings.catch_warnings():  # the SDK leaves the streams of a connection that was cut to the collector
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def settings_of(given: Mapping[str, object]) -> Settings:
    defaults = {"url": "memory://", "actor": "ann", "transport": "streamable-http,sse"}
    return load_settings({"config": None, **defaults, **given})


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}
