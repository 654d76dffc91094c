"""Signatures that are not what this release, with its settings, would write: finding them and writing them anew."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from mcp_memory_server.providers.rows import record_of
from mcp_memory_server.providers.signatures import signature_of
from mcp_memory_server.records import MemoryRecord

from .reading import COLUMNS
from .writing import ScopeGeneration, add_signature, advance

# What one transaction looks at: few enough that writers of other processes need not wait long.
_BATCH: Final = 1_000
_SIGNED = f"""
SELECT {COLUMNS}, memory.number, scope.token, signature.lexical
FROM memory JOIN scope ON scope.id = memory.scope_id
LEFT JOIN signature ON signature.scope_id = memory.scope_id AND signature.number = memory.number
WHERE memory.number > ? AND memory.status = 'active' ORDER BY memory.number LIMIT {_BATCH}
"""
_IS_CURRENT = "SELECT 1 FROM memory WHERE number = ? AND version = ? AND status = 'active'"
_SIGN_ANEW = "UPDATE signature SET generation = ?, lexical = ? WHERE scope_id = ? AND number = ?"


@dataclass(frozen=True, slots=True)
class Stale:
    """A record whose signature has to be written, and what it has to be."""

    number: int
    record: MemoryRecord
    lexical: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """Those found after some number, up to `last_number`."""

    stale: tuple[Stale, ...] = ()
    last_number: int = 0
    goes_on: bool = True


def stale(db: sqlite3.Connection, after: int, language: str | None) -> Batch:
    """Encode the next records anew, and compare."""
    found: list[Stale] = []
    rows = db.execute(_SIGNED, (after,)).fetchall()
    for row in rows:
        number, scope, held = row[-3:]
        record = record_of(scope, row)
        lexical = signature_of(record, language)
        if lexical != held:
            found.append(Stale(number, record, lexical))
    return Batch(tuple(found), rows[-1][-3] if rows else after, goes_on=len(rows) == _BATCH)


def sign(db: sqlite3.Connection, found: tuple[Stale, ...]) -> None:
    """Write these signatures, except where the record was replaced meanwhile. Vectors stay."""
    places: dict[str, ScopeGeneration] = {}
    for wanted in found:
        scope = wanted.record.scope
        if db.execute(_IS_CURRENT, (wanted.number, wanted.record.version)).fetchone() is None:
            continue
        if scope not in places:
            places[scope] = advance(db, scope)
        place = places[scope]
        values = (place.generation, wanted.lexical, place.scope_id, wanted.number)
        if not db.execute(_SIGN_ANEW, values).rowcount:
            add_signature(db, place, wanted.number, wanted.record, wanted.lexical)
