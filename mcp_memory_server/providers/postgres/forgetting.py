"""Erasing records down to the bytes."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from mcp_memory_server.providers.base import Erasure, ForgetRequest

from .connection import Database, Transaction


@dataclass(frozen=True, slots=True)
class Erased:
    """A record that left the tables."""

    key: str
    scope_id: UUID
    ticket: UUID


async def erase(db: Transaction, request: ForgetRequest) -> Erased | None:
    """Delete the record and all that was derived from it, and open a ticket for its bytes."""
    raise NotImplementedError


async def finish(database: Database, erased: Erased) -> Erasure:
    """Get the bytes of an erasure out of the files, if that can be done at once."""
    raise NotImplementedError


async def complete(database: Database) -> int:
    """Get the bytes out that earlier erasures had to leave, however long it takes; how many are pending still."""
    raise NotImplementedError


async def keep_erasing(database: Database) -> None:
    """Complete what an erasure of any process had to leave, every few seconds, until cancelled."""
    raise NotImplementedError
