"""Upserts and pins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uuid6 import uuid7

from mcp_memory_server.providers.base import PinRequest, ReviseRequest, WriteRequest, Written
from mcp_memory_server.providers.rows import ALONG, PINNED
from mcp_memory_server.providers.signatures import signature_of
from mcp_memory_server.providers.versions import next_version, revised, superseded, target_lane
from mcp_memory_server.records import MemoryRecord

from .columns import COLUMNS
from .connection import Transaction
from .names import is_storable, place_of, stored
from .turns import Held, Turn, announce, begin, begin_at_held

_OF_KEYS = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number, NULL
FROM unnest($1::uuid[], $2::text[], $3::text[]) AS asked (place, key, lane)
JOIN memory ON memory.scope_id = asked.place AND memory.key = asked.key
WHERE memory.scope_id = ANY($1)
"""
_CURRENT: Final = f"{_OF_KEYS} AND memory.lane = asked.lane"
_WAITING: Final = f"{_OF_KEYS} AND memory.status = 'quarantined'"
_BY_IDS: Final = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number, signature.lexical
FROM unnest($1::uuid[], $2::text[]) AS asked (place, id)
JOIN memory ON memory.scope_id = asked.place AND memory.id = asked.id
LEFT JOIN signature ON signature.scope_id = memory.scope_id AND signature.number = memory.number
WHERE memory.scope_id = ANY($1)
"""
# The signature is touched for the caches that hold decoded records beside it.
_PIN: Final = f"""
WITH advanced AS (UPDATE scope SET generation = generation + 1 WHERE scope_id = $1 RETURNING generation),
    pinned AS (UPDATE memory SET pinned = (pinned & {ALONG}) | $3 WHERE scope_id = $1 AND number = $2)
UPDATE signature SET generation = advanced.generation FROM advanced WHERE scope_id = $1 AND number = $2
"""


async def write(db: Transaction, request: WriteRequest, lexical: bytes) -> Written:
    """Upsert; `lexical` is the ranking signature of the new fact."""
    (written,) = await write_many(db, [request], [lexical])
    return written


async def write_many(
    db: Transaction, requests: Sequence[WriteRequest], lexical: Sequence[bytes]
) -> tuple[Written, ...]:
    """Upsert in order, in the running transaction."""
    turn = await begin(db, (request.scope for request in requests))
    await _meet_what_they_are_about(turn, requests)
    written = tuple(_write(turn, request, signature) for request, signature in zip(requests, lexical, strict=True))
    await turn.end()
    return written


async def _meet_what_they_are_about(turn: Turn, requests: Sequence[WriteRequest]) -> None:
    named = [request for request in requests if is_storable(request.scope) and is_storable(request.key)]
    places = [(request.scope, request.key, target_lane(request)) for request in named]
    await meet_current(turn, [place for place in places if is_storable(place[2])])
    waiting = {(request.scope, request.key, "") for request in named if request.status == "quarantined"}
    if waiting:
        await _meet(turn, _WAITING, sorted(waiting))
    superseding = [(request.scope, request.supersedes) for request in named if request.supersedes is not None]
    await meet_ids(turn, superseding)


def _write(turn: Turn, request: WriteRequest, lexical: bytes) -> Written:
    current = turn.current(request.scope, request.key, target_lane(request))
    waiting = turn.waiting(request.scope, request.key) if request.status == "quarantined" else ()
    written = next_version(current and current.record, request, str(uuid7()), waiting)
    if written.status != "unchanged":
        if request.supersedes is not None and written.record.status == "active":
            close_superseded(turn, written.record)
        if written.previous is not None:
            turn.keep(written.previous)
        turn.put(written.record, lexical)
    return written


def close_superseded(turn: Turn, by: MemoryRecord) -> None:
    """Close the record whose place another one takes, which must have been met if it is there.

    Raises:
        InvalidInput: it is not, or not active.
    """
    old = turn.find(by.scope, by.supersedes or "")
    closing = superseded(old and old.record, by)
    assert old is not None
    turn.keep(old.record)
    # Its words are as they were.
    turn.put(closing, signature_of(closing) if old.lexical is None else old.lexical)


async def meet_current(turn: Turn, places: Sequence[tuple[str, str, str]]) -> None:
    """Read the current records of these (scope, key, lane), all of which must be storable."""
    if places:
        await _meet(turn, _CURRENT, places)


async def meet_ids(turn: Turn, names: Sequence[tuple[str, str]]) -> None:
    """Read the records of these (scope, id), with their signatures."""
    held = [(scope, id) for scope, id in names if is_storable(scope) and is_storable(id)]
    if held:
        await _meet(turn, _BY_IDS, held)


async def _meet(turn: Turn, query: str, asked: Sequence[tuple[str, ...]]) -> None:
    places = [place_of(scope) for scope, *_ in asked]
    columns = zip(*([stored(part) for part in parts] for _, *parts in asked), strict=True)
    for row in await turn.db.rows(query, places, *map(list, columns)):
        turn.meet(row)


async def revise(db: Transaction, request: ReviseRequest, language: str | None) -> Written | None:
    """The next version of the record, in its place. `language` is that of the ranking signature.

    It is made of the text that is held: the request's is not what counts.
    """
    turn, held = await begin_with(db, request.record.scope, request.record.id)
    if held is None:
        return None
    written = revised(held.record, request)
    if written.previous is not None:
        turn.keep(written.previous)
        turn.put(written.record, signature_of(written.record, language))
        await turn.end()
    return written


async def pin(db: Transaction, request: PinRequest) -> MemoryRecord | None:
    _, held = await begin_with(db, request.scope, request.id)
    if held is None:
        return None
    if held.record.pinned != request.pinned:
        await db.run(_PIN, place_of(request.scope), held.number, PINNED if request.pinned else 0)
        announce(db, request.scope, request.id)
    return held.record.model_copy(update={"pinned": request.pinned})


async def begin_with(db: Transaction, scope: str, id: str) -> tuple[Turn, Held | None]:
    """A turn at the scope, and the current record of that id there."""
    turn = await begin_at_held(db, [scope])
    await meet_ids(turn, [(scope, id)])
    return turn, turn.find(scope, id)
