"""Upserts and pins."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final, NamedTuple

from uuid6 import uuid7

from mcp_memory_server.providers.base import PinRequest, ReviseRequest, WriteRequest, Written
from mcp_memory_server.providers.rows import ALONG, PINNED, RECORD_COLUMNS, record_of, record_values
from mcp_memory_server.providers.signatures import UNSIGNED, epoch_ms, signature_of
from mcp_memory_server.providers.versions import lane_of, next_version, revised, superseded, target_lane
from mcp_memory_server.records import MemoryRecord

from . import entities
from .names import is_storable
from .reading import COLUMNS, GENERATION

_NAMES: Final = ", ".join(RECORD_COLUMNS)
_PLACES: Final = ", ".join("?" * len(RECORD_COLUMNS))

_OF_KEY = f"SELECT {COLUMNS} FROM memory JOIN scope ON scope.id = memory.scope_id WHERE scope.token = ? AND key = ?"
_CURRENT = f"{_OF_KEY} AND lane = ?"
_WAITING = f"{_OF_KEY} AND +status = 'quarantined' ORDER BY memory.id"
_CURRENT_BY_ID = (
    f"SELECT {COLUMNS} FROM memory JOIN scope ON scope.id = memory.scope_id WHERE scope.token = ? AND memory.id = ?"
)
_PLACE = f"SELECT id, {GENERATION} + 1 FROM scope WHERE token = ?"
_NEW_PLACE = "INSERT INTO scope (token) VALUES (?) RETURNING id, 1"
_UPSERT = f"""
INSERT INTO memory (number, scope_id, lane, {_NAMES}) VALUES (?, ?, ?, {_PLACES})
ON CONFLICT (id) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in (*RECORD_COLUMNS, "lane") if name != "id")}
RETURNING number
"""
_INTO_HISTORY = """
INSERT INTO history (id, version, key, text, created_at, updated_at, pinned, status, details)
SELECT id, version, key, text, created_at, updated_at, pinned, status, details FROM memory WHERE id = ?
"""
_SIGNATURE_OF = """
SELECT lexical FROM signature WHERE scope_id = ? AND number = (SELECT number FROM memory WHERE id = ?)
"""
_SIGN = """
INSERT OR REPLACE INTO signature (scope_id, number, generation, key, thread, time_ms, lexical)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_REMOVE = "INSERT OR IGNORE INTO removal (scope_id, generation, number) VALUES (?, ?, ?)"
_PIN: Final = f"UPDATE memory SET pinned = (pinned & {ALONG}) | ? WHERE id = ?"
# Caches hold decoded records beside the signatures.
_TOUCH = """
UPDATE signature SET generation = ? WHERE scope_id = ? AND number = (SELECT number FROM memory WHERE id = ?)
"""
_TOUCH_UNSIGNED = """
INSERT INTO removal (scope_id, generation, number) SELECT ?, ?, number FROM memory WHERE id = ?
"""

# The feed keeps this many changes; a reader that is further behind is told that there is a gap.
_KEPT_CHANGES: Final = 10_000


class ScopeGeneration(NamedTuple):
    """A scope's row id, and its generation in the running transaction."""

    scope_id: int
    generation: int


def advance(db: sqlite3.Connection, scope: str) -> ScopeGeneration:
    """The scope's next generation, which tells every cache of its rows that it is stale.

    It begins with the first row of `signature` or `removal` that is marked by it.
    """
    row = db.execute(_PLACE, (scope,)).fetchone() or db.execute(_NEW_PLACE, (scope,)).fetchone()
    return ScopeGeneration(*row)


def announce(db: sqlite3.Connection, scope: str, record_id: str) -> int:
    """Append to the change feed; the cursor of the line, which no other ever had or will have."""
    cursor = db.execute("INSERT INTO change (scope, id) VALUES (?, ?)", (scope, record_id)).lastrowid
    assert cursor is not None
    if cursor % 1000 == 0:  # never the newest line: the next cursor follows from it
        db.execute("DELETE FROM change WHERE cursor <= ?", (cursor - _KEPT_CHANGES,))
    return cursor


def write(db: sqlite3.Connection, request: WriteRequest, lexical: bytes) -> Written:
    """Upsert; `lexical` is the ranking signature of the new fact, or UNSIGNED."""
    current, waiting = None, list[MemoryRecord]()
    lane = target_lane(request)
    if is_storable(request.scope) and is_storable(request.key) and is_storable(lane):  # else `next_version` refuses it
        current = current_in(db, request.scope, request.key, lane)
        if request.status == "quarantined":
            waiting = [record_of(request.scope, row) for row in db.execute(_WAITING, (request.scope, request.key))]
    written = next_version(current, request, str(uuid7()), waiting)
    if written.status != "unchanged":
        place = advance(db, request.scope)
        if request.supersedes is not None and written.record.status == "active":
            close_superseded(db, place, written.record)
        if written.previous is not None:
            into_history(db, written.previous)
        put(db, place, written.record, lexical)
    return written


def close_superseded(db: sqlite3.Connection, place: ScopeGeneration, by: MemoryRecord) -> None:
    """Close the record whose place another one takes; raises `InvalidInput` where there is none."""
    name = by.supersedes or ""
    row = db.execute(_CURRENT_BY_ID, (by.scope, name)).fetchone() if is_storable(name) else None
    old = None if row is None else record_of(by.scope, row)
    closing = superseded(old, by)
    into_history(db, closing)
    # Its words are as they were, and so is what is still to be made of them.
    lexical = db.execute(_SIGNATURE_OF, (place.scope_id, closing.id)).fetchone()
    put(db, place, closing, lexical[0] if lexical else UNSIGNED)


def write_many(
    db: sqlite3.Connection, requests: Sequence[WriteRequest], lexical: Sequence[bytes]
) -> tuple[Written, ...]:
    """Upsert in order, in the running transaction."""
    return tuple(write(db, request, signature) for request, signature in zip(requests, lexical, strict=True))


def current_in(db: sqlite3.Connection, scope: str, key: str, lane: str) -> MemoryRecord | None:
    """The current record of a key in a lane. All three must be storable."""
    row = db.execute(_CURRENT, (scope, key, lane)).fetchone()
    return None if row is None else record_of(scope, row)


def into_history(db: sqlite3.Connection, record: MemoryRecord) -> None:
    """Keep a current record as it is; what replaces it is put next."""
    db.execute(_INTO_HISTORY, (record.id,))


def put(db: sqlite3.Connection, place: ScopeGeneration, record: MemoryRecord, lexical: bytes) -> None:
    """Store and announce the current version of a record, and what ranking reads of it when it may be found at all.

    The number of a new one is the cursor of its announcement.
    """
    cursor = announce(db, record.scope, record.id)
    values = (cursor, place.scope_id, lane_of(record), *record_values(record))
    number = db.execute(_UPSERT, values).fetchone()[0]
    is_new = number == cursor
    if not is_new:
        entities.unnote(db, record)
    entities.note(db, place.scope_id, record)
    if record.status != "active":
        drop_signature(db, place, number)
        return
    if not is_new:
        db.execute("DELETE FROM token WHERE number = ?", (number,))
    add_signature(db, place, number, record, lexical)


def add_signature(
    db: sqlite3.Connection, place: ScopeGeneration, number: int, record: MemoryRecord, lexical: bytes
) -> None:
    """What ranking reads of the record, in place of what it read before."""
    thread = record.origin.thread_id or ""
    time_ms = epoch_ms(record.updated_at)
    db.execute(_SIGN, (place.scope_id, number, place.generation, record.key, thread, time_ms, lexical))


def drop_signature(db: sqlite3.Connection, place: ScopeGeneration, number: int) -> None:
    """Take a record out of what ranking reads; that it changed is marked even if it was not there."""
    db.execute("DELETE FROM token WHERE number = ?", (number,))
    db.execute("DELETE FROM signature WHERE scope_id = ? AND number = ?", (place.scope_id, number))
    db.execute(_REMOVE, (place.scope_id, place.generation, number))


def revise(db: sqlite3.Connection, request: ReviseRequest, language: str | None) -> Written | None:
    """The next version of the record, in its place. `language` is that of the ranking signature.

    It is made of the text that is held: the request's is not what counts.
    """
    record = request.record
    if not (is_storable(record.scope) and is_storable(record.id)):
        return None
    row = db.execute(_CURRENT_BY_ID, (record.scope, record.id)).fetchone()
    if row is None:
        return None
    written = revised(record_of(record.scope, row), request)
    if written.previous is not None:
        into_history(db, written.previous)
        put(db, advance(db, record.scope), written.record, signature_of(written.record, language))
    return written


def pin(db: sqlite3.Connection, request: PinRequest) -> MemoryRecord | None:
    if not (is_storable(request.scope) and is_storable(request.id)):
        return None
    row = db.execute(_CURRENT_BY_ID, (request.scope, request.id)).fetchone()
    if row is None:
        return None
    record = record_of(request.scope, row)
    if record.pinned != request.pinned:
        db.execute(_PIN, (PINNED if request.pinned else 0, request.id))
        place = advance(db, request.scope)
        if not db.execute(_TOUCH, (place.generation, place.scope_id, request.id)).rowcount:
            db.execute(_TOUCH_UNSIGNED, (place.scope_id, place.generation, request.id))
        announce(db, request.scope, request.id)
    return record.model_copy(update={"pinned": request.pinned})
