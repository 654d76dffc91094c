"""Ranking rows of scopes, held in memory and brought up to date by what changed since.

A search whose scopes are held asks the database which generations they are at, in one round trip, and nothing else.
Else it reads in one transaction what is missing; decodes and ranks when that is over; and reads the best records in
another one, as they were in the first. Where one of them was replaced meanwhile it begins again.

All searches of a process are tasks of one event loop, and one goes on while another reads. So what is read becomes a
value of the search's own, and is held for the next ones in one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import anyio

from mcp_memory_server.errors import StoreBusy
from mcp_memory_server.providers.base import Hit, SearchRequest
from mcp_memory_server.providers.held import (
    LONGEST_AT_ONCE,
    MOST_AT_ONCE,
    Candidates,
    Held,
    HeldScopes,
    Narrowing,
    Part,
    Scope,
    chosen_of,
    pinning,
    shown_of,
)

from .aside import aside
from .columns import COLUMNS, record_of
from .connection import Database, Transaction
from .names import is_storable, places_of, stored
from .narrowing import Narrowed, answering_rows, narrowed, pinned_rows, quarantined_rows
from .news import News, read_news

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Ranked
    from mcp_memory_server.records import MemoryRecord

_GLANCE: Final = "SELECT scope_id, generation FROM generations($1)"
_SCOPES: Final = "SELECT scope_id, generation FROM scope WHERE scope_id = ANY($1)"
# Rows that are what they were at a generation.
_AS_THEY_WERE: Final = """
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS wanted (place, number, generation)
JOIN signature ON signature.scope_id = wanted.place AND signature.number = wanted.number
    AND signature.generation <= wanted.generation
"""
_RECORDS: Final = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number {_AS_THEY_WERE}
JOIN memory ON memory.scope_id = signature.scope_id AND memory.number = signature.number
WHERE signature.scope_id = ANY($1) AND memory.scope_id = ANY($1)
"""
_TOKENS: Final = f"""
SELECT signature.scope_id, signature.number, token.vectors {_AS_THEY_WERE}
LEFT JOIN token ON token.scope_id = ANY($1) AND token.scope_id = signature.scope_id
    AND token.number = signature.number AND signature.embedder = $4
WHERE signature.scope_id = ANY($1)
"""

_MOST_ATTEMPTS: Final = 10
"""Each fails only where one of the best records is replaced between finding and reading it. What others of them say is
kept, and what is new comes along with the news: the next attempt has less to read."""
_WAIT_S: Final = 0.1
_CHANGES_COST: Final = 30
"""Taking in a row that changed takes as long as ranking about so many."""


class ScopeCache:
    """What search keeps of the scopes used last. One event loop uses it."""

    def __init__(self, language: str | None = None) -> None:
        self.language = language
        """Of the texts and questions; None where each one's own is detected."""
        self.scopes = HeldScopes[UUID, str]()
        self.epoch = 0
        self._is_ready = False

    def follow(self, epoch: int) -> None:
        """Let go of what was held of another epoch of the database. Told after something was read."""
        if epoch != self.epoch:
            self.scopes.clear()
            self.epoch = epoch

    async def get_ready(self) -> None:
        """Load what ranks, numpy and all, aside: the first time that takes long."""
        if not self._is_ready:
            await anyio.to_thread.run_sync(import_module, "mcp_memory_server.ranking.engine")
            self._is_ready = True


class _ReplacedMeanwhile(Exception):
    """A record that is wanted as of a generation is another one by now."""


async def search(database: Database, cache: ScopeCache, request: SearchRequest) -> tuple[Hit, ...]:
    """Raises `StoreBusy` where the scopes are written to so often that no answer comes about."""
    await cache.get_ready()
    places = places_of(request.scopes)
    for _ in range(_MOST_ATTEMPTS):
        found = await _found(database, cache, request, places)
        try:
            return await _Search(database, cache, request, found).answer()
        except _ReplacedMeanwhile:
            continue
    raise StoreBusy(_WAIT_S)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search is about, of one state of the store: its scopes, and of each what is held or what was read."""

    epoch: int
    scopes: Sequence[Scope[UUID]]
    kept: Sequence[Held | News]
    pinned: Sequence[MemoryRecord]
    narrowing: Narrowing | None = None


async def _found(database: Database, cache: ScopeCache, request: SearchRequest, places: Mapping[UUID, str]) -> _Found:
    if not (request.filter.is_historic or request.filter.is_narrow):
        rows = await database.glance(_GLANCE, list(places))
        cache.follow(database.epoch)
        if rows:  # no scope at all may also mean that an engine has not passed the setting on
            scopes = _scopes(places, rows)
            held, pinned = cache.scopes.up_to_date(scopes, _embedder(request)), cache.scopes.pinned(scopes)
            if held is not None and pinned is not None:
                return _Found(cache.epoch, scopes, held, pinned)

    async def read(db: Transaction) -> _Found:
        scopes = _scopes(places, await db.rows(_SCOPES, list(places)))
        cache.follow(database.epoch)
        return await _read(db, cache, request, scopes)

    return await database.read(places, read)


def _scopes(places: Mapping[UUID, str], rows: Iterable[Sequence[Any]]) -> list[Scope[UUID]]:
    """The stored scopes among those asked for, in the order asked."""
    generations: dict[UUID, int] = {place: generation for place, generation in rows}  # noqa: C416  # rows are records
    return [Scope(name, place, generations[place]) for place, name in places.items() if place in generations]


def _embedder(request: SearchRequest) -> str | None:
    """The embedder as columns name it."""
    if request.embedded is None or not is_storable(request.embedded.embedder):
        return None
    return stored(request.embedded.embedder)


async def _read(db: Transaction, cache: ScopeCache, request: SearchRequest, scopes: Sequence[Scope[UUID]]) -> _Found:
    embedder, epoch = _embedder(request), cache.epoch
    held = [cache.scopes.get(scope, embedder) for scope in scopes]
    kept = await read_news(db, scopes, held, embedder)
    if request.filter.is_historic or request.filter.is_narrow:
        return _Found(epoch, scopes, kept, (), await _narrowing(db, scopes, request))
    pinned = cache.scopes.pinned(scopes)
    if pinned is None:
        tokens = {scope.id: scope.token for scope in scopes}
        pinned = cache.scopes.keep_pinned(scopes, await pinned_rows(db, tokens, Narrowed()))
    return _Found(epoch, scopes, kept, pinned)


async def _narrowing(db: Transaction, scopes: Sequence[Scope[UUID]], request: SearchRequest) -> Narrowing:
    asked, tokens = request.filter, {scope.id: scope.token for scope in scopes}
    seen = await narrowed(db, tokens, asked, ("active",))
    allowed = await answering_rows(db, tokens, seen) if asked.is_narrow else {}
    hidden: dict[UUID, list[int]] = {place: [] for place in tokens}
    for place, number in seen.hidden:
        hidden[place].append(number)
    versions: dict[UUID, list[tuple[int, MemoryRecord]]] = {place: [] for place in tokens}
    quarantined = await quarantined_rows(db, tokens, seen) if asked.include_quarantined else ()
    for place, number, record in (*seen.versions, *quarantined):
        versions[place].append((number, record))
    parts = [Part(hidden[place], allowed.get(place), versions[place]) for place in tokens]
    return Narrowing(asked, parts, await pinned_rows(db, tokens, seen, pinning(parts)))


@dataclass(frozen=True, slots=True)
class _Ranking:
    held: Sequence[Held]
    among: Candidates
    found: Sequence[Ranked]


@dataclass(frozen=True, slots=True)
class _Search:
    """One attempt at an answer."""

    database: Database
    cache: ScopeCache
    request: SearchRequest
    about: _Found

    async def answer(self) -> tuple[Hit, ...]:
        """Raises `_ReplacedMeanwhile`."""
        ranking = self._ranking() if self._is_soon_ranked() else await anyio.to_thread.run_sync(self._ranking)
        scopes = self.cache.scopes
        if self.about.epoch == self.cache.epoch:
            for scope, held in zip(self.about.scopes, ranking.held, strict=True):
                newest = scopes.get(scope, _embedder(self.request))
                if newest is None or newest.generation <= held.generation:
                    scopes.keep(scope, _embedder(self.request), held)
            scopes.shrink()
        missing = ranking.among.missing(ranking.held, ranking.found)
        if missing:
            records = await self._records(ranking.held, missing)
            for place, number, record in records:
                scopes.add_records(ranking.held[place], [(number, record)])
            if len(records) < len(missing):
                raise _ReplacedMeanwhile
        return ranking.among.answer(ranking.held, ranking.found, self.request.limit)

    def _is_soon_ranked(self) -> bool:
        """Whether the event loop may do it: nothing has to be read for it, and little to be made."""
        request, about = self.request, self.about
        embedded = request.embedded
        if len(request.query) > LONGEST_AT_ONCE or (embedded is not None and embedded.vectors.tokens is not None):
            return False
        if about.narrowing is not None and any(part.versions for part in about.narrowing.parts):
            return False
        count = 0
        for kept in about.kept:
            held = kept.since if isinstance(kept, News) else kept
            if held is None:
                return False
            count += len(held.shown.block) + (_CHANGES_COST * len(kept.rows) if isinstance(kept, News) else 0)
        return count <= MOST_AT_ONCE

    def _ranking(self) -> _Ranking:
        """What is found, by what was read. Does not touch what searches share."""
        language, about = self.cache.language, self.about
        held = [kept.held(language) if isinstance(kept, News) else kept for kept in about.kept]
        if about.narrowing is None:
            among = shown_of(about.scopes, held, about.pinned, self.request.filter)
        else:
            among = chosen_of(about.scopes, held, about.narrowing, language)

        def tokens(asked: Sequence[tuple[int, int]]) -> list[bytes | None]:
            return anyio.from_thread.run(self._tokens, held, among, asked)

        return _Ranking(held, among, among.ranked(self.request, language, tokens))

    async def _tokens(
        self, held: Sequence[Held], among: Candidates, asked: Sequence[tuple[int, int]]
    ) -> list[bytes | None]:
        """The token vectors of records by (block, number), for late interaction; of current versions only."""
        current = [(place, number) for place, number in asked if number not in among.versions[place]]
        rows = await self._rows_as_they_were(held, current, _TOKENS, _embedder(self.request))
        if len(rows) < len(current):
            raise _ReplacedMeanwhile
        vectors = {(row[0], row[1]): row[2] for row in rows}
        return [vectors.get((self.about.scopes[place].id, number)) for place, number in asked]

    async def _records(
        self, held: Sequence[Held], wanted: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int, MemoryRecord]]:
        """These records by place of their scope and number, but those that are other ones by now."""
        rows = await self._rows_as_they_were(held, wanted, _RECORDS)
        places = {scope.id: place for place, scope in enumerate(self.about.scopes)}
        tokens = [scope.token for scope in self.about.scopes]
        at = [(places[row[-2]], row[-1], row) for row in rows]
        return await aside(
            len(rows), lambda: [(place, number, record_of(tokens[place], row)) for place, number, row in at]
        )

    async def _rows_as_they_were(
        self, held: Sequence[Held], wanted: Sequence[tuple[int, int]], query: str, *more: object
    ) -> list[Sequence[Any]]:
        """A row for each record that is what it was at the generation held."""
        places = {scope.id: scope.token for scope in self.about.scopes}
        columns = (
            [self.about.scopes[place].id for place, _ in wanted],
            [number for _, number in wanted],
            [held[place].generation for place, _ in wanted],
        )
        return await self.database.read(places, lambda db: db.rows(query, *columns, *more))
