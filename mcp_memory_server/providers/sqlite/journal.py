"""What each turn was shown, by reference."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence

from mcp_memory_server.providers.base import JournaledDigest, JournalLookup, PruneRequest
from mcp_memory_server.providers.rows import journal_body, journaled_of

from .names import is_storable

_SECRET_NAME = "journal"
_OF_ACTORS = "substr(actor_id, 1, length(:actors)) = :actors"
_OLD = f"DELETE FROM journal WHERE at < :before AND {_OF_ACTORS}"
_BEYOND = f"""
DELETE FROM journal WHERE digest_id IN (
    SELECT digest_id FROM journal WHERE {_OF_ACTORS} ORDER BY at DESC, digest_id DESC LIMIT -1 OFFSET :keep
)
"""
# What is too old stands last in that order, so that one count tells what the two deletions drop.
_PRUNABLE = f"""
SELECT count(*) FROM journal WHERE {_OF_ACTORS} AND (at < :before OR digest_id IN (
    SELECT digest_id FROM journal WHERE {_OF_ACTORS} ORDER BY at DESC, digest_id DESC LIMIT -1 OFFSET :keep
))
"""
_COLUMNS = "digest_id, actor_id, turn_id, at, body"
# By the index named, which is the actor's own; SQLite would take that by the digest alone.
_BY_DIGEST = f"SELECT {_COLUMNS} FROM journal INDEXED BY journal_owner WHERE actor_id = ? AND digest_id = ?"
_BY_TURN = f"SELECT {_COLUMNS} FROM journal WHERE actor_id = ? AND turn_id = ?"


def append(db: sqlite3.Connection, digests: Sequence[JournaledDigest]) -> None:
    # OR IGNORE: the first digest of an (actor, turn) stands, whichever process was first.
    db.executemany(
        f"INSERT OR IGNORE INTO journal ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)",
        [(d.digest_id, d.actor_id, d.turn_id, d.at, journal_body(d)) for d in digests],
    )


def find(db: sqlite3.Connection, lookup: JournalLookup) -> JournaledDigest | None:
    query, value = (_BY_DIGEST, lookup.digest_id) if lookup.digest_id is not None else (_BY_TURN, lookup.turn_id)
    if value is None or not (is_storable(value) and is_storable(lookup.actor_id)):
        return None
    row = db.execute(query, (lookup.actor_id, value)).fetchone()
    return None if row is None else journaled_of(*row)


def prune(db: sqlite3.Connection, request: PruneRequest) -> int:
    asked = {"before": request.before, "keep": request.keep, "actors": request.actors}
    by_age = db.execute(_OLD, asked).rowcount
    by_count = db.execute(_BEYOND, asked).rowcount
    return by_age + by_count


def count_prunable(db: sqlite3.Connection, request: PruneRequest) -> int:
    asked = {"before": request.before, "keep": request.keep, "actors": request.actors}
    return db.execute(_PRUNABLE, asked).fetchone()[0]


def find_secret(db: sqlite3.Connection) -> bytes | None:
    row = db.execute("SELECT value FROM secret WHERE name = ?", (_SECRET_NAME,)).fetchone()
    return None if row is None else row[0]


def make_secret(db: sqlite3.Connection) -> bytes:
    """The store's secret, made now unless another process was first."""
    db.execute("INSERT OR IGNORE INTO secret VALUES (?, ?)", (_SECRET_NAME, secrets.token_bytes(32)))
    found = find_secret(db)
    assert found is not None
    return found


def replace_secret(db: sqlite3.Connection, secret: bytes) -> None:
    """Let this be the store's secret, whatever it was."""
    db.execute("INSERT OR REPLACE INTO secret VALUES (?, ?)", (_SECRET_NAME, secret))
