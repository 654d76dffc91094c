"""Upserts and pins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from mcp_memory_server.providers.base import PinRequest, ReviseRequest, WriteRequest, Written
from mcp_memory_server.records import MemoryRecord

from .connection import Transaction
from .names import place_of, stored

# Number and generation rise under the lock of the scope's row, on which writers of the scope queue. A number is the time
# of the first writing in microseconds, so that records of several scopes, too, are in the order of writing.
_LOCK: Final = """
INSERT INTO scope (scope_id, token, generation, last_number) VALUES ($1, $2, 0, 0)
ON CONFLICT (scope_id) DO UPDATE SET generation = scope.generation
RETURNING generation, last_number, pg_current_xact_id()::text
"""
_ADVANCE: Final = """
UPDATE scope SET generation = generation + 1 WHERE scope_id = $1 RETURNING generation
"""
_NEXT_NUMBER: Final = """
UPDATE scope
SET last_number = greatest(last_number + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
WHERE scope_id = $1 RETURNING last_number
"""


class ScopeGeneration(NamedTuple):
    """A scope's place, and its generation in the running transaction."""

    scope_id: UUID
    generation: int


async def lock(db: Transaction, scope: str) -> UUID:
    """Wait until no other transaction writes at the scope, and keep others waiting until this one ends."""
    place = place_of(scope)
    row = await db.row(_LOCK, place, stored(scope))
    assert row is not None
    db.id = int(row[2])
    return place


async def advance(db: Transaction, scope: str) -> ScopeGeneration:
    """Begin the scope's next generation, which tells every cache of its rows that it is stale. Locked already."""
    place = place_of(scope)
    return ScopeGeneration(place, await db.value(_ADVANCE, place))


def announce(db: Transaction, scope: str, record_id: str) -> None:
    """Tell all who listen, once the transaction commits."""
    db.changed[scope, record_id] = None


async def write(db: Transaction, request: WriteRequest, lexical: bytes) -> Written:
    """Upsert; `lexical` is the ranking signature of the new fact."""
    raise NotImplementedError


async def write_many(
    db: Transaction, requests: Sequence[WriteRequest], lexical: Sequence[bytes]
) -> tuple[Written, ...]:
    """Upsert in order, in the running transaction."""
    raise NotImplementedError


async def add_signature(
    db: Transaction, place: ScopeGeneration, number: int, record: MemoryRecord, lexical: bytes
) -> None:
    """What ranking reads of the record, in place of what it read before."""
    raise NotImplementedError


async def revise(db: Transaction, request: ReviseRequest, language: str | None) -> Written | None:
    """The next version of the record, in its place. `language` is that of the ranking signature.

    It is made of the text that is held: the request's is not what counts.
    """
    raise NotImplementedError


async def pin(db: Transaction, request: PinRequest) -> MemoryRecord | None:
    raise NotImplementedError
