"""Taking records in as they are, with their history."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from mcp_memory_server.providers.base import RestoreRequest
from mcp_memory_server.providers.rows import RECORD_COLUMNS, record_values
from mcp_memory_server.providers.versions import lane_of, refuse_outside

from . import entities, surfacing
from .history import stored_versions
from .writing import ScopeGeneration, advance, announce, drop_signature, put

_ADD_OLD: Final = f"INSERT INTO history ({', '.join(RECORD_COLUMNS)}) VALUES ({', '.join('?' * len(RECORD_COLUMNS))})"
# UNION, not OR: each half finds its row by an index.
_IN_THE_WAY: Final = """
SELECT memory.number, memory.id, scope.token FROM memory JOIN scope ON scope.id = memory.scope_id WHERE memory.id = ?
UNION
SELECT memory.number, memory.id, scope.token FROM memory JOIN scope ON scope.id = memory.scope_id
WHERE scope.token = ? AND memory.key = ? AND memory.lane = ?
"""


def restore(db: sqlite3.Connection, request: RestoreRequest, signatures: Sequence[bytes]) -> int:
    """`signatures` are those of each record's current version, in the same order."""
    changed = 0
    places: dict[str, ScopeGeneration] = {}
    unnamed: list[int] = []

    def place_of(scope: str) -> ScopeGeneration:
        """One new generation a scope: the whole request is one transaction."""
        if scope not in places:
            places[scope] = advance(db, scope)
        return places[scope]

    for number_given, (versions, lexical) in enumerate(zip(request.records, signatures, strict=True), start=1):
        *old, current = versions
        place = (current.scope, current.key, lane_of(current))
        in_the_way = db.execute(_IN_THE_WAY, (current.id, *place)).fetchall()
        if in_the_way and stored_versions(db, [current.scope], current.id) == list(versions):
            continue
        for number, record_id, scope in in_the_way:
            refuse_outside(request, number_given, scope)
            db.execute("DELETE FROM history WHERE id = ?", (record_id,))
            if (record_id, scope) != (current.id, current.scope):  # or it is written over, and keeps its number
                db.execute("DELETE FROM memory WHERE number = ?", (number,))
                drop_signature(db, place_of(scope), number)
            unnamed += [entity for entity, _ in entities.drop(db, record_id)]
            surfacing.drop(db, record_id)
            announce(db, scope, record_id)
        put(db, place_of(current.scope), current, lexical)
        db.executemany(_ADD_OLD, [record_values(version) for version in old])
        for version in old:
            entities.note(db, place_of(current.scope).scope_id, version)
        changed += 1
    entities.sweep(db, unnamed)
    return changed
