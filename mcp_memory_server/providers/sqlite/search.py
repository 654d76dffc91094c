"""Ranking rows of scopes, held in memory and brought up to date by what changed since."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcp_memory_server.providers.base import Hit, SearchRequest
from mcp_memory_server.providers.held import (
    LONGEST_AT_ONCE,
    MOST_AT_ONCE,
    Candidates,
    Held,
    Narrowing,
    Part,
    Scope,
    chosen_of,
    pinning,
    shown_of,
)
from mcp_memory_server.providers.rows import record_of
from mcp_memory_server.providers.signatures import is_outdated, signature_of

from .changes import data_version
from .narrowing import conditions_among, conditions_at, narrowed, pinned_rows, quarantined_rows
from .reading import COLUMNS, PINNED_RECORDS, stored_scopes
from .scope_cache import LookedUp, ScopeCache
from .vectors import embedder_number

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Row
    from mcp_memory_server.records import MemoryRecord

_ROWS = "SELECT number, key, thread, time_ms, lexical FROM signature WHERE scope_id = :scope"
_ROWS_WITH_VECTORS = """
SELECT number, key, thread, time_ms, lexical, CASE WHEN embedder = :embedder THEN pooled END
FROM signature WHERE scope_id = :scope
"""
_CHANGED: Final = " AND generation > :since"
_MOST_CHANGED: Final = 8
_FEW_CHANGED: Final = f"SELECT 1 FROM signature WHERE scope_id = ? AND generation > ? LIMIT {_MOST_CHANGED + 1}"
_REMOVED = "SELECT number FROM removal WHERE scope_id = ? AND generation > ?"
_BY_NUMBER = f"""
SELECT {COLUMNS}, memory.number FROM memory
WHERE memory.number IN (SELECT value FROM json_each(?)) AND memory.scope_id = ?
"""
_BY_ITSELF = f"SELECT {COLUMNS} FROM memory WHERE number = ?"
_TOKENS = """
SELECT token.number, token.vectors FROM token
JOIN memory ON memory.number = token.number
JOIN signature ON signature.scope_id = memory.scope_id AND signature.number = token.number
WHERE token.number IN (SELECT value FROM json_each(?)) AND +signature.embedder = ?
"""

_MOST_SEEN: Final = 256


def search(db: sqlite3.Connection, cache: ScopeCache, request: SearchRequest) -> tuple[Hit, ...]:
    with cache.lock:
        cache.renew()
        return _answer(db, cache, request, stored_scopes(db, request.scopes))


def search_at_once(db: sqlite3.Connection, cache: ScopeCache, request: SearchRequest) -> tuple[Hit, ...] | None:
    """The answer, when it is soon made of what is held in memory and of a few rows that changed since; else None.

    Where nothing changed, all that it reads of the database is which generation each scope is at.
    """
    asked = request.filter
    if request.embedded is not None or len(request.query) > LONGEST_AT_ONCE or asked.is_historic or asked.is_narrow:
        return None
    if not cache.lock.acquire(blocking=False):
        return None
    try:
        cache.renew()
        scopes = _scopes_unless_seen(db, cache, request)
        held = [cache.scopes.get(scope, None) for scope in scopes]
        if sum(MOST_AT_ONCE + 1 if kept is None else len(kept.shown.block) for kept in held) > MOST_AT_ONCE:
            return None
        changed = [(scope, kept) for scope, kept in zip(scopes, held, strict=True) if kept and not kept.is_of(scope)]
        if not changed:
            return _answer(_HELD_ONLY, cache, request, scopes)
        if not all(_changed_little(db, scope, kept.generation) for scope, kept in changed):
            return None
        with _one_state(db):
            return _answer(db, cache, request, stored_scopes(db, request.scopes))
    except _NotHeld:
        return None
    finally:
        cache.lock.release()


def _changed_little(db: sqlite3.Connection, scope: Scope[int], since: int) -> bool:
    """Whether so few rows of the scope changed after that generation that a thread would take longer to wake."""
    return since <= scope.generation and len(db.execute(_FEW_CHANGED, (scope.id, since)).fetchall()) <= _MOST_CHANGED


@contextmanager
def _one_state(db: sqlite3.Connection) -> Generator[None]:
    """All that is read inside is of one state of the store."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("COMMIT")


class _NotHeld(Exception):
    """Something would have to be read."""


class _HeldOnly(sqlite3.Connection):
    """Stands for the database where none may be read."""

    def execute(self, *_: object) -> sqlite3.Cursor:
        raise _NotHeld


_HELD_ONLY: Final = _HeldOnly(":memory:")


def _scopes_unless_seen(db: sqlite3.Connection, cache: ScopeCache, request: SearchRequest) -> Sequence[Scope[int]]:
    """`stored_scopes` on a connection that never writes: while nobody else has, what it saw before still stands.

    To ask whether somebody has takes half of what looking takes. It is asked first: a write in between is then seen
    at once, and asked about once more.
    """
    version = data_version(db)
    seen = cache.looked_up
    if seen.db is not db or seen.data_version != version or len(seen.scopes) >= _MOST_SEEN:
        seen = cache.looked_up = LookedUp(db, version, {})
    tokens = tuple(request.scopes)
    found = seen.scopes.get(tokens)
    if found is None:
        found = seen.scopes[tokens] = stored_scopes(db, tokens)
    return found


def _answer(
    db: sqlite3.Connection, cache: ScopeCache, request: SearchRequest, scopes: Sequence[Scope[int]]
) -> tuple[Hit, ...]:
    embedder = None if request.embedded is None else embedder_number(db, request.embedded.embedder)
    held = [_held(db, cache, scope, embedder) for scope in scopes]
    cache.scopes.shrink()
    if request.filter.is_historic or request.filter.is_narrow:
        among = chosen_of(scopes, held, _narrowing(db, scopes, request), cache.language)
    else:
        among = shown_of(scopes, held, _pinned(db, cache, scopes), request.filter)
    found = among.ranked(request, cache.language, partial(_tokens, db, among, embedder))
    missing = among.missing(held, found)
    for place in {place for place, _ in missing}:
        numbers = [number for at, number in missing if at == place]
        cache.scopes.add_records(held[place], _records(db, scopes[place], numbers))
    return among.answer(held, found, request.limit)


def _held(db: sqlite3.Connection, cache: ScopeCache, scope: Scope[int], embedder: int | None) -> Held:
    """The scope's block and records, brought up to date."""
    held = cache.scopes.get(scope, embedder)
    if held is None or held.generation > scope.generation:
        held = Held.whole(scope.generation, _rows(db, cache, scope, embedder), conditions_at(db, [scope.id]))
    elif held.generation < scope.generation:
        changed = _rows(db, cache, scope, embedder, since=held.generation)
        gone = [number for (number,) in db.execute(_REMOVED, (scope.id, held.generation))]
        conditions = conditions_among(db, [row.number for row in changed])
        held = held.brought_to(scope.generation, changed, gone, conditions)
    cache.scopes.keep(scope, embedder, held)
    return held


def _rows(
    db: sqlite3.Connection, cache: ScopeCache, scope: Scope[int], embedder: int | None, since: int | None = None
) -> list[Row]:
    """The scope's rows, or those that changed after the generation `since`."""
    from mcp_memory_server.ranking import SIGNATURE_VERSION, Row  # noqa: PLC0415  # numpy, after the handshake

    query = (_ROWS if embedder is None else _ROWS_WITH_VECTORS) + ("" if since is None else _CHANGED)
    asked = {"scope": scope.id, "embedder": embedder, "since": since}
    rows: list[tuple[Any, ...]] = db.execute(query, asked).fetchall()
    return [Row(*(row if row[4][0] == SIGNATURE_VERSION else _signed_anew(db, cache, row))) for row in rows]


def _signed_anew(db: sqlite3.Connection, cache: ScopeCache, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row whose signature is still to be made, or of another release's form."""
    record = record_of("", db.execute(_BY_ITSELF, row[:1]).fetchone())
    if is_outdated(row[4]):
        cache.note_outdated(record.id)
    return (*row[:4], signature_of(record, cache.language), *row[5:])


def _pinned(db: sqlite3.Connection, cache: ScopeCache, scopes: Sequence[Scope[int]]) -> Sequence[MemoryRecord]:
    """Every record of every key that has a pin at the scopes, in digest order."""
    found = cache.scopes.pinned(scopes)
    if found is None:
        tokens = {scope.id: scope.token for scope in scopes}
        rows = db.execute(PINNED_RECORDS, {"scopes": _json_list(tokens)})
        found = cache.scopes.keep_pinned(scopes, [record_of(tokens[row[-1]], row) for row in rows])
    return found


def _narrowing(db: sqlite3.Connection, scopes: Sequence[Scope[int]], request: SearchRequest) -> Narrowing:
    tokens = {scope.id: scope.token for scope in scopes}
    seen = narrowed(db, tokens, request.filter, ("active",))
    versions: Mapping[int, list[tuple[int, MemoryRecord]]] = {scope: [] for scope in tokens}
    quarantined = quarantined_rows(db, tokens, seen) if request.filter.include_quarantined else ()
    for scope, number, record in (*seen.versions, *quarantined):
        versions[scope].append((number, record))
    parts = [Part(seen.hidden, seen.allowed, versions[scope.id]) for scope in scopes]
    return Narrowing(request.filter, parts, pinned_rows(db, tokens, seen, pinning(parts)))


def _records(db: sqlite3.Connection, scope: Scope[int], wanted: Iterable[int]) -> list[tuple[int, MemoryRecord]]:
    rows = db.execute(_BY_NUMBER, (_json_list(wanted), scope.id))
    return [(row[-1], record_of(scope.token, row)) for row in rows]


def _tokens(
    db: sqlite3.Connection, among: Candidates, embedder: int | None, asked: Sequence[tuple[int, int]]
) -> list[bytes | None]:
    """The token vectors of records by (block, number), for late interaction; of current versions only."""
    found = dict(db.execute(_TOKENS, (_json_list(number for _, number in asked), embedder)).fetchall())
    return [None if number in among.versions[block] else found.get(number) for block, number in asked]


def _json_list(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
