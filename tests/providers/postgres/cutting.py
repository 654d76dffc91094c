"""A network that breaks when a write is committed: a proxy before the tests' Postgres."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

_BEGINS: Final = b"BEGIN ISOLATION LEVEL"
_WRITES: Final = b"BEGIN ISOLATION LEVEL READ COMMITTED;"
_COMMITS: Final = b"COMMIT\0"


class Cut(Enum):
    """Where the connection of a writer breaks."""

    LOST = "the commit never arrives"
    UNHEARD = "the commit arrives, and its answer does not"
    SILENT = "the commit never arrives, and the server does not hear that the writer is gone"


@dataclass
class Network:
    """Where the store is reached through the proxy; `next_cut` is what happens at the next commit of a write.

    `stays_away`: after a cut nobody is let through any more, until it is False again.
    """

    url: str = ""
    next_cut: Cut | None = None
    cuts: int = 0
    stays_away: bool = False

    def take_cut(self) -> Cut | None:
        cut, self.next_cut = self.next_cut, None
        self.cuts += cut is not None
        return cut


@dataclass
class _Link:
    """One connection through the proxy."""

    network: Network
    client: tuple[asyncio.StreamReader, asyncio.StreamWriter]
    server: tuple[asyncio.StreamReader, asyncio.StreamWriter]
    writes: bool = False
    is_deaf: bool = False

    async def to_server(self) -> None:
        while data := await self.client[0].read(65536):
            if _BEGINS in data:
                self.writes = _WRITES in data
            cut = self.network.take_cut() if self.writes and _COMMITS in data else None
            if cut is Cut.UNHEARD:
                self.is_deaf = True
            if cut in {Cut.LOST, Cut.SILENT}:
                self.client[1].close()
                if cut is Cut.LOST:
                    self.server[1].close()
                return
            self.server[1].write(data)
            await self.server[1].drain()
        self.server[1].close()

    async def to_client(self) -> None:
        while data := await self.server[0].read(65536):
            if self.is_deaf:
                break  # the commit was answered, so it was done
            self.client[1].write(data)
            await self.client[1].drain()
        self.client[1].close()

    def end(self) -> None:
        self.client[1].close()
        self.server[1].close()


@asynccontextmanager
async def cutting(url: str) -> AsyncGenerator[Network]:
    """A proxy before the server at `url`."""
    network = Network()

    links: dict[asyncio.Task[None], _Link] = {}

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if network.stays_away and network.cuts:
            writer.close()
            return
        link = _Link(network, (reader, writer), await _reach(url))
        task = asyncio.current_task()
        assert task is not None
        links[task] = link
        with contextlib.suppress(OSError):
            await asyncio.gather(link.to_server(), link.to_client())

    server = await asyncio.start_server(connect, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    parts = urlsplit(url)
    user = parts.netloc.rpartition("@")[0]
    network.url = urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{port}", query="sslmode=disable"))
    try:
        yield network
    finally:
        server.close()
        for link in links.values():
            link.end()
        await asyncio.wait(links)


async def _reach(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    host = unquote(parts.hostname or parse_qs(parts.query).get("host", ["localhost"])[0])
    if host.startswith("/"):
        return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{parts.port or 5432}")
    return await asyncio.open_connection(host, parts.port or 5432)
