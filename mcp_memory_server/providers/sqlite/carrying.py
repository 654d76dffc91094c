"""What stands beside the records, page by page, and taking it in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from mcp_memory_server.providers.base import (
    AuditLine,
    Carried,
    CarryPage,
    CarryRequest,
    EntityId,
    ForgetRequest,
    HeldVectors,
    JournaledDigest,
    Merge,
    OrderPage,
    Part,
    RecordVectors,
    Surfaced,
    SurfaceRequest,
    VectorsWrite,
    VersionRef,
)
from mcp_memory_server.providers.rows import journaled_of

from . import journal, surfacing, vectors
from .forgetting import leave_audit_line
from .names import is_storable, json_names
from .reading import scope_ids


@dataclass(frozen=True, slots=True)
class _Table:
    """How the rows of a part are read: `query` gives the place of each in its first `places` columns."""

    query: str
    places: int
    row: Callable[[sqlite3.Connection, Sequence[Any]], Carried]


_ORDER: Final = """
SELECT memory.number, scope.token, memory.id FROM memory JOIN scope ON scope.id = memory.scope_id
WHERE memory.number > ? ORDER BY memory.number LIMIT ?
"""
_ENTITIES: Final = """
SELECT entity.number, scope.token, folded, entity.id FROM entity JOIN scope ON scope.id = entity.scope_id
WHERE entity.number > ? ORDER BY entity.number LIMIT ?
"""
_MERGES: Final = """
SELECT merge.number, merge.id, scope.token, source, target, merged_by, merged_at, undone_by, undone_at
FROM merge JOIN scope ON scope.id = merge.scope_id WHERE merge.number > ? ORDER BY merge.number LIMIT ?
"""
_AUDIT: Final = "SELECT rowid, scope, id, actor_id, at, reason FROM audit WHERE rowid > ? ORDER BY rowid LIMIT ?"
_JOURNAL: Final = """
SELECT digest_id, actor_id, turn_id, at, body FROM journal WHERE digest_id > ? ORDER BY digest_id LIMIT ?
"""
_SURFACED: Final = "SELECT number, actor_id, id, at FROM conversation WHERE number > ? ORDER BY number LIMIT ?"
_SHOWN: Final = """
SELECT scope.token, memory.id, surfaced.version FROM surfaced JOIN memory ON memory.id = surfaced.record_id
JOIN scope ON scope.id = memory.scope_id WHERE surfaced.conversation = ? ORDER BY scope.token, memory.id
"""
_VECTORS: Final = """
SELECT signature.scope_id, signature.number, embedder.id, scope.token, memory.id, memory.version, pooled, token.vectors
FROM signature JOIN memory ON memory.number = signature.number JOIN scope ON scope.id = signature.scope_id
JOIN embedder ON embedder.number = signature.embedder LEFT JOIN token ON token.number = signature.number
WHERE (signature.scope_id, signature.number) > (?, ?) ORDER BY signature.scope_id, signature.number LIMIT ?
"""

_OTHERS: Final = "SELECT 1 FROM entity WHERE id = ?"
_OLD_ID: Final = "SELECT id FROM entity WHERE scope_id = ? AND folded = ?"
_ADOPT: Final = "UPDATE entity SET id = ? WHERE scope_id = ? AND folded = ?"
_RENAME: Final = "UPDATE merge SET {role} = ? WHERE {role} = ? AND +scope_id = ?"
_TAKE_LINE: Final = """
INSERT INTO merge (id, scope_id, source, target, merged_by, merged_at, undone_by, undone_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET undone_by = excluded.undone_by, undone_at = excluded.undone_at WHERE undone_at IS NULL
"""
_KNOW_SCOPE: Final = "INSERT OR IGNORE INTO scope (token) VALUES (?)"
_AUDITED: Final = """
SELECT scope, id, actor_id, at, reason FROM audit
WHERE id IN (SELECT value FROM json_each(?)) AND +scope = ?
"""
_HAS_VECTORS: Final = """
SELECT 1 FROM memory JOIN signature ON signature.scope_id = memory.scope_id AND signature.number = memory.number
JOIN embedder ON embedder.number = signature.embedder WHERE memory.id = ? AND memory.version = ? AND embedder.id = ?
"""


def in_order(db: sqlite3.Connection, limit: int, after: str | None) -> OrderPage:
    rows = db.execute(_ORDER, (int(after or 0), limit)).fetchall()
    names = tuple((scope, id) for _, scope, id in rows)
    return OrderPage(names, str(rows[-1][0]) if len(rows) == limit else None)


def page(db: sqlite3.Connection, request: CarryRequest) -> CarryPage:
    table = _TABLES[request.part]
    after = _BEFORE[request.part] if request.after is None else json.loads(request.after)
    rows = db.execute(table.query, (*after, request.limit)).fetchall()
    behind = json.dumps(rows[-1][: table.places]) if len(rows) == request.limit else None
    return CarryPage(tuple(table.row(db, row) for row in rows), behind)


def _shown(db: sqlite3.Connection, row: Sequence[Any]) -> SurfaceRequest:
    number, actor_id, conversation_id, at = row
    shown = tuple(Surfaced(*held) for held in db.execute(_SHOWN, (number,)))
    return SurfaceRequest(actor_id, conversation_id, at, shown)


def _vectors(db: sqlite3.Connection, row: Sequence[Any]) -> HeldVectors:
    embedder, scope, id, version, pooled, tokens = row[2:]
    return HeldVectors(embedder, RecordVectors(scope, VersionRef(id, version), pooled, tokens))


_TABLES: Final[dict[Part, _Table]] = {
    "entities": _Table(_ENTITIES, 1, lambda _, row: EntityId(*row[1:])),
    "merges": _Table(_MERGES, 1, lambda _, row: Merge(*row[1:])),
    "audit": _Table(_AUDIT, 1, lambda _, row: AuditLine(*row[1:])),
    "journal": _Table(_JOURNAL, 1, lambda _, row: journaled_of(*row)),
    "surfaced": _Table(_SURFACED, 1, _shown),
    "vectors": _Table(_VECTORS, 2, _vectors),
}
_BEFORE: Final[dict[Part, tuple[int | str, ...]]] = {
    "entities": (0,), "merges": (0,), "audit": (0,), "journal": ("",), "surfaced": (0,), "vectors": (0, 0),
}  # fmt: skip
"""The place before the first row."""


def take(db: sqlite3.Connection, rows: Sequence[Carried]) -> None:
    for row in rows:
        match row:
            case EntityId():
                _adopt(db, row)
            case Merge():
                _take_line(db, row)
            case AuditLine():
                leave_audit_line(db, ForgetRequest(row.scope, row.id, row.by, row.at, row.reason))
            case JournaledDigest():
                journal.append(db, (row,))
            case SurfaceRequest():
                surfacing.add(db, row)
            case HeldVectors():
                pass  # together, below: one new generation a scope
    held = [row for row in rows if isinstance(row, HeldVectors) and not _has_vectors(db, row)]
    for embedder, made in groupby(held, lambda row: row.embedder):
        vectors.put_vectors(db, VectorsWrite(embedder, tuple(row.vectors for row in made)))


def _adopt(db: sqlite3.Connection, entity: EntityId) -> None:
    for scope_id in scope_ids(db, (entity.scope,)):
        held = db.execute(_OLD_ID, (scope_id, entity.folded)).fetchone()
        if held is None or db.execute(_OTHERS, (entity.id,)).fetchone():
            continue
        db.execute(_ADOPT, (entity.id, scope_id, entity.folded))
        for role in ("source", "target"):
            db.execute(_RENAME.format(role=role), (entity.id, held[0], scope_id))


def _take_line(db: sqlite3.Connection, line: Merge) -> None:
    db.execute(_KNOW_SCOPE, (line.scope,))
    for scope_id in scope_ids(db, (line.scope,)):
        said = (line.source, line.target, line.by, line.at, line.undone_by, line.undone_at)
        db.execute(_TAKE_LINE, (line.id, scope_id, *said))


def _has_vectors(db: sqlite3.Connection, row: HeldVectors) -> bool:
    ref = row.vectors.ref
    return db.execute(_HAS_VECTORS, (ref.id, ref.version, row.embedder)).fetchone() is not None


def audited(db: sqlite3.Connection, scope: str, ids: Sequence[str]) -> tuple[AuditLine, ...]:
    if not is_storable(scope):
        return ()
    return tuple(AuditLine(*row) for row in db.execute(_AUDITED, (json_names(ids), scope)))
