"""Records: by digest order, by id or key, by page, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any, Final, NamedTuple
from uuid import UUID

from mcp_memory_server.providers.base import Filter, Listing, ListRequest, PageCursor, PageRequest, ScopeCount, Stats
from mcp_memory_server.providers.key_order import listing
from mcp_memory_server.providers.rows import PINNED, RECORD_COLUMNS
from mcp_memory_server.records import MemoryRecord, Sensitivity, Status, comes_along

from . import examining
from .aside import aside
from .columns import COLUMNS, record_of
from .connection import Transaction
from .names import is_storable, place_of, places_of, stored, stored_names, told
from .narrowing import Narrowed, Parameters, narrowed, pinned_keys

# In these, {statuses} stands for the statuses that are asked for, {seen} and {other_seen} for what a filter adds.
_MATCHING: Final = f"""
SELECT {COLUMNS}, memory.scope_id FROM memory
WHERE memory.scope_id = ANY($1) AND memory.status {{statuses}}{{seen}}
"""
_KEY, _UPDATED_AT, _PINNED = map(RECORD_COLUMNS.index, ("key", "updated_at", "pinned"))
# So many are read at once and chosen among here, in the time that asking the indexes of a large scope takes.
_FEW: Final = 400
_FIRST_FOUND: Final = f"{_MATCHING}LIMIT {_FEW}"
_NEWEST_KEYS: Final = """
SELECT memory.key FROM memory WHERE memory.scope_id = $1 AND memory.status {statuses}{seen}
ORDER BY memory.updated_at DESC, memory.key LIMIT $3 OFFSET $4
"""
_COUNT_IN_SCOPES: Final = """
SELECT memory.scope_id, count(*) FROM memory
WHERE memory.scope_id = ANY($1) AND memory.status {statuses}{seen} GROUP BY memory.scope_id
"""
# Records beside another one of their key at their scope. Few are: the partial index holds them alone.
_COUNT_BESIDE: Final = """
SELECT count(*) FROM memory
WHERE memory.scope_id = $1 AND memory.lane <> '' AND memory.status {statuses}{seen} AND EXISTS (
    SELECT 1 FROM memory AS other
    WHERE other.scope_id = memory.scope_id AND other.scope_id = $1 AND other.key = memory.key
      AND other.lane < memory.lane AND other.status {statuses}{other_seen}
)
"""
_KEYS: Final = """
SELECT DISTINCT memory.key FROM memory WHERE memory.scope_id = ANY($1) AND memory.status {statuses}{seen}
"""
_COUNT_HELD_KEYS: Final = """
SELECT count(DISTINCT memory.key) FROM memory
WHERE memory.scope_id = $1 AND memory.status {statuses} AND memory.key = ANY($3::text[]){seen}
"""

_PAGE: Final = f"""
SELECT {COLUMNS} FROM memory
WHERE memory.scope_id = $1 AND memory.key >= $2 AND (memory.key > $2 OR memory.id > $3)
ORDER BY memory.key, memory.id LIMIT $4
"""
_SCOPES: Final = """
SELECT token FROM scope WHERE EXISTS (SELECT 1 FROM memory WHERE memory.scope_id = scope.scope_id)
"""

_COUNTED: Final = f"""
SELECT memory.scope_id, memory.kind, memory.status, count(*), sum(memory.pinned & {PINNED}), max(memory.updated_at)
FROM memory WHERE memory.scope_id = ANY($1) AND memory.sensitivity = ANY($2::text[])
GROUP BY memory.scope_id, memory.kind, memory.status
"""
_COUNT_OLD: Final = """
SELECT count(*) FROM history JOIN memory ON memory.scope_id = history.scope_id AND memory.id = history.id
WHERE history.scope_id = ANY($1) AND memory.scope_id = ANY($1) AND memory.sensitivity = ANY($2::text[])
"""
_COUNT_ERASURES: Final = "SELECT count(*) FROM erasure WHERE scope_id = ANY($1)"

# Where narrower scopes and pins have taken some keys, further ones are read in steps of this many at least.
_LEAST_STEP: Final = 50


@dataclass(frozen=True, slots=True)
class _Asked:
    """A list request in the store's own terms: its scopes by place, its statuses, and what its filter comes to."""

    scopes: Mapping[UUID, str]
    statuses: Sequence[Status]
    narrowed: Narrowed

    def query(self, template: str, scopes: UUID | Iterable[UUID], *more: object) -> tuple[Any, ...]:
        """A query about some of the scopes, and its values: those, the statuses, and `more`."""
        places = scopes if isinstance(scopes, UUID) else list(scopes)
        # Of one status alone an index has the rows in the order that is asked for.
        one = len(self.statuses) == 1
        values = Parameters(places, self.statuses[0] if one else list(self.statuses), *more)
        told = {"statuses": "= $2" if one else "= ANY($2::text[])", "seen": self.narrowed.clause(values)}
        if "{other_seen}" in template:
            told["other_seen"] = self.narrowed.clause(values, "other")
        return template.format(**told), *values


async def list_records(db: Transaction, request: ListRequest) -> Listing:
    scopes = places_of(request.scopes)
    included: tuple[Status, ...] = ("quarantined",) if request.filter.include_quarantined else ()
    statuses = tuple(dict.fromkeys(request.statuses + included))
    asked = _Asked(scopes, statuses, await narrowed(db, scopes, request.filter, statuses))
    versions = [version.record for version in asked.narrowed.versions if _is_named(version.record, request)]
    if request.limit is None or request.ids is not None or request.keys is not None:
        found = await _matching(db, asked, request.ids, request.keys)
        return await aside(len(found), lambda: listing([*found, *versions], request))
    # A version that is no row may stand anywhere in the order: all of them are looked at.
    others = _Others.of(versions)
    rows = await db.rows(*asked.query(_FIRST_FOUND, scopes))
    if len(rows) < _FEW:
        keys = _keys_among(rows, asked, request.limit, others)
        found = [record_of(scopes[row[-1]], row) for row in rows if row[_KEY] in keys.first]
    else:
        keys = await _keys_by_index(db, asked, request.limit, others)
        found = await _matching(db, asked, None, map(told, keys.first))
    listed = listing([*found, *versions], request)
    return Listing(listed.records, keys=keys.total, pinned_keys=keys.pinned)


def _is_named(record: MemoryRecord, request: ListRequest) -> bool:
    return (request.ids is None or record.id in request.ids) and (request.keys is None or record.key in request.keys)


class _Others(NamedTuple):
    """The keys of versions that are no rows, as columns hold them, and those that one of these versions pins."""

    keys: frozenset[str]
    pinned: frozenset[str]

    @classmethod
    def of(cls, versions: Iterable[MemoryRecord]) -> _Others:
        held = list(versions)
        pinned = (stored(record.key) for record in held if comes_along(record))
        return cls(frozenset(stored(record.key) for record in held), frozenset(pinned))


class _Keys(NamedTuple):
    """The keys, as columns hold them, of all that may be listed; and how many there are in all, and pinned."""

    first: set[str]
    total: int
    pinned: int


def _keys_among(rows: Sequence[Sequence[Any]], asked: _Asked, limit: int, others: _Others) -> _Keys:
    """The keys of a list, given every row that matches."""
    pinned = {row[_KEY] for row in rows if row[_PINNED]} | others.pinned
    rank = {place: position for position, place in enumerate(asked.scopes)}
    # Stable sorts, the least significant first: instants descend, and strings cannot be negated.
    ordered = sorted(rows, key=itemgetter(_KEY))
    ordered.sort(key=itemgetter(_UPDATED_AT), reverse=True)
    ordered.sort(key=lambda row: rank[row[-1]])
    newest = dict.fromkeys(row[_KEY] for row in ordered if row[_KEY] not in pinned)
    first = pinned | set(islice(newest, max(limit - len(pinned), 0))) | others.keys
    return _Keys(first, len({*newest, *pinned, *others.keys}), len(pinned))


async def _keys_by_index(db: Transaction, asked: _Asked, limit: int, others: _Others) -> _Keys:
    """The keys of a list from large scopes, without reading all of their rows."""
    pinned = await pinned_keys(db, asked.scopes, asked.narrowed, asked.statuses) | others.pinned
    first = {*await _first_keys(db, asked, limit, pinned), *others.keys}
    return _Keys(first, await _count_keys(db, asked, others.keys), len(pinned))


async def _count_keys(db: Transaction, asked: _Asked, others: Iterable[str]) -> int:
    """How many distinct keys the scopes hold together, with `others`.

    The largest scope is counted. Only the keys of the smaller ones, and records beside another of their key, are looked
    at one by one: counting distinct keys outright would sort all of them.
    """
    keys = set(others)
    counts = dict(map(tuple, await db.rows(*asked.query(_COUNT_IN_SCOPES, asked.scopes))))
    if not counts:
        return len(keys)
    largest, *smaller = sorted(counts, key=lambda place: counts[place], reverse=True)
    if smaller:
        keys.update(key for (key,) in await db.rows(*asked.query(_KEYS, smaller)))
    total = counts[largest] - await db.value(*asked.query(_COUNT_BESIDE, largest)) + len(keys)
    return total - (await db.value(*asked.query(_COUNT_HELD_KEYS, largest, list(keys))) if keys else 0)


async def _first_keys(db: Transaction, asked: _Asked, limit: int, pinned: Iterable[str]) -> list[str]:
    """All pinned keys, then the newest of each scope, narrowest first, until there are as many as requested.

    A key met first at its narrowest scope is met at the record that answers it, so this is digest order, and
    it reads few more rows than it returns keys, however large the scopes are.
    """
    chosen = dict.fromkeys(pinned)
    for place in asked.scopes:
        step, behind, more = limit + _LEAST_STEP, 0, True
        while more and len(chosen) < limit:
            rows = await db.rows(*asked.query(_NEWEST_KEYS, place, step, behind))
            for (key,) in rows:
                if len(chosen) >= limit:
                    break
                chosen[key] = None
            behind, more = behind + step, len(rows) == step
    return list(chosen)


async def _matching(
    db: Transaction, asked: _Asked, ids: Iterable[str] | None, keys: Iterable[str] | None
) -> list[MemoryRecord]:
    query, *values = asked.query(_MATCHING, asked.scopes)
    named = Parameters(*values)
    if ids is not None:
        query += f" AND memory.id = ANY({named.add(stored_names(ids))}::text[])"
    if keys is not None:
        query += f" AND memory.key = ANY({named.add(stored_names(keys))}::text[])"
    rows = await db.rows(query, *named)
    return await aside(len(rows), lambda: [record_of(asked.scopes[row[-1]], row) for row in rows])


async def page(db: Transaction, request: PageRequest) -> tuple[MemoryRecord, ...]:
    # No key is blank, so before the first record is behind the blank one.
    after = request.after or PageCursor("")
    if not all(map(is_storable, (request.scope, after.key, after.id or ""))):
        return ()
    behind = None if after.id is None else stored(after.id)
    rows = await db.rows(_PAGE, place_of(request.scope), stored(after.key), behind, request.limit)
    return await aside(len(rows), lambda: tuple(record_of(request.scope, row) for row in rows))


async def all_scopes(db: Transaction) -> tuple[str, ...]:
    return tuple(sorted(told(token) for (token,) in await db.rows(_SCOPES)))


async def stats(db: Transaction, scopes: Sequence[str], max_sensitivity: Sensitivity | None) -> Stats:
    places = places_of(scopes)
    counted = list(places), list(Filter(max_sensitivity=max_sensitivity).ceiling)
    by_scope, by_kind, by_status = Counter[str](), Counter[str](), Counter[str]()
    pinned, last_write = 0, None
    for place, kind, status, count, pins, newest in await db.rows(_COUNTED, *counted):
        by_scope[places[place]] += count
        by_kind[kind] += count
        by_status[status] += count
        pinned += pins
        last_write = max(last_write or newest, newest)
    records = by_scope.total()
    return Stats(
        records=records,
        pinned=pinned,
        versions=records + await db.value(_COUNT_OLD, *counted),
        by_scope=tuple(ScopeCount(scope, by_scope[scope]) for scope in scopes if scope in by_scope),
        by_kind=dict(by_kind),
        by_status=dict(by_status),
        last_write=last_write,
        pending_erasures=await db.value(_COUNT_ERASURES, list(places)),
        last_maintenance=await examining.last_maintenance(db),
    )
