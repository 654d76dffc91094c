"""Signatures that are still to be made, or are not what this release, with its settings, would write."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mcp_memory_server.providers.rows import record_of
from mcp_memory_server.providers.signatures import is_outdated, signature_of
from mcp_memory_server.records import MemoryRecord

from .names import json_names
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
_OF_IDS = f"""
SELECT {COLUMNS}, memory.number, scope.token, signature.lexical
FROM memory JOIN scope ON scope.id = memory.scope_id
JOIN signature ON signature.scope_id = memory.scope_id AND signature.number = memory.number
WHERE memory.id IN (SELECT value FROM json_each(?))
"""
_HELD = """
SELECT memory.scope_id, lexical
FROM memory LEFT JOIN signature ON signature.scope_id = memory.scope_id AND signature.number = memory.number
WHERE memory.number = ? AND version = ? AND status = 'active'
"""
_SIGN = "UPDATE signature SET lexical = ? WHERE scope_id = ? AND number = ?"
_SIGN_ANEW = "UPDATE signature SET generation = ?, lexical = ? WHERE scope_id = ? AND number = ?"


@dataclass(frozen=True, slots=True)
class Stale:
    """A record whose signature has to be written, and what it has to be."""

    number: int
    record: MemoryRecord
    lexical: bytes
    held: bytes | None
    """What the store has in its place; None where it has nothing."""


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
            found.append(Stale(number, record, lexical, held))
    return Batch(tuple(found), rows[-1][-3] if rows else after, goes_on=len(rows) == _BATCH)


def stale_among(db: sqlite3.Connection, ids: Sequence[str], language: str | None) -> tuple[Stale, ...]:
    """Those of these records whose signature is still to be made, or of an earlier release's form."""
    rows = db.execute(_OF_IDS, (json_names(ids),)).fetchall()
    unmade = [(row[-3], record_of(row[-2], row), row[-1]) for row in rows if is_outdated(row[-1])]
    return tuple(Stale(number, record, signature_of(record, language), held) for number, record, held in unmade)


def sign(db: sqlite3.Connection, found: Sequence[Stale]) -> None:
    """Write these signatures, except where the record was replaced or signed meanwhile. Vectors stay.

    A new generation has caches read what is written in place of another signature. Of what is outdated they made it
    themselves, and hold the very same.
    """
    places: dict[str, ScopeGeneration] = {}
    for wanted in found:
        scope = wanted.record.scope
        held = db.execute(_HELD, (wanted.number, wanted.record.version)).fetchone()
        if held is None or held[1] != wanted.held:  # its version may be the same: of a record that was restored
            continue
        if wanted.held is not None and is_outdated(wanted.held):
            db.execute(_SIGN, (wanted.lexical, held[0], wanted.number))
            continue
        if scope not in places:
            places[scope] = advance(db, scope)
        place = places[scope]
        values = (place.generation, wanted.lexical, place.scope_id, wanted.number)
        if not db.execute(_SIGN_ANEW, values).rowcount:
            add_signature(db, place, wanted.number, wanted.record, wanted.lexical)
