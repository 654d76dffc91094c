"""Vectors beside the signatures: which records still want them, and taking them in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from mcp_memory_server.providers.base import RecordVectors, VectorCount, VectorsWrite
from mcp_memory_server.records import MemoryRecord

from .aside import aside
from .columns import COLUMNS, record_of
from .connection import Transaction
from .names import is_storable, place_of, places_of, stored, told
from .turns import begin_at_held

_HERE: Final = "AND signature.scope_id = ANY($3)"
# Each part is a range of the index on `embedder`: those without vectors, and those with another embedder's.
_UNEMBEDDED: Final = f"""
SELECT {COLUMNS}, scope.token FROM (
    SELECT scope_id, number FROM signature WHERE embedder IS NULL {{here}}
    UNION ALL SELECT scope_id, number FROM signature WHERE embedder < $1 {{here}}
    UNION ALL SELECT scope_id, number FROM signature WHERE embedder > $1 {{here}}
    LIMIT $2
) AS wanted
JOIN memory ON memory.scope_id = wanted.scope_id AND memory.number = wanted.number
JOIN scope ON scope.scope_id = wanted.scope_id
"""
_COUNT: Final = "SELECT count(*), count(*) FILTER (WHERE embedder = $1) FROM signature"
_COUNT_AT_SCOPES: Final = f"{_COUNT} WHERE scope_id = ANY($2)"

# The scopes are locked, so their generations stay what they are until the end.
_PUT: Final = """
WITH given AS (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bytea[]) AS given (place, id, version, pooled)
), embedded AS (
    UPDATE signature SET embedder = $5, pooled = given.pooled, generation = scope.generation + 1
    FROM given
    JOIN memory ON memory.scope_id = given.place AND memory.id = given.id AND memory.version = given.version
    JOIN scope ON scope.scope_id = given.place
    WHERE signature.scope_id = ANY($1) AND signature.scope_id = given.place AND signature.number = memory.number
      AND memory.scope_id = ANY($1) AND memory.status = 'active' AND scope.scope_id = ANY($1)
    RETURNING given.place, given.id, given.version, signature.number
), advanced AS (
    UPDATE scope SET generation = generation + 1
    WHERE scope_id = ANY($1) AND scope_id IN (SELECT place FROM embedded)
)
SELECT place, id, version, number FROM embedded
"""
_DROP_TOKENS: Final = """
DELETE FROM token USING unnest($1::uuid[], $2::bigint[]) AS embedded (place, number)
WHERE token.scope_id = ANY($1) AND token.scope_id = embedded.place AND token.number = embedded.number
"""
_PUT_TOKENS: Final = """
INSERT INTO token (scope_id, number, vectors) SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[])
ON CONFLICT (scope_id, number) DO UPDATE SET vectors = excluded.vectors
"""

_NOBODY: Final = "\x01"
"""What no embedder is called in a column (`names.stored`): stands for one whose name Postgres cannot hold."""


async def unembedded(
    db: Transaction, embedder: str, limit: int, scopes: Sequence[str] | None
) -> tuple[MemoryRecord, ...]:
    values: list[object] = [_stored_embedder(embedder), limit]
    if scopes is not None:
        values.append(list(places_of(scopes)))
    query = _UNEMBEDDED.format(here="" if scopes is None else _HERE)
    rows = await db.rows(query, *values)
    return await aside(len(rows), lambda: tuple(record_of(told(row[-1]), row) for row in rows))


def _stored_embedder(embedder: str) -> str:
    return stored(embedder) if is_storable(embedder) else _NOBODY


async def put_vectors(db: Transaction, request: VectorsWrite) -> int:
    names = [_name_of(record) for record in request.records]
    # Of several for one version the last counts.
    given = {name: record for name, record in zip(names, request.records, strict=True) if name is not None}
    if not given:
        return 0
    await begin_at_held(db, {record.scope for record in given.values()})
    columns = [list(column) for column in zip(*given, strict=True)]
    pooled = [record.pooled for record in given.values()]
    rows = await db.rows(_PUT, *columns, pooled, stored(request.embedder))
    numbers = {_Name(*row[:3]): row[3] for row in rows}
    await _put_tokens(db, [(name.place, number, given[name].tokens) for name, number in numbers.items()])
    return sum(name in numbers for name in names)


class _Name(NamedTuple):
    """A version, as columns name it."""

    place: UUID
    id: str
    version: int


def _name_of(record: RecordVectors) -> _Name | None:
    if not (is_storable(record.scope) and is_storable(record.ref.id)):
        return None
    return _Name(place_of(record.scope), stored(record.ref.id), record.ref.version)


async def _put_tokens(db: Transaction, embedded: Sequence[tuple[UUID, int, bytes | None]]) -> None:
    """The token vectors of current records by place and number, in place of those before."""
    without = [(place, number) for place, number, vectors in embedded if vectors is None]
    having = [row for row in embedded if row[2] is not None]
    if without:
        await db.run(_DROP_TOKENS, *map(list, zip(*without, strict=True)))
    if having:
        await db.run(_PUT_TOKENS, *map(list, zip(*having, strict=True)))


async def count_vectors(db: Transaction, embedder: str, scopes: Sequence[str] | None) -> VectorCount:
    name = _stored_embedder(embedder)
    counted = db.row(_COUNT, name) if scopes is None else db.row(_COUNT_AT_SCOPES, name, list(places_of(scopes)))
    row = await counted
    assert row is not None
    return VectorCount(*row)
