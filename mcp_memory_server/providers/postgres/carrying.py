"""What stands beside the records, page by page, and taking it in: an operator's acts over the whole store."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from mcp_memory_server.providers.base import (
    AuditLine,
    Carried,
    CarryPage,
    CarryRequest,
    EntityId,
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
from .connection import Transaction
from .names import is_storable, place_of, places_of, stored, stored_names, told
from .turns import begin_at_held


@dataclass(frozen=True, slots=True)
class _Table:
    """How the rows of a part are read. The first columns of `query` give the place of each, as many as `before` has."""

    query: str
    before: tuple[str | int, ...]
    rows: Callable[[Transaction, Sequence[Sequence[Any]]], Awaitable[list[Carried]]]


_FIRST: Final = str(UUID(int=0))
_ORDER: Final = """
SELECT memory.scope_id, number, token, id FROM memory JOIN scope ON scope.scope_id = memory.scope_id
WHERE (memory.scope_id, number) > ($1, $2) ORDER BY memory.scope_id, number LIMIT $3
"""
_ENTITIES: Final = """
SELECT entity.scope_id, entity.id, scope.token, folded FROM entity JOIN scope ON scope.scope_id = entity.scope_id
WHERE (entity.scope_id, entity.id) > ($1, $2) ORDER BY entity.scope_id, entity.id LIMIT $3
"""
_MERGES: Final = """
SELECT merge.scope_id, id, token, source, target, merged_by, merged_at, undone_by, undone_at
FROM merge JOIN scope ON scope.scope_id = merge.scope_id
WHERE (merge.scope_id, id) > ($1, $2) ORDER BY merge.scope_id, id LIMIT $3
"""
_AUDIT: Final = """
SELECT scope_id, id, at, actor_id, reason, scope FROM audit
WHERE (scope_id, id, at, actor_id, reason) > ($1, $2, $3, $4, $5)
ORDER BY scope_id, id, at, actor_id, reason LIMIT $6
"""
_JOURNAL: Final = """
SELECT scope_id, digest_id, actor_id, turn_id, at, body FROM journal
WHERE (scope_id, digest_id) > ($1, $2) ORDER BY scope_id, digest_id LIMIT $3
"""
_SURFACED: Final = """
SELECT scope_id, id, actor_id, at, scopes FROM conversation
WHERE (scope_id, id) > ($1, $2) ORDER BY scope_id, id LIMIT $3
"""
_SHOWN: Final = """
SELECT surfaced.scope_id, actor, conversation, record_id, surfaced.version FROM surfaced
JOIN memory ON memory.scope_id = surfaced.scope_id AND memory.id = surfaced.record_id
WHERE surfaced.scope_id = ANY($1) AND (actor, conversation) IN (SELECT * FROM unnest($2::uuid[], $3::text[]))
"""
_VECTORS: Final = """
SELECT signature.scope_id, signature.number, embedder, scope.token, memory.id, memory.version, pooled, token.vectors
FROM signature JOIN memory ON memory.scope_id = signature.scope_id AND memory.number = signature.number
JOIN scope ON scope.scope_id = signature.scope_id
LEFT JOIN token ON token.scope_id = signature.scope_id AND token.number = signature.number
WHERE (signature.scope_id, signature.number) > ($1, $2) AND embedder IS NOT NULL
ORDER BY signature.scope_id, signature.number LIMIT $3
"""

_OTHER_IDS: Final = """
SELECT given.place, entity.id, given.id FROM unnest($1::uuid[], $2::text[], $3::text[]) AS given (place, folded, id)
JOIN entity ON entity.scope_id = given.place AND entity.folded = given.folded
WHERE entity.scope_id = ANY($1) AND entity.id <> given.id
  AND NOT EXISTS (SELECT FROM entity AS other WHERE other.scope_id = given.place AND other.id = given.id)
"""
_RENAME: Final = """
UPDATE {table} SET {column} = renamed.new FROM unnest($1::uuid[], $2::text[], $3::text[]) AS renamed (place, old, new)
WHERE {table}.scope_id = ANY($1) AND {table}.scope_id = renamed.place AND {table}.{column} = renamed.old
"""
_NAMING: Final = (("entity", "id"), ("mention", "entity"), ("merge", "source"), ("merge", "target"))
"""The columns that hold an entity's id."""
_KNOW_SCOPES: Final = """
INSERT INTO scope (scope_id, token, generation, last_number)
SELECT place, token, 0, 0 FROM unnest($1::uuid[], $2::text[]) AS given (place, token) ON CONFLICT DO NOTHING
"""
_TAKE_LINES: Final = """
INSERT INTO merge (scope_id, id, source, target, merged_by, merged_at, undone_by, undone_at)
SELECT * FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]
)
ON CONFLICT (scope_id, id) DO UPDATE SET undone_by = excluded.undone_by, undone_at = excluded.undone_at
WHERE merge.undone_at IS NULL
"""
_TAKE_AUDIT: Final = """
INSERT INTO audit (scope_id, scope, id, actor_id, at, reason)
SELECT DISTINCT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    AS given (place, scope, id, actor_id, at, reason)
WHERE NOT EXISTS (
    SELECT FROM audit WHERE audit.scope_id = ANY($1) AND audit.scope_id = given.place AND audit.id = given.id
      AND audit.actor_id = given.actor_id AND audit.at = given.at AND audit.reason = given.reason
)
"""
_AUDITED: Final = "SELECT scope, id, actor_id, at, reason FROM audit WHERE scope_id = $1 AND id = ANY($2::text[])"
_LACKING: Final = """
SELECT given.nth FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[])
    WITH ORDINALITY AS given (place, id, version, embedder, nth)
JOIN memory ON memory.scope_id = given.place AND memory.id = given.id AND memory.version = given.version
JOIN signature ON signature.scope_id = memory.scope_id AND signature.number = memory.number
WHERE memory.scope_id = ANY($1) AND signature.scope_id = ANY($1)
  AND signature.embedder IS DISTINCT FROM given.embedder ORDER BY given.nth
"""


async def in_order(db: Transaction, limit: int, after: str | None) -> OrderPage:
    place, number = (_FIRST, 0) if after is None else json.loads(after)
    rows = await db.rows(_ORDER, UUID(place), number, limit)
    names = tuple((told(scope), told(id)) for _, _, scope, id in rows)
    return OrderPage(names, json.dumps([str(rows[-1][0]), rows[-1][1]]) if len(rows) == limit else None)


async def page(db: Transaction, request: CarryRequest) -> CarryPage:
    table = _TABLES[request.part]
    after: Sequence[Any] = table.before if request.after is None else json.loads(request.after)
    rows = await db.rows(table.query, UUID(str(after[0])), *after[1:], request.limit)
    behind = None
    if len(rows) == request.limit:
        place = rows[-1][0], *(rows[-1][at] for at in range(1, len(after)))
        behind = json.dumps([str(place[0]), *place[1:]])
    return CarryPage(tuple(await table.rows(db, rows)), behind)


async def _entities(_: Transaction, rows: Sequence[Sequence[Any]]) -> list[Carried]:
    return [EntityId(told(scope), told(folded), id) for _, id, scope, folded in rows]


async def _merges(_: Transaction, rows: Sequence[Sequence[Any]]) -> list[Carried]:
    return [
        Merge(id, told(scope), source, target, told(by), at, None if gone is None else told(gone), undone_at)
        for _, id, scope, source, target, by, at, gone, undone_at in rows
    ]


async def _audit(_: Transaction, rows: Sequence[Sequence[Any]]) -> list[Carried]:
    return [AuditLine(told(scope), told(id), told(by), at, told(reason)) for _, id, at, by, reason, scope in rows]


async def _journal(_: Transaction, rows: Sequence[Sequence[Any]]) -> list[Carried]:
    return [
        journaled_of(told(id), told(actor), None if turn is None else told(turn), at, told(body))
        for _, id, actor, turn, at, body in rows
    ]


async def _surfaced(db: Transaction, rows: Sequence[Sequence[Any]]) -> list[Carried]:
    places = places_of(told(scope) for row in rows for scope in row[4])
    shown: dict[tuple[UUID, str], list[Surfaced]] = {(row[0], row[1]): [] for row in rows}
    asked = [row[0] for row in rows], [row[1] for row in rows]
    for place, actor, conversation, id, version in await db.rows(_SHOWN, list(places), *asked):
        shown[actor, conversation].append(Surfaced(places[place], told(id), version))
    return [
        SurfaceRequest(
            told(actor_id), told(id), at, tuple(sorted(shown[actor, id], key=lambda one: (one.scope, one.id)))
        )
        for actor, id, actor_id, at, _ in rows
    ]


async def _vectors(_: Transaction, rows: Sequence[Sequence[Any]]) -> list[Carried]:
    return [
        HeldVectors(told(embedder), RecordVectors(told(scope), VersionRef(told(id), version), pooled, tokens))
        for _, _, embedder, scope, id, version, pooled, tokens in rows
    ]


_TABLES: Final[dict[Part, _Table]] = {
    "entities": _Table(_ENTITIES, (_FIRST, ""), _entities),
    "merges": _Table(_MERGES, (_FIRST, ""), _merges),
    "audit": _Table(_AUDIT, (_FIRST, "", "", "", ""), _audit),
    "journal": _Table(_JOURNAL, (_FIRST, ""), _journal),
    "surfaced": _Table(_SURFACED, (_FIRST, ""), _surfaced),
    "vectors": _Table(_VECTORS, (_FIRST, 0), _vectors),
}


async def take(db: Transaction, rows: Sequence[Carried]) -> None:
    await _adopt(db, [row for row in rows if isinstance(row, EntityId) and is_storable(row.scope)])
    await _take_lines(db, [row for row in rows if isinstance(row, Merge)])
    await _take_audit(db, [row for row in rows if isinstance(row, AuditLine)])
    await journal.append(db, [row for row in rows if isinstance(row, JournaledDigest)])
    for row in rows:
        if isinstance(row, SurfaceRequest):
            await surfacing.add(db, row)
    await _take_vectors(db, [row for row in rows if isinstance(row, HeldVectors)])


async def _adopt(db: Transaction, rows: Sequence[EntityId]) -> None:
    if not rows:
        return
    await begin_at_held(db, {row.scope for row in rows})  # as records are written, which name entities by their ids
    places = [place_of(row.scope) for row in rows]
    others = await db.rows(_OTHER_IDS, places, [stored(row.folded) for row in rows], [row.id for row in rows])
    if others:
        renamed = [list(column) for column in zip(*others, strict=True)]
        for table, column in _NAMING:
            await db.run(_RENAME.format(table=table, column=column), *renamed)


async def _take_lines(db: Transaction, rows: Sequence[Merge]) -> None:
    if not rows:
        return
    scopes = places_of(row.scope for row in rows)
    await db.run(_KNOW_SCOPES, list(scopes), [stored(scope) for scope in scopes.values()])
    await db.run(
        _TAKE_LINES,
        [place_of(row.scope) for row in rows],
        [row.id for row in rows],
        [row.source for row in rows],
        [row.target for row in rows],
        [stored(row.by) for row in rows],
        [row.at for row in rows],
        [None if row.undone_by is None else stored(row.undone_by) for row in rows],
        [row.undone_at for row in rows],
    )


async def _take_audit(db: Transaction, rows: Sequence[AuditLine]) -> None:
    if not rows:
        return
    await db.run(
        _TAKE_AUDIT,
        [place_of(row.scope) for row in rows],
        [stored(row.scope) for row in rows],
        [stored(row.id) for row in rows],
        [stored(row.by) for row in rows],
        [row.at for row in rows],
        [stored(row.reason) for row in rows],
    )


async def _take_vectors(db: Transaction, rows: Sequence[HeldVectors]) -> None:
    if not rows:
        return
    lacking = await db.rows(
        _LACKING,
        [place_of(row.vectors.scope) for row in rows],
        [stored(row.vectors.ref.id) for row in rows],
        [row.vectors.ref.version for row in rows],
        [stored(row.embedder) for row in rows],
    )
    wanted: list[HeldVectors] = [rows[nth - 1] for (nth,) in lacking]
    for embedder, made in groupby(wanted, lambda row: row.embedder):
        await vectors.put_vectors(db, VectorsWrite(embedder, tuple(row.vectors for row in made)))


async def audited(db: Transaction, scope: str, ids: Sequence[str]) -> tuple[AuditLine, ...]:
    rows = await db.rows(_AUDITED, place_of(scope), stored_names(ids))
    return tuple(AuditLine(told(held), told(id), told(by), at, told(reason)) for held, id, by, at, reason in rows)
