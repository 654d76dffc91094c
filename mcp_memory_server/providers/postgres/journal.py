"""What each turn was shown, by reference. An entry stands under a hash of its actor, and belongs to no scope."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from mcp_memory_server.providers.base import JournaledDigest, JournalLookup, PruneRequest
from mcp_memory_server.providers.rows import journal_body, journaled_of

from .connection import Database, Transaction
from .names import is_storable, place_of_actor, stored, told

_SECRET_NAME: Final = "journal"
_COLUMNS: Final = "digest_id, actor_id, turn_id, at, body"
# DO NOTHING: the first digest of an (actor, turn) stands, whichever process was first.
_APPEND: Final = f"""
INSERT INTO journal (scope_id, {_COLUMNS})
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) ON CONFLICT DO NOTHING
"""
_BY_DIGEST: Final = f"SELECT {_COLUMNS} FROM journal WHERE scope_id = $1 AND digest_id = $2"
_BY_TURN: Final = f"SELECT {_COLUMNS} FROM journal WHERE scope_id = $1 AND turn_id = $2"
# Pruning is an operator's act, over all actors whose ids begin so.
_OLD: Final = "DELETE FROM journal WHERE starts_with(actor_id, $1) AND at < $2"
_KEPT: Final = (
    "SELECT scope_id, digest_id FROM journal WHERE starts_with(actor_id, $1) ORDER BY at DESC, digest_id DESC"
)
_BEYOND: Final = f"DELETE FROM journal WHERE (scope_id, digest_id) IN ({_KEPT} OFFSET $2)"
# What is too old stands last in that order, so that one count tells what the two deletions drop.
_PRUNABLE: Final = f"""
SELECT count(*) FROM journal
WHERE starts_with(actor_id, $1) AND (at < $2 OR (scope_id, digest_id) IN ({_KEPT} OFFSET $3))
"""
_FIND_SECRET: Final = "SELECT value FROM secret WHERE name = $1"
_REPLACE_SECRET: Final = """
INSERT INTO secret (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_MAKE_SECRET: Final = "INSERT INTO secret (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING"


async def append(db: Transaction, digests: Sequence[JournaledDigest]) -> None:
    await db.run(
        _APPEND,
        [place_of_actor(digest.actor_id) for digest in digests],
        [stored(digest.digest_id) for digest in digests],
        [stored(digest.actor_id) for digest in digests],
        [None if digest.turn_id is None else stored(digest.turn_id) for digest in digests],
        [digest.at for digest in digests],
        [stored(journal_body(digest)) for digest in digests],
    )


async def find(database: Database, lookup: JournalLookup) -> JournaledDigest | None:
    query, value = (_BY_DIGEST, lookup.digest_id) if lookup.digest_id is not None else (_BY_TURN, lookup.turn_id)
    if value is None or not (is_storable(value) and is_storable(lookup.actor_id)):
        return None
    place = place_of_actor(lookup.actor_id)
    row = await database.read([place], lambda db: db.row(query, place, stored(value)))
    if row is None:
        return None
    digest_id, actor_id, turn_id, at, body = row
    turn = None if turn_id is None else told(turn_id)
    return journaled_of(told(digest_id), told(actor_id), turn, at, told(body))


async def prune(db: Transaction, request: PruneRequest) -> int:
    if not is_storable(request.actors):
        return 0
    actors = stored(request.actors)
    by_age = await db.run(_OLD, actors, request.before)
    by_count = await db.run(_BEYOND, actors, request.keep)
    return by_age + by_count


async def count_prunable(db: Transaction, request: PruneRequest) -> int:
    if not is_storable(request.actors):
        return 0
    return await db.value(_PRUNABLE, stored(request.actors), request.before, request.keep)


async def find_secret(db: Transaction) -> bytes | None:
    return await db.value(_FIND_SECRET, _SECRET_NAME)


async def make_secret(db: Transaction) -> bytes:
    """The store's secret, made now unless another process was first."""
    await db.run(_MAKE_SECRET, _SECRET_NAME, secrets.token_bytes(32))
    found = await find_secret(db)
    assert found is not None
    return found


async def replace_secret(db: Transaction, secret: bytes) -> None:
    """Let this be the store's secret, whatever it was."""
    await db.run(_REPLACE_SECRET, _SECRET_NAME, secret)
