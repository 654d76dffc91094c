"""Signatures that are not what this release, with its settings, would write: finding them and writing them anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from mcp_memory_server.providers.signatures import epoch_ms, signature_of
from mcp_memory_server.records import MemoryRecord

from .aside import aside
from .columns import COLUMNS, record_of
from .connection import Transaction
from .names import place_of, stored, told
from .turns import begin_at_held

# What one transaction looks at: few enough that writers of other processes need not wait long.
_BATCH: Final = 1_000
_SIGNED: Final = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number, scope.token, signature.lexical
FROM memory JOIN scope ON scope.scope_id = memory.scope_id
LEFT JOIN signature ON signature.scope_id = memory.scope_id AND signature.number = memory.number
WHERE (memory.scope_id, memory.number) > ($1, $2) AND memory.status = 'active'
ORDER BY memory.scope_id, memory.number LIMIT {_BATCH}
"""
# Vectors stay. The scopes are locked, so their generations stay what they are until the end.
_SIGN_ANEW: Final = """
WITH given AS (
    SELECT * FROM unnest(
        $1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::bytea[]
    ) AS given (place, number, version, key, thread, time_ms, lexical, held)
), signed AS (
    INSERT INTO signature (scope_id, number, generation, key, thread, time_ms, lexical)
    SELECT place, given.number, scope.generation + 1, given.key, given.thread, given.time_ms, given.lexical
    FROM given
    JOIN memory ON memory.scope_id = given.place AND memory.number = given.number AND memory.version = given.version
    JOIN scope ON scope.scope_id = given.place
    LEFT JOIN signature AS current ON current.scope_id = given.place AND current.number = given.number
    WHERE memory.scope_id = ANY($1) AND memory.status = 'active' AND scope.scope_id = ANY($1)
      AND current.lexical IS NOT DISTINCT FROM given.held
    ON CONFLICT (scope_id, number) DO UPDATE SET generation = excluded.generation, lexical = excluded.lexical
    RETURNING scope_id
)
UPDATE scope SET generation = generation + 1 WHERE scope_id = ANY($1) AND scope_id IN (SELECT scope_id FROM signed)
"""


@dataclass(frozen=True, slots=True)
class Stale:
    """A record whose signature has to be written, and what it has to be."""

    number: int
    record: MemoryRecord
    lexical: bytes
    held: bytes | None
    """What the store has in its place; None where it has nothing."""


class Position(NamedTuple):
    """A record's place in the order in which all are looked at."""

    scope_id: UUID = UUID(int=0)
    number: int = 0


_BEFORE_ALL: Final = Position()


@dataclass(frozen=True, slots=True)
class Batch:
    """Those found after some position, up to `last`."""

    stale: tuple[Stale, ...] = ()
    last: Position = _BEFORE_ALL
    goes_on: bool = True


async def stale(db: Transaction, after: Position, language: str | None) -> Batch:
    """Encode the next records anew, and compare. For an operator's act over the whole store."""
    rows = await db.rows(_SIGNED, *after)
    found = await aside(len(rows), lambda: _stale(rows, language), most_at_once=0)
    return Batch(found, Position(*rows[-1][-4:-2]) if rows else after, goes_on=len(rows) == _BATCH)


def _stale(rows: Sequence[Sequence[Any]], language: str | None) -> tuple[Stale, ...]:
    found: list[Stale] = []
    for row in rows:
        _, number, scope, held = row[-4:]
        record = record_of(told(scope), row)
        lexical = signature_of(record, language)
        if lexical != held:
            found.append(Stale(number, record, lexical, held))
    return tuple(found)


async def sign(db: Transaction, found: Sequence[Stale]) -> None:
    """Write these signatures, except where the record was replaced or signed meanwhile. Vectors stay.

    The version of one that was restored may be the one that was read, and its text another.
    """
    if not found:
        return
    await begin_at_held(db, {wanted.record.scope for wanted in found})
    rows = [
        (
            place_of(wanted.record.scope),
            wanted.number,
            wanted.record.version,
            stored(wanted.record.key),
            stored(wanted.record.origin.thread_id or ""),
            epoch_ms(wanted.record.updated_at),
            wanted.lexical,
            wanted.held,
        )
        for wanted in found
    ]
    await db.run(_SIGN_ANEW, *map(list, zip(*rows, strict=True)))
