"""The change feed: what other servers on this database, and this one, say when they commit."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp_memory_server.providers.base import ChangeBatch

from .connection import Database


class Feed:
    """What was heard since this process first asked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def changes(self, after: int | None) -> ChangeBatch:
        raise NotImplementedError


@asynccontextmanager
async def listening(database: Database) -> AsyncGenerator[Feed]:
    yield Feed(database)
