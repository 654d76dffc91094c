"""Ranking rows of scopes, held in memory and brought up to date by what changed since."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from mcp_memory_server.providers.base import Filter, Hit, SearchRequest
from mcp_memory_server.providers.key_order import pinned_among, with_pins
from mcp_memory_server.providers.rows import record_of
from mcp_memory_server.providers.shown import ShownBlock
from mcp_memory_server.providers.signatures import numbered, ranking_row, signature_of
from mcp_memory_server.providers.timeline import answers
from mcp_memory_server.records import comes_along

from .names import is_storable, json_names
from .narrowing import conditions_among, conditions_at, narrowed, pinned_rows, quarantined_rows
from .reading import COLUMNS, PINNED_RECORDS
from .vectors import embedder_number

if TYPE_CHECKING:
    from mcp_memory_server.ranking import QueryVectors, Question, Ranked, Row, SignatureBlock
    from mcp_memory_server.records import MemoryRecord

K = TypeVar("K")
V = TypeVar("V")

DEFAULT_CACHE_BYTES: Final = 48 * 1024 * 1024

_SCOPES = "SELECT token, id, generation FROM scope WHERE token IN "
_ROWS = "SELECT number, key, thread, time_ms, lexical FROM signature WHERE scope_id = :scope"
_ROWS_WITH_VECTORS = """
SELECT number, key, thread, time_ms, lexical, CASE WHEN embedder = :embedder THEN pooled END
FROM signature WHERE scope_id = :scope
"""
_CHANGED: Final = " AND generation > :since"
_REMOVED = "SELECT number FROM removal WHERE scope_id = ? AND generation > ?"
_BY_NUMBER = f"""
SELECT {COLUMNS}, memory.number FROM memory
WHERE memory.number IN (SELECT value FROM json_each(?)) AND memory.scope_id = ?
"""
_BY_ITSELF = f"SELECT {COLUMNS} FROM memory WHERE number = ?"
_TOKENS = "SELECT number, vectors FROM token WHERE number IN (SELECT value FROM json_each(?))"


_FEW_SCOPES: Final = 8

# Up to this many records and characters ranking takes less than a millisecond, and handing it to another thread costs
# a third of one at best, and several where threads wait for a core.
_MOST_AT_ONCE: Final = 3_000
_LONGEST_AT_ONCE: Final = 500

# Decoded records take about 3 KB each.
_KEPT_RECORDS: Final = 2_000
_KEPT_PINS: Final = 256
_NO_VERSIONS: Final[Mapping[int, MemoryRecord]] = MappingProxyType({})


class _Scope(NamedTuple):
    """A scope as of the running transaction."""

    token: str
    id: int
    generation: int


@dataclass(frozen=True, slots=True)
class _Held:
    """What is kept of a scope, as of one generation.

    `records` are those that were answered with, decoded: a conversation asks about the same few again and again.
    """

    generation: int
    shown: ShownBlock
    records: dict[int, MemoryRecord]


class ScopeCache:
    """What search keeps of the scopes used last: blocks of at most `max_bytes`, decoded records, pinned records.

    All of it is good for one generation of its scope. The generation is read in the same transaction as the
    texts, so a write of any process is seen by the next search, at the cost of the rows that it changed.
    Blocks hold the vectors of one embedder, or none. One search at a time uses it, under `lock`.
    """

    def __init__(self, language: str | None = None, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self.language = language
        """Of the texts and questions; None where each one's own is detected."""
        self.lock = threading.Lock()
        self._max_bytes = max_bytes
        self._held: OrderedDict[tuple[int, int | None], _Held] = OrderedDict()
        self._grew = False
        self._pinned: OrderedDict[tuple[_Scope, ...], tuple[MemoryRecord, ...]] = OrderedDict()

    def clear(self) -> None:
        self._held.clear()
        self._pinned.clear()

    def scope(self, db: sqlite3.Connection, scope: _Scope, embedder: int | None) -> _Held:
        """The scope's block and records, brought up to date."""
        place = (scope.id, embedder)
        held = self._held.get(place)
        self._grew |= held is None or held.generation != scope.generation
        if held is None or held.generation > scope.generation:
            block = _block_of(self._rows(db, scope.id, embedder))
            held = _Held(scope.generation, ShownBlock(block, conditions_at(db, [scope.id])), {})
        elif held.generation < scope.generation:
            changed = self._rows(db, scope.id, embedder, since=held.generation)
            gone = [number for (number,) in db.execute(_REMOVED, (scope.id, held.generation))]
            stale = {row.number for row in changed}.union(gone)
            records = {number: record for number, record in held.records.items() if number not in stale}
            kept = {number: why for number, why in held.shown.conditions.items() if number not in stale}
            conditions = kept | conditions_among(db, [row.number for row in changed])
            block = held.shown.block.with_changes(changed, gone)
            held = _Held(scope.generation, ShownBlock(block, conditions), records)
        self._held[place] = held
        self._held.move_to_end(place)
        return held

    def holds_all(self, scopes: Iterable[_Scope], most: int) -> bool:
        """Whether it holds these scopes up to date, without vectors, and they have at most so many records."""
        count = 0
        for scope in scopes:
            held = self._held.get((scope.id, None))
            if held is None or held.generation != scope.generation:
                return False
            count += len(held.shown.block)
        return count <= most

    def _rows(self, db: sqlite3.Connection, scope_id: int, embedder: int | None, since: int | None = None) -> list[Row]:
        """The scope's rows, or those that changed after the generation `since`."""
        from mcp_memory_server.ranking import SIGNATURE_VERSION, Row  # noqa: PLC0415  # numpy

        query = (_ROWS if embedder is None else _ROWS_WITH_VECTORS) + ("" if since is None else _CHANGED)
        asked = {"scope": scope_id, "embedder": embedder, "since": since}
        rows: list[tuple[Any, ...]] = db.execute(query, asked).fetchall()
        return [Row(*(row if row[4][0] == SIGNATURE_VERSION else self._signed_anew(db, row))) for row in rows]

    def _signed_anew(self, db: sqlite3.Connection, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """A row whose signature another release wrote in another form; `doctor` writes it anew for good."""
        values = db.execute(_BY_ITSELF, row[:1]).fetchone()
        return (*row[:4], signature_of(record_of("", values), self.language), *row[5:])

    def shrink(self) -> None:
        """Drop the scopes used least recently until the rest fits, and the records of more of them."""
        if not self._grew:
            return
        self._grew = False
        total = sum(held.shown.block.nbytes for held in self._held.values())
        while total > self._max_bytes and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            total -= dropped.shown.block.nbytes
        kept = 0
        for held in reversed(self._held.values()):
            kept += len(held.records)
            if kept > _KEPT_RECORDS:
                held.records.clear()

    def decode(self, db: sqlite3.Connection, scope: _Scope, held: _Held, wanted: Iterable[int]) -> None:
        """See to it that the wanted records are among those held."""
        missing = [number for number in wanted if number not in held.records]
        if missing:
            self._grew = True
            for row in db.execute(_BY_NUMBER, (_json_list(missing), scope.id)):
                held.records[row[-1]] = record_of(scope.token, row)

    def pinned(self, db: sqlite3.Connection, scopes: Sequence[_Scope]) -> tuple[MemoryRecord, ...]:
        """Every record of every key that has a pin at the scopes, in digest order."""
        place = tuple(scopes)
        found = self._pinned.get(place)
        if found is None:
            tokens = {scope.id: scope.token for scope in scopes}
            rows = db.execute(PINNED_RECORDS, {"scopes": _json_list(tokens)})
            records = [record_of(tokens[row[-1]], row) for row in rows]
            found = tuple(pinned_among(records, [scope.token for scope in scopes]))
        _keep(self._pinned, place, found, _KEPT_PINS)
        return found


def _keep(cache: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > most:
        cache.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """What is ranked: a block for each scope, the records of its rows that are not stored so, and what is pinned."""

    blocks: Sequence[SignatureBlock]
    versions: Sequence[Mapping[int, MemoryRecord]]
    pinned: Sequence[MemoryRecord]


def search(db: sqlite3.Connection, cache: ScopeCache, request: SearchRequest) -> tuple[Hit, ...]:
    with cache.lock:
        return _answer(db, cache, request, _scopes(db, request))


def search_at_once(db: sqlite3.Connection, cache: ScopeCache, request: SearchRequest) -> tuple[Hit, ...] | None:
    """The answer, when everything is held in memory that it takes and it is soon made; else None.

    Of the database it reads which generation each scope is at, and nothing else.
    """
    if request.embedded is not None or len(request.query) > _LONGEST_AT_ONCE or not cache.lock.acquire(blocking=False):
        return None
    try:
        scopes = _scopes(db, request)
        return _answer(_HELD_ONLY, cache, request, scopes) if cache.holds_all(scopes, _MOST_AT_ONCE) else None
    except _NotHeld:
        return None
    finally:
        cache.lock.release()


class _NotHeld(Exception):
    """Something would have to be read."""


class _HeldOnly(sqlite3.Connection):
    """Stands for the database where none may be read."""

    def execute(self, *_: object) -> sqlite3.Cursor:
        raise _NotHeld


_HELD_ONLY: Final = _HeldOnly(":memory:")


def _scopes(db: sqlite3.Connection, request: SearchRequest) -> list[_Scope]:
    """The stored scopes among those asked for. One statement, so that all are read in one state of the store."""
    asked = [token for token in dict.fromkeys(request.scopes) if is_storable(token)]
    if len(asked) <= _FEW_SCOPES:  # as nearly always; one text a count, for a list would have to be parsed as JSON
        rows = db.execute(f"{_SCOPES}({','.join('?' * len(asked))})", asked)
    else:
        rows = db.execute(f"{_SCOPES}(SELECT value FROM json_each(?))", (json_names(asked),))
    found = {row[0]: _Scope(*row) for row in rows}
    return [found[token] for token in asked if token in found]


def _answer(
    db: sqlite3.Connection, cache: ScopeCache, request: SearchRequest, scopes: Sequence[_Scope]
) -> tuple[Hit, ...]:
    embedded = request.embedded
    embedder = None if embedded is None else embedder_number(db, embedded.embedder)
    held = [cache.scope(db, scope, embedder) for scope in scopes]
    cache.shrink()
    if request.filter.is_historic or request.filter.is_narrow:
        among = _chosen(db, cache, scopes, held, request.filter)
    else:
        among = _shown(db, cache, scopes, held, request.filter)
    vectors = None
    if embedded is not None and embedder is not None:
        vectors = replace(embedded.vectors, token_source=partial(_tokens, db, among.versions))
    wanted = request.limit + len({record.key for record in among.pinned})
    found = _ranked(among.blocks, _question(request, vectors, cache.language), wanted)
    hits = _hits(db, cache, zip(scopes, held, among.versions, strict=True), found)
    return with_pins(hits, among.pinned, request.limit)


def _shown(
    db: sqlite3.Connection, cache: ScopeCache, scopes: Sequence[_Scope], held: Sequence[_Held], asked: Filter
) -> _Candidates:
    """All current records but the few that a plain filter leaves out."""
    pinned = cache.pinned(db, scopes)
    if any(kept.shown.conditions for kept in held):
        left = [record for record in pinned if answers((record,), asked, ("active",))]
        pinned = pinned_among(left, [scope.token for scope in scopes])
    return _Candidates([kept.shown.under(asked) for kept in held], [_NO_VERSIONS] * len(held), pinned)


def _chosen(
    db: sqlite3.Connection, cache: ScopeCache, scopes: Sequence[_Scope], held: Sequence[_Held], asked: Filter
) -> _Candidates:
    """Some of the current records, and versions that the store holds no row of: those are made now."""
    tokens = {scope.id: scope.token for scope in scopes}
    seen = narrowed(db, tokens, asked, ("active",))
    versions: dict[int, list[tuple[int, MemoryRecord]]] = {scope: [] for scope in tokens}
    quarantined = quarantined_rows(db, tokens, seen) if asked.include_quarantined else ()
    for scope, number, record in (*seen.versions, *quarantined):
        versions[scope].append((number, record))
    rows = [numbered(versions[scope.id], asked) for scope in scopes]
    blocks: list[SignatureBlock] = []
    for kept, added in zip(held, rows, strict=True):
        whole = kept.shown.block
        part = whole.with_changes((), seen.hidden) if seen.allowed is None else whole.restricted_to(seen.allowed)
        made = [ranking_row(number, record, cache.language) for number, record in added.items()]
        blocks.append(part.with_changes(made))
    others = [record for added in rows for record in added.values()]
    current = pinned_rows(db, tokens, seen, {record.key for record in others if comes_along(record)})
    return _Candidates(blocks, rows, pinned_among([*current, *others], list(tokens.values())))


def _hits(
    db: sqlite3.Connection,
    cache: ScopeCache,
    places: Iterable[tuple[_Scope, _Held, Mapping[int, MemoryRecord]]],
    found: Sequence[Ranked],
) -> list[Hit]:
    records: list[Mapping[int, MemoryRecord]] = []
    for index, (scope, held, versions) in enumerate(places):
        numbers = [hit.number for hit in found if hit.block_index == index]
        cache.decode(db, scope, held, [number for number in numbers if number not in versions])
        records.append({**held.records, **versions} if versions else held.records)
    return [Hit(records[hit.block_index][hit.number], hit.score, hit.signals) for hit in found]


def _question(request: SearchRequest, vectors: QueryVectors | None, language: str | None) -> Question:
    from mcp_memory_server.ranking import Question  # noqa: PLC0415  # numpy, after the handshake

    at = datetime.fromisoformat(request.at)
    return Question(request.query, at, vectors, language, with_unrelated=request.with_unrelated)


def _ranked(blocks: Sequence[SignatureBlock], question: Question, limit: int) -> list[Ranked]:
    from mcp_memory_server.ranking import rank  # noqa: PLC0415  # numpy

    return rank(blocks, question, limit)


def _tokens(
    db: sqlite3.Connection, versions: Sequence[Mapping[int, MemoryRecord]], asked: Sequence[tuple[int, int]]
) -> list[bytes | None]:
    """The token vectors of records by (block, number), for late interaction; of current versions only."""
    found = dict(db.execute(_TOKENS, (_json_list(number for _, number in asked),)).fetchall())
    return [None if number in versions[block] else found.get(number) for block, number in asked]


def _block_of(rows: list[Row]) -> SignatureBlock:
    from mcp_memory_server.ranking import SignatureBlock  # noqa: PLC0415  # numpy

    return SignatureBlock.from_rows(rows)


def _json_list(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
