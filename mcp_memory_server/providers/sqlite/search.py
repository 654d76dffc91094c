"""Ranking rows of scopes, held in memory and brought up to date by what changed since."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from mcp_memory_server.providers.base import Hit, SearchRequest
from mcp_memory_server.providers.key_order import in_digest_order, with_pins
from mcp_memory_server.providers.rows import record_of
from mcp_memory_server.providers.signatures import signature_of

from .names import json_names
from .reading import COLUMNS, PINNED_RECORDS
from .vectors import embedder_number

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Ranked, Row, SignatureBlock
    from mcp_memory_server.records import MemoryRecord

K = TypeVar("K")
V = TypeVar("V")

DEFAULT_CACHE_BYTES: Final = 48 * 1024 * 1024

_SCOPES = "SELECT token, id, generation FROM scope WHERE token IN (SELECT value FROM json_each(?))"
_ROWS = "SELECT number, key, thread, time_ms, lexical FROM signature WHERE scope_id = :scope"
_ROWS_WITH_VECTORS = """
SELECT number, key, thread, time_ms, lexical, CASE WHEN embedder = :embedder THEN pooled END
FROM signature WHERE scope_id = :scope
"""
_CHANGED: Final = " AND generation > :since"
_REMOVED = "SELECT number FROM removal WHERE scope_id = ? AND generation > ?"
_BY_NUMBER = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number FROM memory
WHERE memory.number IN (SELECT value FROM json_each(?)) AND memory.scope_id IN (SELECT value FROM json_each(?))
"""
_TOKENS = "SELECT number, vectors FROM token WHERE number IN (SELECT value FROM json_each(?))"


# Records that were answered with, decoded: a conversation asks about the same few again and again.
_KEPT_RECORDS: Final = 2_000
_KEPT_PINS: Final = 256


class _Scope(NamedTuple):
    """A scope as of the running transaction."""

    token: str
    id: int
    generation: int


@dataclass(frozen=True, slots=True)
class _Held:
    generation: int
    block: SignatureBlock


class ScopeCache:
    """What search keeps of the scopes used last: blocks of at most `max_bytes`, decoded records, pinned records.

    All of it is good for one generation of its scope. The generation is read in the same transaction as the
    texts, so a write of any process is seen by the next search, at the cost of the rows that it changed.
    Blocks hold the vectors of one embedder, or none.
    """

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._blocks: OrderedDict[tuple[int, int | None], _Held] = OrderedDict()
        self._records: OrderedDict[tuple[int, int, int], MemoryRecord] = OrderedDict()
        self._pinned: OrderedDict[tuple[_Scope, ...], tuple[MemoryRecord, ...]] = OrderedDict()

    def clear(self) -> None:
        self._blocks.clear()
        self._records.clear()
        self._pinned.clear()

    def block(self, db: sqlite3.Connection, scope: _Scope, embedder: int | None) -> SignatureBlock:
        """The scope's block, brought up to date."""
        place = (scope.id, embedder)
        held = self._blocks.get(place)
        if held is None or held.generation > scope.generation:
            held = _Held(scope.generation, _block_of(_rows(db, scope.id, embedder)))
        elif held.generation < scope.generation:
            removed = [number for (number,) in db.execute(_REMOVED, (scope.id, held.generation))]
            changed = _rows(db, scope.id, embedder, since=held.generation)
            held = _Held(scope.generation, held.block.with_changes(changed, removed))
        self._blocks[place] = held
        self._blocks.move_to_end(place)
        return held.block

    def shrink(self) -> None:
        """Drop the blocks used least recently until the rest fits."""
        total = sum(held.block.nbytes for held in self._blocks.values())
        while total > self._max_bytes and len(self._blocks) > 1:
            _, dropped = self._blocks.popitem(last=False)
            total -= dropped.block.nbytes

    def pinned(self, db: sqlite3.Connection, scopes: Sequence[_Scope]) -> tuple[MemoryRecord, ...]:
        """Every record of every key that has a pin at the scopes, in digest order."""
        place = tuple(scopes)
        found = self._pinned.get(place)
        if found is None:
            tokens = {scope.id: scope.token for scope in scopes}
            rows = db.execute(PINNED_RECORDS, {"scopes": _json_list(tokens)})
            records = [record_of(tokens[row[-1]], row) for row in rows]
            keys = in_digest_order(records, [scope.token for scope in scopes])
            found = tuple(record for held in keys for record in held)
        _keep(self._pinned, place, found, _KEPT_PINS)
        return found

    def records(
        self, db: sqlite3.Connection, wanted: Sequence[tuple[_Scope, int]]
    ) -> Mapping[tuple[int, int], MemoryRecord]:
        """The records by (scope id, number) of what was ranked."""
        found = {(scope.id, number): self._records.get(_place(scope, number)) for scope, number in wanted}
        missing = [(scope, number) for scope, number in wanted if found[scope.id, number] is None]
        if missing:
            scopes = {scope.id: scope for scope, _ in missing}
            asked = (_json_list(number for _, number in missing), _json_list(scopes))
            for row in db.execute(_BY_NUMBER, asked):
                scope = scopes[row[-2]]
                record = record_of(scope.token, row)
                found[scope.id, row[-1]] = record
                _keep(self._records, _place(scope, row[-1]), record, _KEPT_RECORDS)
        return {place: record for place, record in found.items() if record is not None}


def _place(scope: _Scope, number: int) -> tuple[int, int, int]:
    return scope.id, scope.generation, number


def _keep(cache: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > most:
        cache.popitem(last=False)


def search(db: sqlite3.Connection, cache: ScopeCache, request: SearchRequest) -> tuple[Hit, ...]:
    known = {row[0]: _Scope(*row) for row in db.execute(_SCOPES, (json_names(request.scopes),))}
    scopes = [known[token] for token in dict.fromkeys(request.scopes) if token in known]
    pinned = cache.pinned(db, scopes)
    wanted = request.limit + len({record.key for record in pinned})
    found = _ranked(db, cache, request, scopes, wanted)
    places = [(scopes[hit.block_index], hit.number) for hit in found]
    records = cache.records(db, places)
    hits = (
        Hit(records[scope.id, number], hit.score, hit.signals)
        for hit, (scope, number) in zip(found, places, strict=True)
    )
    return with_pins(hits, pinned, request.limit)


def _ranked(
    db: sqlite3.Connection, cache: ScopeCache, request: SearchRequest, scopes: Sequence[_Scope], limit: int
) -> list[Ranked]:
    from mcp_memory_server.ranking import Question, rank  # noqa: PLC0415  # numpy, after the handshake

    embedded = request.embedded
    embedder = None if embedded is None else embedder_number(db, embedded.embedder)
    blocks = [cache.block(db, scope, embedder) for scope in scopes]
    cache.shrink()
    vectors = None
    if embedded is not None and embedder is not None:
        vectors = replace(embedded.vectors, token_source=partial(_tokens, db))
    return rank(blocks, Question(request.query, datetime.fromisoformat(request.at), vectors), limit)


def _tokens(db: sqlite3.Connection, asked: Sequence[tuple[int, int]]) -> list[bytes | None]:
    """The token vectors of records by (block, number), for late interaction."""
    found = dict(db.execute(_TOKENS, (_json_list(number for _, number in asked),)).fetchall())
    return [found.get(number) for _, number in asked]


def _rows(db: sqlite3.Connection, scope_id: int, embedder: int | None, since: int | None = None) -> list[Row]:
    """The scope's rows, or those that changed after the generation `since`."""
    from mcp_memory_server.ranking import SIGNATURE_VERSION, Row  # noqa: PLC0415  # numpy

    query = (_ROWS if embedder is None else _ROWS_WITH_VECTORS) + ("" if since is None else _CHANGED)
    asked = {"scope": scope_id, "embedder": embedder, "since": since}
    rows: list[tuple[Any, ...]] = db.execute(query, asked).fetchall()
    return [Row(*(row if row[4][0] == SIGNATURE_VERSION else _signed_anew(db, row))) for row in rows]


def _signed_anew(db: sqlite3.Connection, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row whose signature an earlier release wrote in another form; `reindex` writes it anew for good."""
    values = db.execute(f"SELECT {COLUMNS} FROM memory WHERE number = ?", row[:1]).fetchone()
    return (*row[:4], signature_of(record_of("", values)), *row[5:])


def _block_of(rows: list[Row]) -> SignatureBlock:
    from mcp_memory_server.ranking import SignatureBlock  # noqa: PLC0415  # numpy

    return SignatureBlock.from_rows(rows)


def _json_list(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
