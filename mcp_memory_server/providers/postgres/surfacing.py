"""Which records each conversation was shown.

A conversation stands under a hash of its actor. What it was shown stands at the records' own scopes, so that erasing a
record stays with its scope; the conversation keeps which scopes those are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from mcp_memory_server.providers.base import PruneRequest, Surfaced, SurfacedLookup, SurfaceRequest

from .connection import Database, Transaction
from .names import is_storable, place_of, place_of_actor, places_of, stored, stored_names, told

_TOUCH: Final = """
INSERT INTO conversation (scope_id, id, actor_id, at, scopes) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (scope_id, id) DO UPDATE SET at = greatest(conversation.at, excluded.at), scopes = ARRAY(
    SELECT DISTINCT token FROM unnest(conversation.scopes || excluded.scopes) AS token ORDER BY token
)
"""
# From the records themselves, so that one which is not held is not added; locked, so that one which is being erased is
# waited for, and one that is erased next takes this row with it.
_ADD: Final = """
INSERT INTO surfaced (scope_id, actor, conversation, record_id, version)
SELECT memory.scope_id, $2, $3, memory.id, shown.version
FROM unnest($4::text[], $5::bigint[]) AS shown (id, version)
JOIN memory ON memory.id = shown.id WHERE memory.scope_id = $1 FOR KEY SHARE OF memory
ON CONFLICT (scope_id, actor, conversation, record_id)
DO UPDATE SET version = greatest(surfaced.version, excluded.version)
"""
_SCOPES: Final = "SELECT scopes FROM conversation WHERE scope_id = $1 AND id = $2"
_FIND: Final = """
SELECT memory.scope_id, memory.id, surfaced.version
FROM surfaced JOIN memory ON memory.scope_id = surfaced.scope_id AND memory.id = surfaced.record_id
WHERE surfaced.scope_id = ANY($1::uuid[]) AND surfaced.actor = $2 AND surfaced.conversation = $3
"""
_GONE: Final = "RETURNING scope_id, id, scopes"
_OLD: Final = f"DELETE FROM conversation WHERE starts_with(actor_id, $1) AND at < $2 {_GONE}"
_KEPT: Final = "SELECT scope_id, id FROM conversation WHERE starts_with(actor_id, $1) ORDER BY at DESC, id DESC"
_BEYOND: Final = f"DELETE FROM conversation WHERE (scope_id, id) IN ({_KEPT} OFFSET $2) {_GONE}"
# As in `journal`: what is too old stands last in that order.
_PRUNABLE: Final = f"""
SELECT count(*) FROM conversation
WHERE starts_with(actor_id, $1) AND (at < $2 OR (scope_id, id) IN ({_KEPT} OFFSET $3))
"""
_UNOWNED: Final = """
DELETE FROM surfaced USING unnest($1::uuid[], $2::uuid[], $3::text[]) AS gone (scope_id, actor, conversation)
WHERE surfaced.scope_id = gone.scope_id AND surfaced.actor = gone.actor AND surfaced.conversation = gone.conversation
"""
_DROP: Final = "DELETE FROM surfaced WHERE scope_id = $1 AND record_id = ANY($2::text[])"


async def add(db: Transaction, request: SurfaceRequest) -> None:
    actor, conversation = place_of_actor(request.actor_id), stored(request.conversation_id)
    at_scopes: dict[str, dict[str, int]] = {}
    for shown in request.shown:
        if is_storable(shown.scope) and is_storable(shown.id):
            versions = at_scopes.setdefault(shown.scope, {})
            versions[stored(shown.id)] = max(shown.version, versions.get(stored(shown.id), 0))
    await db.run(
        _TOUCH, actor, conversation, stored(request.actor_id), request.at, [stored(scope) for scope in at_scopes]
    )
    for scope, versions in sorted(at_scopes.items()):
        await db.run(_ADD, place_of(scope), actor, conversation, list(versions), list(versions.values()))


async def find(database: Database, lookup: SurfacedLookup) -> Sequence[Surfaced]:
    if not (is_storable(lookup.actor_id) and is_storable(lookup.conversation_id)):
        return ()
    actor, conversation = place_of_actor(lookup.actor_id), stored(lookup.conversation_id)
    scopes: list[str] | None = await database.read([actor], lambda db: db.value(_SCOPES, actor, conversation))
    if not scopes:
        return ()
    places = places_of(map(told, scopes))
    rows = await database.read(places, lambda db: db.rows(_FIND, list(places), actor, conversation))
    found = [Surfaced(places[scope_id], told(id), version) for scope_id, id, version in rows]
    return tuple(sorted(found, key=lambda shown: (shown.scope, shown.id)))


async def prune(db: Transaction, request: PruneRequest) -> int:
    if not is_storable(request.actors):
        return 0
    actors = stored(request.actors)
    gone = [
        *await db.rows(_OLD, actors, request.before),
        *await db.rows(_BEYOND, actors, request.keep),
    ]
    held: list[tuple[UUID, UUID, str]] = [
        (place_of(told(scope)), actor, conversation) for actor, conversation, scopes in gone for scope in scopes
    ]
    if held:
        await db.run(_UNOWNED, *map(list, zip(*held, strict=True)))
    return len(gone)


async def count_prunable(db: Transaction, request: PruneRequest) -> int:
    if not is_storable(request.actors):
        return 0
    return await db.value(_PRUNABLE, stored(request.actors), request.before, request.keep)


async def drop(db: Transaction, scope_id: UUID, record_ids: Sequence[str]) -> None:
    """Take records out of every set. Their rows in `memory` must be gone before: then nobody adds them again."""
    await db.run(_DROP, scope_id, stored_names(record_ids))
