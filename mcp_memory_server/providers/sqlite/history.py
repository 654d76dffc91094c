"""Versions of a record, as history and as what a replay was shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from mcp_memory_server.providers.base import HistoryRequest, VersionRef, VersionsRequest
from mcp_memory_server.providers.rows import RECORD_COLUMNS, record_of
from mcp_memory_server.providers.versions import closed_history
from mcp_memory_server.records import MemoryRecord

from .names import is_storable, json_names
from .reading import COLUMNS

_OLD_COLUMNS = ", ".join(f"history.{name}" for name in RECORD_COLUMNS)
_AT_SCOPES = """
JOIN memory ON memory.id = history.id JOIN scope ON scope.id = memory.scope_id
WHERE scope.token IN (SELECT value FROM json_each(:scopes))
"""
_CURRENT = f"""
SELECT {COLUMNS}, scope.token FROM memory INDEXED BY memory_place JOIN scope ON scope.id = memory.scope_id
WHERE scope.token IN (SELECT value FROM json_each(:scopes))
"""
_OLD = f"SELECT {_OLD_COLUMNS}, scope.token FROM history {_AT_SCOPES}"


def history(db: sqlite3.Connection, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
    return closed_history(stored_versions(db, request.scopes, request.id))


def stored_versions(db: sqlite3.Connection, scopes: Sequence[str], record_id: str) -> list[MemoryRecord]:
    """Every version of the record as it was when current, oldest first; empty when it is not at the scopes."""
    if not is_storable(record_id):
        return []
    asked = {"scopes": json_names(scopes), "id": record_id}
    current = db.execute(f"{_CURRENT} AND memory.id = :id", asked).fetchone()
    if current is None:
        return []
    old = db.execute(f"{_OLD} AND history.id = :id ORDER BY history.version", asked)
    return [record_of(row[-1], row) for row in (*old, current)]


def versions(db: sqlite3.Connection, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
    asked = {
        "scopes": json_names(request.scopes),
        "ids": json_names(sorted({ref.id for ref in request.refs})),
    }
    wanted = set(request.refs)
    found: dict[VersionRef, MemoryRecord] = {}
    current = db.execute(f"{_CURRENT} AND memory.id IN (SELECT value FROM json_each(:ids))", asked)
    old = db.execute(f"{_OLD} AND history.id IN (SELECT value FROM json_each(:ids))", asked)
    for rows in (current, old):
        for row in rows:
            record = record_of(row[-1], row)
            ref = VersionRef(record.id, record.version)
            if ref in wanted:
                found[ref] = record
    return found
