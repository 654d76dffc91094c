"""Signatures that are not what this release, with its settings, would write: finding them and writing them anew."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from mcp_memory_server.records import MemoryRecord

from .connection import Transaction


@dataclass(frozen=True, slots=True)
class Stale:
    """A record whose signature has to be written, and what it has to be."""

    number: int
    record: MemoryRecord
    lexical: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """Those found after some place, up to `last`."""

    stale: tuple[Stale, ...] = ()
    last: tuple[UUID, int] = (UUID(int=0), 0)
    goes_on: bool = True


async def stale(db: Transaction, after: tuple[UUID, int], language: str | None) -> Batch:
    """Encode the next records anew, and compare. To be run over the whole store."""
    raise NotImplementedError


async def sign(db: Transaction, found: tuple[Stale, ...]) -> None:
    """Write these signatures, except where the record was replaced meanwhile. Vectors stay."""
    raise NotImplementedError
