"""Entities beside the records that name them, and the ledger of merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

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

from .connection import Transaction
from .names import is_storable, places_of, stored, stored_names, told

# What a version named before and does not name now goes; the rest is written over, for one statement may not both
# delete a row and insert it again.
_NOTE: Final = """
WITH version AS (
    SELECT * FROM unnest($2::text[], $3::bigint[]) AS version (record_id, version)
), named AS (
    SELECT * FROM unnest($4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
        AS named (record_id, version, role, folded, spelling)
), known AS (
    INSERT INTO entity (scope_id, id, folded) SELECT $1, new.* FROM unnest($9::text[], $10::text[]) AS new (id, folded)
    ON CONFLICT (scope_id, folded) DO UPDATE SET folded = excluded.folded RETURNING id, folded
), gone AS (
    DELETE FROM mention USING version
    WHERE mention.scope_id = $1 AND mention.record_id = version.record_id AND mention.version = version.version
      AND NOT EXISTS (SELECT FROM named WHERE named.record_id = mention.record_id
                      AND named.version = mention.version AND named.role = mention.role)
)
INSERT INTO mention (scope_id, record_id, version, role, entity, spelling)
SELECT $1, record_id, version, role, known.id, spelling FROM named JOIN known USING (folded)
ON CONFLICT (scope_id, record_id, version, role)
DO UPDATE SET entity = excluded.entity, spelling = excluded.spelling
"""
_DROP: Final = "DELETE FROM mention WHERE scope_id = $1 AND record_id = ANY($2::text[]) RETURNING entity"
_SWEEP: Final = """
DELETE FROM entity WHERE scope_id = $1 AND id = ANY($2::text[])
  AND NOT EXISTS (SELECT FROM mention WHERE mention.scope_id = entity.scope_id AND mention.entity = entity.id)
RETURNING folded
"""
_HELD: Final = "SELECT scope_id, id, folded FROM entity WHERE scope_id = ANY($1::uuid[])"
_ASKED: Final = f"{_HELD} AND (id = ANY($2::text[]) OR folded = ANY($3::text[]))"
_BY_ID: Final = f"{_HELD} AND id = ANY($2::text[])"
_SPELLINGS: Final = """
SELECT entity, spelling, count(*) FROM mention WHERE scope_id = ANY($1::uuid[]) AND entity = ANY($2::text[])
GROUP BY entity, spelling
"""
_MENTIONS: Final = """
SELECT id FROM memory WHERE scope_id = ANY($1::uuid[]) AND EXISTS (
    SELECT FROM mention
    WHERE mention.scope_id = memory.scope_id AND record_id = memory.id AND entity = ANY($2::text[])
) ORDER BY updated_at DESC, id LIMIT $3
"""
_LINE: Final = "scope_id, id, source, target, merged_by, merged_at, undone_by, undone_at"
_LEDGER: Final = f"SELECT {_LINE} FROM merge WHERE scope_id = ANY($1::uuid[]) ORDER BY id"
_TOUCHING: Final = f"""
SELECT {_LINE} FROM merge WHERE scope_id = ANY($1::uuid[]) AND undone_at IS NULL
  AND (source = ANY($2::text[]) OR target = ANY($2::text[])) ORDER BY id
"""
# A merge is looked at and noted under the lock of the scope's row, as records are written (writing.py); where there is
# no such row there is no entity either.
_LOCK: Final = "SELECT scope_id FROM scope WHERE scope_id = $1 FOR UPDATE"
_NOTE_MERGE: Final = """
INSERT INTO merge (scope_id, id, source, target, merged_by, merged_at) VALUES ($1, $2, $3, $4, $5, $6)
"""
_UNDO: Final = f"""
UPDATE merge SET undone_by = $3, undone_at = $4 WHERE scope_id = $1 AND id = $2 AND undone_at IS NULL RETURNING {_LINE}
"""


class _Held(NamedTuple):
    """An entity's row."""

    scope_id: UUID
    id: str
    folded: str


async def note(db: Transaction, scope_id: UUID, version: MemoryRecord) -> None:
    """Hold what this version of a record names, in place of what it named before."""
    await note_many(db, scope_id, (version,))


async def note_many(db: Transaction, scope_id: UUID, versions: Sequence[MemoryRecord]) -> None:
    """`note` for versions of records at one scope, each there once, in one statement."""
    mentions = [(version, mention) for version in versions for mention in mentions_of(version)]
    folded = [stored(fold_name(mention.spelling)) for _, mention in mentions]
    entities = list(dict.fromkeys(folded))
    await db.run(
        _NOTE,
        scope_id,
        [stored(version.id) for version in versions],
        [version.version for version in versions],
        [stored(version.id) for version, _ in mentions],
        [version.version for version, _ in mentions],
        [mention.role for _, mention in mentions],
        folded,
        [stored(mention.spelling) for _, mention in mentions],
        [str(uuid7()) for _ in entities],
        entities,
    )


async def drop(db: Transaction, scope_id: UUID, record_ids: Sequence[str]) -> set[str]:
    """Let go of what all versions of these records name; the ids of the entities, which nothing may name now."""
    return {entity for (entity,) in await db.rows(_DROP, scope_id, stored_names(record_ids))}


async def sweep(db: Transaction, scope_id: UUID, entities: Iterable[str]) -> list[str]:
    """Erase those of these entities that nothing names any more; their folded names."""
    wanted = list(entities)
    return [told(folded) for (folded,) in await db.rows(_SWEEP, scope_id, wanted)] if wanted else []


async def find(db: Transaction, request: EntityRequest) -> tuple[Entity, ...]:
    places = places_of(request.scopes)
    held, roots = await _held(db, places, request)
    order = {place: at for at, place in enumerate(places)}
    held.sort(key=lambda entity: (order[entity.scope_id], entity.folded))
    return shown(await _spelled(db, places, held), roots)


async def _held(
    db: Transaction, places: Mapping[UUID, str], request: EntityRequest
) -> tuple[list[_Held], Mapping[str, str]]:
    """What is asked for and all that is merged with it, of all the scopes at once; and the roots.

    An id is that of one entity in the whole store, and a line of a ledger joins entities of its own scope only.
    """
    if request.names is None and request.ids is None:
        found = [_Held(*row) for row in await db.rows(_HELD, list(places))]
        return found, roots_of(await _lines(db, places), [entity.id for entity in found])
    folded = stored_names(fold_name(name) for name in request.names or ())
    asked = await db.rows(_ASKED, list(places), stored_names(request.ids or ()), folded)
    wanted = {entity.id: entity for entity in (_Held(*row) for row in asked)}
    roots = await _roots(db, places, wanted)
    tops = {roots.get(id, id) for id in wanted}
    companions = [id for id, root in roots.items() if root in tops and id not in wanted]
    if companions:
        wanted |= {entity.id: entity for entity in await _by_id(db, places, companions)}
    return list(wanted.values()), roots


async def _by_id(db: Transaction, places: Mapping[UUID, str], ids: Iterable[str]) -> list[_Held]:
    return [_Held(*row) for row in await db.rows(_BY_ID, list(places), stored_names(ids))]


async def _spelled(db: Transaction, places: Mapping[UUID, str], held: Sequence[_Held]) -> list[NamedEntity]:
    spellings: dict[str, Counter[str]] = {entity.id: Counter[str]() for entity in held}
    if spellings:
        for id, spelling, count in await db.rows(_SPELLINGS, list(places), list(spellings)):
            spellings[id][told(spelling)] = count
    return [NamedEntity(id, places[scope_id], told(folded), spellings[id]) for scope_id, id, folded in held]


async def mentions(db: Transaction, request: MentionRequest) -> tuple[str, ...]:
    places = places_of(request.scopes)
    held, _ = await _held(db, places, EntityRequest(request.scopes, ids=request.entities))
    if not held:
        return ()
    rows = await db.rows(_MENTIONS, list(places), [entity.id for entity in held], request.limit)
    return tuple(told(id) for (id,) in rows)


async def merge(db: Transaction, request: MergeRequest) -> Merge | None:
    places = await _lock(db, request.scope)
    ids = {request.source, request.target}
    if ids != {entity.id for entity in await _by_id(db, places, ids)}:
        return None
    check_merge(request, await _roots(db, places, ids))
    noted = Merge(str(uuid7()), request.scope, request.source, request.target, request.by, request.at)
    await db.run(_NOTE_MERGE, next(iter(places)), noted.id, noted.source, noted.target, stored(noted.by), noted.at)
    return noted


async def unmerge(db: Transaction, request: UnmergeRequest) -> Merge | None:
    places = await _lock(db, request.scope)
    if not places or not is_storable(request.merge):
        return None
    row = await db.row(_UNDO, next(iter(places)), stored(request.merge), stored(request.by), request.at)
    return None if row is None else _line(places, row)


async def ledger(db: Transaction, request: LedgerRequest) -> tuple[Merge, ...]:
    return tuple(await _lines(db, places_of(request.scopes)))


async def _lock(db: Transaction, scope: str) -> Mapping[UUID, str]:
    """Wait until nobody else writes at the scope; the scope's place, none where there is no such scope."""
    for place in places_of([scope]):
        db.place = await db.value(_LOCK, place)
        if db.place is not None:
            return {place: scope}
    return {}


async def _lines(db: Transaction, places: Mapping[UUID, str]) -> list[Merge]:
    return [_line(places, row) for row in await db.rows(_LEDGER, list(places))]


def _line(places: Mapping[UUID, str], row: Sequence[Any]) -> Merge:
    scope_id, id, source, target, by, at, undone_by, undone_at = row
    gone = None if undone_by is None else told(undone_by)
    return Merge(id, places[scope_id], source, target, told(by), at, gone, undone_at)


async def _roots(db: Transaction, places: Mapping[UUID, str], ids: Iterable[str]) -> Mapping[str, str]:
    """The root of each of these entities that is merged with any, and of all that those are merged with.

    Only the lines that lead from one to the next are read, however long the ledger is.
    """
    met = set(ids)
    lines: list[Merge] = []
    while met:
        lines = [_line(places, row) for row in await db.rows(_TOUCHING, list(places), stored_names(met))]
        reached = {id for line in lines for id in (line.source, line.target)}
        if reached <= met:
            break
        met |= reached
    return roots_of(lines, [entity.id for entity in await _by_id(db, places, met)]) if lines else {}
