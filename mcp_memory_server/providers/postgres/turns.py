"""A writer's turn at some scopes: what it finds there, and what it changes.

Writers of a scope queue at its row. Whoever's turn it is reads, decides and says what is to change; at the end that is
written down, in as many statements for a thousand records as for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from mcp_memory_server.providers.entity_names import mentions_of
from mcp_memory_server.providers.rows import RECORD_COLUMNS
from mcp_memory_server.providers.signatures import epoch_ms
from mcp_memory_server.records import MemoryRecord, lane_of

from . import entities, surfacing
from .columns import NARROWING_COLUMNS, narrowing_values, record_of, stored_values
from .connection import Transaction
from .names import places_of, stored

# Number and generation rise under the lock of the scope's row. A number is the time of the first writing in
# microseconds, so that records of several scopes, too, are in the order of writing.
_LOCK: Final = """
INSERT INTO scope (scope_id, token, generation, last_number)
SELECT place, token, 0, 0 FROM unnest($1::uuid[], $2::text[]) AS asked (place, token)
ON CONFLICT (scope_id) DO UPDATE SET generation = scope.generation
RETURNING scope_id, generation, last_number, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
"""
# Of scopes that hold something already: asking leaves nothing behind.
_LOCK_HELD: Final = """
SELECT scope_id, generation, last_number, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM scope WHERE scope_id = ANY($1) ORDER BY scope_id FOR UPDATE
"""
_ADVANCE: Final = """
UPDATE scope SET generation = generation + 1, last_number = turn.last_number
FROM unnest($1::uuid[], $2::bigint[]) AS turn (place, last_number)
WHERE scope.scope_id = ANY($1) AND scope.scope_id = turn.place
"""

_HELD_COLUMNS: Final = (*RECORD_COLUMNS, "scope_id", "number", *NARROWING_COLUMNS)
_UPSERT: Final = f"""
INSERT INTO memory ({", ".join(_HELD_COLUMNS)})
VALUES ({", ".join(f"${place}" for place in range(1, len(_HELD_COLUMNS) + 1))})
ON CONFLICT (id, scope_id) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in (*RECORD_COLUMNS, *NARROWING_COLUMNS) if name != "id")}
"""
_ADD_OLD: Final = f"""
INSERT INTO history ({", ".join(RECORD_COLUMNS)}, scope_id)
VALUES ({", ".join(f"${place}" for place in range(1, len(RECORD_COLUMNS) + 2))})
"""
_SIGN: Final = """
WITH outdated AS (DELETE FROM token WHERE scope_id = $1 AND number = $2)
INSERT INTO signature (scope_id, number, generation, key, thread, time_ms, lexical) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (scope_id, number) DO UPDATE SET generation = excluded.generation, key = excluded.key,
    thread = excluded.thread, time_ms = excluded.time_ms, lexical = excluded.lexical, embedder = NULL, pooled = NULL
"""
_UNSIGN: Final = """
WITH left_out AS (SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS left_out (place, number, generation)),
    tokens AS (
        DELETE FROM token USING left_out
        WHERE token.scope_id = ANY($1) AND token.scope_id = place AND token.number = left_out.number
    ),
    signatures AS (
        DELETE FROM signature USING left_out
        WHERE signature.scope_id = ANY($1) AND signature.scope_id = place AND signature.number = left_out.number
        RETURNING place, left_out.generation, left_out.number
    )
INSERT INTO removal (scope_id, generation, number) SELECT place, generation, number FROM signatures
"""
_DELETE: Final = """
WITH gone AS (SELECT * FROM unnest($1::uuid[], $2::text[]) AS gone (place, id)),
    versions AS (
        DELETE FROM history USING gone
        WHERE history.scope_id = ANY($1) AND history.scope_id = place AND history.id = gone.id
    )
DELETE FROM memory USING gone WHERE memory.scope_id = ANY($1) AND memory.scope_id = place AND memory.id = gone.id
"""


def announce(db: Transaction, scope: str, record_id: str) -> None:
    """Tell all who listen, once the transaction commits."""
    db.changed[scope, record_id] = None


@dataclass(frozen=True, slots=True)
class Held:
    """A current record and the store's number for it; what ranking reads of it where that was asked for."""

    record: MemoryRecord
    number: int
    lexical: bytes | None = None


@dataclass(slots=True)
class _Scope:
    """Where a scope stands in this turn."""

    place: UUID
    generation: int
    last_number: int
    now_us: int
    changes: bool = False

    def next_number(self) -> int:
        self.last_number = max(self.last_number + 1, self.now_us)
        return self.last_number


_Name = tuple[str, str]
"""A record's scope and id."""


class Turn:
    """What one transaction knows of the records at the scopes that it has locked, and what it makes of them.

    Use `begin`. Nothing is written before `end`; what is asked here counts what was put, dropped and kept so far.
    """

    def __init__(self, db: Transaction, scopes: dict[str, _Scope]) -> None:
        self.db = db
        self._scopes = scopes
        self._names = {scope.place: name for name, scope in scopes.items()}
        self._held: dict[_Name, Held] = {}
        self._lanes: dict[tuple[str, str, str], str] = {}
        self._waiting: dict[tuple[str, str], dict[str, MemoryRecord]] = {}
        self._stored: dict[_Name, int] = {}
        self._put: dict[_Name, Held] = {}
        self._old: dict[_Name, list[MemoryRecord]] = {}
        self._named: dict[_Name, list[MemoryRecord]] = {}
        self._gone: dict[_Name, int] = {}

    def meet(self, values: Sequence[Any]) -> Held:
        """Take note of a current record that was read: `RECORD_COLUMNS`, then scope_id, number and lexical."""
        place, number, lexical = values[len(RECORD_COLUMNS) :]
        scope = self._names[place]
        held = Held(record_of(scope, values), number, lexical)
        name = (scope, held.record.id)
        if name in self._stored:
            return self._held[name]
        self._stored[name] = number
        self._place(name, held)
        return held

    def current(self, scope: str, key: str, lane: str) -> Held | None:
        """The record of a key in a lane, if it was met."""
        id = self._lanes.get((scope, key, lane))
        return None if id is None else self._held[scope, id]

    def waiting(self, scope: str, key: str) -> list[MemoryRecord]:
        """The quarantined records of a key that were met, by id."""
        return [record for _, record in sorted(self._waiting.get((scope, key), {}).items())]

    def find(self, scope: str, id: str) -> Held | None:
        """The record of an id, if it was met."""
        return self._held.get((scope, id))

    def met(self) -> list[Held]:
        """All that was met and is held."""
        return list(self._held.values())

    def put(self, record: MemoryRecord, lexical: bytes, number: int | None = None) -> None:
        """Let this be the current version of its record, which may be found if it is active.

        `number` is the place in the order of writing of a record that was just dropped, which it is to keep.
        """
        scope = self._scopes[record.scope]
        name = (record.scope, record.id)
        before = self._held.get(name)
        if before is not None:
            self._unplace(before.record)
        if number is None:
            number = scope.next_number() if before is None else before.number
        held = Held(record, number, lexical)
        self._place(name, held)
        self._put[name] = held
        self._note(record)

    def keep(self, version: MemoryRecord) -> None:
        """Let what was the current version of a record stay in its history. What replaces it is put next."""
        self._old.setdefault((version.scope, version.id), []).append(version)

    def take(self, versions: Iterable[MemoryRecord]) -> None:
        """Let these be the history of a record that was just put, and of which none is held."""
        for version in versions:
            self.keep(version)
            self._note(version)

    def drop(self, held: Held) -> None:
        """Let a record go, with its history and all that hangs on it."""
        name = (held.record.scope, held.record.id)
        self._unplace(held.record)
        for drafts in (self._held, self._put, self._old, self._named):
            drafts.pop(name, None)
        if (number := self._stored.pop(name, None)) is not None:
            self._gone[name] = number
        self._change(name)

    def _place(self, name: _Name, held: Held) -> None:
        record = held.record
        self._held[name] = held
        self._lanes[record.scope, record.key, lane_of(record)] = record.id
        if record.status == "quarantined":
            self._waiting.setdefault((record.scope, record.key), {})[record.id] = record

    def _unplace(self, record: MemoryRecord) -> None:
        self._lanes.pop((record.scope, record.key, lane_of(record)), None)
        self._waiting.get((record.scope, record.key), {}).pop(record.id, None)

    def _note(self, version: MemoryRecord) -> None:
        name = (version.scope, version.id)
        if mentions_of(version):
            self._named.setdefault(name, []).append(version)
        self._change(name)

    def _change(self, name: _Name) -> None:
        self._scopes[name[0]].changes = True
        announce(self.db, *name)

    async def end(self) -> None:
        """Write it all down. The turn is over with the transaction."""
        changed = [scope for scope in self._scopes.values() if scope.changes]
        if not changed:
            return
        places, numbers = [scope.place for scope in changed], [scope.last_number for scope in changed]
        await self.db.run(_ADVANCE, places, numbers)
        unnamed = await self._delete() if self._gone else {}
        await self._write()
        for scope, versions in _by_scope(self._named).items():
            await entities.note_many(self.db, self._scopes[scope].place, versions)
        for place, gone in unnamed.items():
            await entities.sweep(self.db, place, gone)

    async def _delete(self) -> dict[UUID, set[str]]:
        """What is gone leaves every table; the entities by place that nothing may name now."""
        names = list(self._gone)
        places = [self._scopes[scope].place for scope, _ in names]
        await self.db.run(_DELETE, places, [stored(id) for _, id in names])
        left = [(self._scopes[name[0]], number) for name, number in self._gone.items() if not self._returns(name)]
        if left:
            await self._unsign(left)
        ids: dict[UUID, list[str]] = {}
        for place, (_, id) in zip(places, names, strict=True):
            ids.setdefault(place, []).append(id)
        for place, dropped in ids.items():
            await surfacing.drop(self.db, place, dropped)
        return {place: await entities.drop(self.db, place, dropped) for place, dropped in ids.items()}

    def _returns(self, name: _Name) -> bool:
        """Whether a record that was dropped was put again in its old place in the order of writing."""
        return name in self._put and self._put[name].number == self._gone.get(name)

    def _may_be_signed(self, name: _Name) -> bool:
        return name in self._stored or self._returns(name)

    async def _write(self) -> None:
        old = [
            (*stored_values(version), self._scopes[scope].place)
            for (scope, _), versions in self._old.items()
            for version in versions
        ]
        if old:
            await self.db.run_many(_ADD_OLD, old)
        if not self._put:
            return
        put = [(self._scopes[scope], held) for (scope, _), held in self._put.items()]
        await self.db.run_many(_UPSERT, [_row_of(scope.place, held) for scope, held in put])
        found = [(scope, held) for scope, held in put if held.record.status == "active"]
        if found:
            await self.db.run_many(_SIGN, [_signature_of(scope, held) for scope, held in found])
        hidden = [
            (scope, held.number)
            for scope, held in put
            if held.record.status != "active" and self._may_be_signed((held.record.scope, held.record.id))
        ]
        if hidden:
            await self._unsign(hidden)

    async def _unsign(self, numbers: Sequence[tuple[_Scope, int]]) -> None:
        await self.db.run(
            _UNSIGN,
            [scope.place for scope, _ in numbers],
            [number for _, number in numbers],
            [scope.generation for scope, _ in numbers],
        )


async def begin(db: Transaction, scopes: Iterable[str]) -> Turn:
    """Wait until no other transaction writes at these scopes, and keep others waiting until this one ends.

    Scopes that no column can hold are left out. All who wait do so in the same order, so nobody waits in a circle.
    """
    places = dict(sorted(places_of(scopes).items()))
    return _turn(db, places, await db.rows(_LOCK, list(places), [stored(scope) for scope in places.values()]))


async def begin_at_held(db: Transaction, scopes: Iterable[str]) -> Turn:
    """As `begin`, for what is done to records that are there already: a scope that never held one stays unknown."""
    places = places_of(scopes)
    return _turn(db, places, await db.rows(_LOCK_HELD, list(places)))


def _turn(db: Transaction, places: Mapping[UUID, str], locked: Iterable[Sequence[Any]]) -> Turn:
    states: dict[str, _Scope] = {}
    for place, generation, last_number, now_us in locked:
        states[places[place]] = _Scope(place, generation + 1, last_number, now_us)
    return Turn(db, states)


def _row_of(place: UUID, held: Held) -> tuple[Any, ...]:
    """The values of `_HELD_COLUMNS`."""
    return (*stored_values(held.record), place, held.number, *narrowing_values(held.record))


def _signature_of(scope: _Scope, held: Held) -> tuple[Any, ...]:
    """The values of `_SIGN`."""
    record = held.record
    thread = stored(record.origin.thread_id or "")
    time_ms = epoch_ms(record.updated_at)
    return (scope.place, held.number, scope.generation, stored(record.key), thread, time_ms, held.lexical)


def _by_scope(named: dict[_Name, list[MemoryRecord]]) -> dict[str, list[MemoryRecord]]:
    found: dict[str, list[MemoryRecord]] = {}
    for (scope, _), versions in named.items():
        found.setdefault(scope, []).extend(versions)
    return found
