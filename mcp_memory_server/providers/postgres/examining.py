"""The state of the store, for its operator."""

from __future__ import annotations

from typing import Final

from mcp_memory_server.providers.base import Condition

from .connection import Database, Transaction

_RECORD: Final = """
INSERT INTO note (name, value) VALUES ('last_maintenance', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""


async def examine(database: Database, language: str | None) -> Condition:
    raise NotImplementedError


async def record_maintenance(db: Transaction, at: str) -> None:
    await db.run(_RECORD, at)


async def last_maintenance(db: Transaction) -> str | None:
    return await db.value("SELECT value FROM note WHERE name = 'last_maintenance'")
