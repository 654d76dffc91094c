"""Entities beside the records that name them, and the ledger of merges."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from uuid6 import uuid7

from mcp_memory_server.providers.base import (
    Entity,
    EntityRequest,
    LedgerRequest,
    MentionRequest,
    Merge,
    MergeRequest,
    UnmergeRequest,
)
from mcp_memory_server.providers.entity_names import (
    NamedEntity,
    check_merge,
    fold_name,
    mentions_of,
    roots_of,
    shown,
)
from mcp_memory_server.records import MemoryRecord

from .names import is_storable, json_names
from .reading import scope_ids

_KNOW: Final = """
INSERT INTO entity (id, scope_id, folded) VALUES (?, ?, ?)
ON CONFLICT (scope_id, folded) DO UPDATE SET folded = excluded.folded RETURNING number
"""
_SWEEP: Final = """
DELETE FROM entity WHERE number IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM mention WHERE mention.entity = entity.number) RETURNING folded
"""
_HELD: Final = "SELECT id, folded, number FROM entity WHERE scope_id = :scope"
_BY_NAME: Final = f"{_HELD} AND folded = :name"
# A `+` keeps a column out of the choice of index: all entities, and all merges, of a caller share their scope.
_BY_ID: Final = """
SELECT id, folded, number FROM entity WHERE +scope_id = :scope AND id IN (SELECT value FROM json_each(:ids))
"""
_SPELLINGS: Final = """
SELECT entity, spelling, count(*) FROM mention WHERE entity IN (SELECT value FROM json_each(?))
GROUP BY entity, spelling
"""
_MENTIONS: Final = """
SELECT memory.id FROM memory WHERE memory.id IN (
    SELECT record_id FROM mention WHERE entity IN (SELECT value FROM json_each(?))
) ORDER BY memory.updated_at DESC, memory.id LIMIT ?
"""
_LINES: Final = """
SELECT merge.id, scope.token, source, target, merged_by, merged_at, undone_by, undone_at
FROM merge JOIN scope ON scope.id = merge.scope_id
"""
_LEDGER: Final = f"{_LINES} WHERE scope_id IN (SELECT value FROM json_each(?))"
_TOUCHING: Final = f"""
{_LINES} WHERE +scope_id = ? AND undone_at IS NULL AND merge.number IN (
    SELECT number FROM merge WHERE source IN (SELECT value FROM json_each(?))
    UNION SELECT number FROM merge WHERE target IN (SELECT value FROM json_each(?))
) ORDER BY merge.number
"""
_NOTE_MERGE: Final = """
INSERT INTO merge (id, scope_id, source, target, merged_by, merged_at) VALUES (?, ?, ?, ?, ?, ?)
"""
_UNDO: Final = """
UPDATE merge SET undone_by = ?, undone_at = ? WHERE id = ? AND scope_id = ? AND undone_at IS NULL
"""


def unnote(db: sqlite3.Connection, version: MemoryRecord) -> None:
    """Let go of what this version of a record was held to name."""
    db.execute("DELETE FROM mention WHERE record_id = ? AND version = ?", (version.id, version.version))


def note(db: sqlite3.Connection, scope_id: int, version: MemoryRecord) -> None:
    """Hold what this version of a record names. Nothing is held of it so far."""
    for role, spelling in mentions_of(version):
        entity = db.execute(_KNOW, (str(uuid7()), scope_id, fold_name(spelling))).fetchone()[0]
        values = (version.id, version.version, role, entity, spelling)
        db.execute("INSERT INTO mention (record_id, version, role, entity, spelling) VALUES (?, ?, ?, ?, ?)", values)


def drop(db: sqlite3.Connection, record_id: str) -> list[tuple[int, str]]:
    """Let go of what all versions of a record name; the entities, which nothing may name now, and how it did."""
    return db.execute("DELETE FROM mention WHERE record_id = ? RETURNING entity, spelling", (record_id,)).fetchall()


def sweep(db: sqlite3.Connection, entities: Iterable[int]) -> list[str]:
    """Erase those of these entities that nothing names any more; their folded names."""
    return [folded for (folded,) in db.execute(_SWEEP, (json.dumps(list(entities)),))]


def find(db: sqlite3.Connection, request: EntityRequest) -> tuple[Entity, ...]:
    found: list[Entity] = []
    for scope_id, token in scope_ids(db, request.scopes).items():
        held, roots = _held(db, scope_id, request)
        found += shown(_spelled(db, token, held), roots)
    return tuple(found)


def _held(
    db: sqlite3.Connection, scope_id: int, request: EntityRequest
) -> tuple[list[tuple[str, str, int]], Mapping[str, str]]:
    """The (id, folded name, number) of what is asked for and of all that is merged with it; and the roots."""
    if request.names is None and request.ids is None:
        rows = db.execute(f"{_HELD} ORDER BY folded", {"scope": scope_id}).fetchall()
        return rows, roots_of(_lines(db, (scope_id,)), [row[0] for row in rows])
    rows: list[tuple[str, str, int]] = _by_id(db, scope_id, request.ids or ())
    for name in filter(is_storable, request.names or ()):
        rows += db.execute(_BY_NAME, {"scope": scope_id, "name": fold_name(name)})
    wanted = {row[0]: row for row in rows}
    roots = _roots(db, scope_id, wanted)
    tops = {roots.get(id, id) for id in wanted}
    companions = [id for id, root in roots.items() if root in tops and id not in wanted]
    wanted |= {row[0]: row for row in _by_id(db, scope_id, companions)}
    return sorted(wanted.values(), key=lambda row: row[1]), roots


def _by_id(db: sqlite3.Connection, scope_id: int, ids: Iterable[str]) -> list[tuple[str, str, int]]:
    return db.execute(_BY_ID, {"scope": scope_id, "ids": json_names(ids)}).fetchall()


def _spelled(db: sqlite3.Connection, token: str, held: Iterable[tuple[str, str, int]]) -> list[NamedEntity]:
    spellings: dict[int, Counter[str]] = {number: Counter[str]() for _, _, number in held}
    for entity, spelling, count in db.execute(_SPELLINGS, (json.dumps(list(spellings)),)):
        spellings[entity][spelling] = count
    return [NamedEntity(id, token, folded, spellings[number]) for id, folded, number in held]


def mentions(db: sqlite3.Connection, request: MentionRequest) -> tuple[str, ...]:
    numbers: list[int] = []
    for scope_id in scope_ids(db, request.scopes):
        held, _ = _held(db, scope_id, EntityRequest(request.scopes, ids=request.entities))
        numbers += [number for _, _, number in held]
    return tuple(id for (id,) in db.execute(_MENTIONS, (json.dumps(numbers), request.limit)))


def merge(db: sqlite3.Connection, request: MergeRequest) -> Merge | None:
    scope_id = next(iter(scope_ids(db, (request.scope,))), None)
    if scope_id is None:
        return None
    ids = {request.source, request.target}
    if ids != {id for id, _, _ in _by_id(db, scope_id, ids)}:
        return None
    check_merge(request, _roots(db, scope_id, ids))
    noted = Merge(str(uuid7()), request.scope, request.source, request.target, request.by, request.at)
    db.execute(_NOTE_MERGE, (noted.id, scope_id, noted.source, noted.target, noted.by, noted.at))
    return noted


def unmerge(db: sqlite3.Connection, request: UnmergeRequest) -> Merge | None:
    scope_id = next(iter(scope_ids(db, (request.scope,))), None)
    if scope_id is None or not is_storable(request.merge):
        return None
    if not db.execute(_UNDO, (request.by, request.at, request.merge, scope_id)).rowcount:
        return None
    row = db.execute(f"{_LEDGER} AND merge.id = ?", (json.dumps([scope_id]), request.merge)).fetchone()
    return Merge(*row)


def ledger(db: sqlite3.Connection, request: LedgerRequest) -> tuple[Merge, ...]:
    return tuple(_lines(db, scope_ids(db, request.scopes)))


def _lines(db: sqlite3.Connection, scopes: Iterable[int]) -> list[Merge]:
    rows: Iterable[Any] = db.execute(f"{_LEDGER} ORDER BY merge.number", (json.dumps(list(scopes)),))
    return [Merge(*row) for row in rows]


def _roots(db: sqlite3.Connection, scope_id: int, ids: Iterable[str]) -> Mapping[str, str]:
    """The root of each of these entities that is merged with any, and of all that those are merged with.

    Only the lines that lead from one to the next are read, however long the ledger is.
    """
    met = set(ids)
    lines: list[Merge] = []
    while True:
        asked = json_names(met)
        lines = [Merge(*row) for row in db.execute(_TOUCHING, (scope_id, asked, asked))]
        reached = {id for line in lines for id in (line.source, line.target)}
        if reached <= met:
            break
        met |= reached
    return roots_of(lines, [id for id, _, _ in _by_id(db, scope_id, met)]) if lines else {}
