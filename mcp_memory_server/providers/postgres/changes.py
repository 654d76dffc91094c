"""The change feed: what this server and the others on the database say when they commit.

Postgres passes a notification on before it answers the next question on a connection that listens. So a question that
asks nothing is enough to have heard of everything that was committed, and acknowledged to anybody, before.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from itertools import islice
from typing import Any, Final

import anyio

from mcp_memory_server.providers.base import Change, ChangeBatch

from .connection import Database, drop, end
from .notices import CHANNEL, change_of

_KEPT: Final = 10_000
"""A reader that is further behind is told that there is a gap."""


class Feed:
    """What was heard since this process first asked, numbered as it came. Use `listening`.

    A cursor means something to the feed that gave it only. What is said while no connection listens is lost, so what
    was heard before a new connection is forgotten, and every cursor of before it has a gap.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Any = None
        self._asking = anyio.Lock()
        self._heard = deque[Change](maxlen=_KEPT)
        # Above every cursor that an earlier feed can have given, unless that one heard a million changes a second.
        self._newest = time.time_ns() // 1_000

    async def changes(self, after: int | None) -> ChangeBatch:
        async with self._asking:
            await self._database.retried(self._catch_up)
        behind = 0 if after is None else self._newest - after
        if behind <= 0:
            return ChangeBatch(self._newest, (), gap=behind < 0)
        first = max(0, len(self._heard) - behind)
        return ChangeBatch(self._newest, tuple(islice(self._heard, first, None)), gap=behind > len(self._heard))

    async def _catch_up(self) -> None:
        # Shielded: a caller who goes away must not cost the others what was heard.
        with anyio.CancelScope(shield=True):
            if self._connection is None or self._connection.is_closed():
                self._connection = await self._connect()
                self._lose_track()
            with _ended_unless_well(self._connection):
                await self._connection.fetchval("SELECT 1", timeout=self._database.limits.busy_timeout_s)

    async def _connect(self) -> Any:
        connection = await self._database.connect()
        with _ended_unless_well(connection):
            await connection.add_listener(CHANNEL, self._hear)
        return connection

    def _hear(self, _connection: object, _process: int, _channel: str, notice: object) -> None:
        change = change_of(str(notice))
        if change is None:
            self._lose_track()
        else:
            self._heard.append(change)
            self._newest += 1

    def _lose_track(self) -> None:
        """Anything may have changed, for whoever has a cursor."""
        self._heard.clear()
        self._newest += 1

    async def close(self) -> None:
        if self._connection is not None:
            with anyio.CancelScope(shield=True):
                await end(self._connection)


@asynccontextmanager
async def listening(database: Database) -> AsyncGenerator[Feed]:
    """A feed of the database, which connects when it is first asked: who never asks needs no connection for it."""
    feed = Feed(database)
    try:
        yield feed
    finally:
        await feed.close()


@contextmanager
def _ended_unless_well(connection: Any) -> Generator[None]:
    """A connection that failed once may have lost something, or be dead without anybody knowing."""
    well = False
    try:
        yield
        well = True
    finally:
        if not well:
            drop(connection)
