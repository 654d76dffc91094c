"""Which records each conversation was shown."""

from __future__ import annotations

import sqlite3
from typing import Final

from mcp_memory_server.providers.base import PruneRequest, Surfaced, SurfacedLookup, SurfaceRequest

from .names import is_storable

_TOUCH: Final = """
INSERT INTO conversation (actor_id, id, at) VALUES (:actor_id, :id, :at)
ON CONFLICT (actor_id, id) DO UPDATE SET at = max(at, excluded.at) RETURNING number
"""
# From the record itself, so that one which is not held is not added.
_ADD: Final = """
INSERT INTO surfaced (conversation, record_id, version)
SELECT :conversation, memory.id, :version FROM memory JOIN scope ON scope.id = memory.scope_id
WHERE memory.id = :id AND scope.token = :scope
ON CONFLICT (conversation, record_id) DO UPDATE SET version = max(version, excluded.version)
"""
_FIND: Final = """
SELECT scope.token, memory.id, surfaced.version
FROM conversation JOIN surfaced ON surfaced.conversation = conversation.number
JOIN memory ON memory.id = surfaced.record_id JOIN scope ON scope.id = memory.scope_id
WHERE conversation.actor_id = ? AND conversation.id = ? ORDER BY scope.token, memory.id
"""
_OF_ACTORS: Final = "substr(actor_id, 1, length(:actors)) = :actors"
_OLD: Final = f"DELETE FROM conversation WHERE at < :before AND {_OF_ACTORS}"
_BEYOND: Final = f"""
DELETE FROM conversation WHERE number IN (
    SELECT number FROM conversation WHERE {_OF_ACTORS} ORDER BY at DESC, number DESC LIMIT -1 OFFSET :keep
)
"""
# As in `journal`: what is too old stands last in that order.
_PRUNABLE: Final = f"""
SELECT count(*) FROM conversation WHERE {_OF_ACTORS} AND (at < :before OR number IN (
    SELECT number FROM conversation WHERE {_OF_ACTORS} ORDER BY at DESC, number DESC LIMIT -1 OFFSET :keep
))
"""
_UNOWNED: Final = "DELETE FROM surfaced WHERE conversation NOT IN (SELECT number FROM conversation)"


def add(db: sqlite3.Connection, request: SurfaceRequest) -> None:
    place = {"actor_id": request.actor_id, "id": request.conversation_id, "at": request.at}
    (conversation,) = db.execute(_TOUCH, place).fetchone()
    held = [shown for shown in request.shown if is_storable(shown.scope) and is_storable(shown.id)]
    db.executemany(
        _ADD,
        [
            {"conversation": conversation, "scope": shown.scope, "id": shown.id, "version": shown.version}
            for shown in held
        ],
    )


def find(db: sqlite3.Connection, lookup: SurfacedLookup) -> tuple[Surfaced, ...]:
    if not (is_storable(lookup.actor_id) and is_storable(lookup.conversation_id)):
        return ()
    rows = db.execute(_FIND, (lookup.actor_id, lookup.conversation_id))
    return tuple(Surfaced(scope, id, version) for scope, id, version in rows)


def prune(db: sqlite3.Connection, request: PruneRequest) -> int:
    asked = {"before": request.before, "keep": request.keep, "actors": request.actors}
    dropped = db.execute(_OLD, asked).rowcount + db.execute(_BEYOND, asked).rowcount
    if dropped:
        db.execute(_UNOWNED)
    return dropped


def count_prunable(db: sqlite3.Connection, request: PruneRequest) -> int:
    asked = {"before": request.before, "keep": request.keep, "actors": request.actors}
    return db.execute(_PRUNABLE, asked).fetchone()[0]


def drop(db: sqlite3.Connection, record_id: str) -> None:
    """Take a record out of every set."""
    db.execute("DELETE FROM surfaced WHERE record_id = ?", (record_id,))
