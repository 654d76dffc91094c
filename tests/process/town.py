"""Servers on one Postgres, each of which may go and come back, and so may the database; and clients of theirs."""

from __future__ import annotations

import secrets
import sys
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_memory_server.identity import Actor
from mcp_memory_server.server.auth.token_file import TokenFile
from tests.providers import postgres_server

from .session import HANG_S
from .web import web_process

Era = Literal["legacy", "2026-07-28"]
"""Of the protocol: with a handshake, and without."""
ERAS: Final[tuple[Era, ...]] = ("legacy", "2026-07-28")
SERVERS: Final = 3
SERVE: Final = (sys.executable, "-m", "mcp_memory_server", "serve", "--transport", "streamable-http", "--port", "0")


@dataclass
class Town:
    """The servers and their database, each of which may go and come back."""

    folder: Path
    postgres: postgres_server.Server
    settings: dict[str, str]
    tokens: TokenFile
    running: dict[int, ExitStack] = field(default_factory=dict[int, ExitStack])
    ports: list[int] = field(default_factory=lambda: [0] * SERVERS)
    names: Iterator[int] = field(default_factory=count)

    def start(self, *positions: int) -> None:
        """Servers in place of those that were killed; returns when they are ready."""
        with ThreadPoolExecutor() as beside:
            list(beside.map(self._start, positions))

    def kill(self, position: int) -> None:
        self.running.pop(position).close()

    def _start(self, position: int) -> None:
        life = ExitStack()
        web = life.enter_context(web_process(self.folder, f"server-{next(self.names)}", command=SERVE, **self.settings))
        self.running[position] = life
        self.ports[position] = int(web.base.rpartition(":")[2])

    def token(self, name: str) -> str:
        return self.tokens.add(f"{name}-{secrets.token_hex(4)}", Actor(name), "2026-01-01T00:00:00.000Z")


@asynccontextmanager
async def attached(base: str, token: str, era: Era, **options: Any) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=HANG_S) as http,
        Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=era, **options) as client,
    ):
        yield client
