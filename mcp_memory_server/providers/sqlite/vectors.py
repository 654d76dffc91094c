"""Vectors beside the signatures: which records still want them, and taking them in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from mcp_memory_server.providers.base import RecordVectors, VectorCount, VectorsWrite
from mcp_memory_server.providers.rows import record_of
from mcp_memory_server.records import MemoryRecord

from .names import is_storable
from .reading import COLUMNS, scope_ids
from .writing import ScopeGeneration, advance

_HERE = "AND scope_id IN (SELECT value FROM json_each(:scopes))"
# A store that never had an embedder, whose writes pay for no index of vectors, has none.
_INDEX = "CREATE INDEX IF NOT EXISTS signature_embedder ON signature (embedder)"
# Each part is a range of the index on `embedder`: those without vectors, and those with another embedder's. While there
# is no index the first part finds enough at once.
_UNEMBEDDED = f"""
SELECT {COLUMNS}, scope.token FROM (
    SELECT scope_id, number FROM signature WHERE embedder IS NULL {{here}}
    UNION ALL SELECT scope_id, number FROM signature WHERE embedder < :embedder {{here}}
    UNION ALL SELECT scope_id, number FROM signature WHERE embedder > :embedder {{here}}
    LIMIT :limit
) AS wanted JOIN memory ON memory.number = wanted.number JOIN scope ON scope.id = wanted.scope_id
"""
_COUNT = "SELECT count(*), count(*) FILTER (WHERE embedder = :embedder) FROM signature WHERE true {here}"
_NUMBER = """
SELECT memory.number FROM memory JOIN scope ON scope.id = memory.scope_id
WHERE memory.id = ? AND memory.version = ? AND scope.token = ? AND memory.status = 'active'
"""
_PUT = """
UPDATE signature SET embedder = ?, pooled = ?, generation = ? WHERE scope_id = ? AND number = ?
"""


def embedder_number(db: sqlite3.Connection, embedder: str) -> int | None:
    """The store's short name for an embedder's id; None while it holds no vectors of it."""
    if not is_storable(embedder):
        return None
    row = db.execute("SELECT number FROM embedder WHERE id = ?", (embedder,)).fetchone()
    return None if row is None else row[0]


def unembedded(
    db: sqlite3.Connection, embedder: str, limit: int, scopes: Sequence[str] | None
) -> tuple[MemoryRecord, ...]:
    query, asked = _asked(db, _UNEMBEDDED, embedder, scopes)
    return tuple(record_of(row[-1], row) for row in db.execute(query, {**asked, "limit": limit}))


def _asked(
    db: sqlite3.Connection, query: str, embedder: str, scopes: Sequence[str] | None
) -> tuple[str, dict[str, int | str]]:
    """The query, narrowed to the scopes where some are named, and its parameters."""
    # Numbers begin at 1, so 0 stands for an embedder that the store has not met.
    asked: dict[str, int | str] = {"embedder": embedder_number(db, embedder) or 0}
    if scopes is None:
        return query.format(here=""), asked
    return query.format(here=_HERE), {**asked, "scopes": json.dumps(list(scope_ids(db, scopes)))}


def put_vectors(db: sqlite3.Connection, request: VectorsWrite) -> int:
    db.execute(_INDEX)
    db.execute("INSERT OR IGNORE INTO embedder (id) VALUES (?)", (request.embedder,))
    number = embedder_number(db, request.embedder)
    places: dict[str, ScopeGeneration] = {}
    return sum(_put(db, number, record, places) for record in request.records)


def _put(
    db: sqlite3.Connection, embedder: int | None, record: RecordVectors, places: dict[str, ScopeGeneration]
) -> bool:
    row = db.execute(_NUMBER, (record.ref.id, record.ref.version, record.scope)).fetchone()
    if row is None:
        return False
    if record.scope not in places:
        places[record.scope] = advance(db, record.scope)
    scope_id, generation = places[record.scope]
    db.execute(_PUT, (embedder, record.pooled, generation, scope_id, row[0]))
    db.execute("DELETE FROM token WHERE number = ?", row)
    if record.tokens is not None:
        db.execute("INSERT INTO token (number, vectors) VALUES (?, ?)", (row[0], record.tokens))
    return True


def count_vectors(db: sqlite3.Connection, embedder: str, scopes: Sequence[str] | None) -> VectorCount:
    query, asked = _asked(db, _COUNT, embedder, scopes)
    return VectorCount(*db.execute(query, asked).fetchone())
