"""Records: by digest order, by id or key, by page, and counted."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from mcp_memory_server.providers.base import Filter, Listing, ListRequest, PageCursor, PageRequest, ScopeCount, Stats
from mcp_memory_server.providers.held import Scope
from mcp_memory_server.providers.key_order import listing
from mcp_memory_server.providers.rows import PINNED, RECORD_COLUMNS, record_of
from mcp_memory_server.records import MemoryRecord, Sensitivity, Status, comes_along

from . import examining
from .names import is_storable, json_names
from .narrowing import Narrowed, narrowed
from .scope_cache import ScopeCache

COLUMNS: Final = ", ".join(f"memory.{name}" for name in RECORD_COLUMNS)

GENERATION: Final = """
max(
    coalesce((SELECT max(generation) FROM signature WHERE scope_id = scope.id), 0),
    coalesce((SELECT max(generation) FROM removal WHERE scope_id = scope.id), 0)
)
"""
"""The generation that a row of `scope` is at: each change left a row of its own in one of the two tables."""

# Lists travel as one JSON parameter: a store of many scopes or a long list of ids meets no limit on parameters.
_SCOPES = "SELECT id, token FROM scope WHERE token IN (SELECT value FROM json_each(?))"
_SCOPES_NOW = f"SELECT token, id, {GENERATION} FROM scope WHERE token IN "
_FEW_SCOPES: Final = 8

# A `+` before a column keeps it out of the choice of index: without statistics SQLite takes the index by status,
# which all records of a scope share, and reads the whole scope.
_MATCHING = f"""
SELECT {COLUMNS}, memory.number, memory.scope_id FROM memory {{index}}
WHERE memory.scope_id IN (SELECT value FROM json_each(:scopes))
  AND +memory.status IN (SELECT value FROM json_each(:statuses))
"""
# Named, since SQLite would take the index by id alone, and so come across the records of others.
_BY_PLACE = "INDEXED BY memory_place"
# Added where they are asked for: with "or nothing is asked" in the query no index would serve it.
_WITH_IDS = "AND memory.id IN (SELECT value FROM json_each(:ids))"
_WITH_KEYS = "AND memory.key IN (SELECT value FROM json_each(:keys))"

# In these, {seen} and {other_seen} stand for what a filter adds (`Narrowed.clause`).
_PINNED_KEYS = """
SELECT DISTINCT key FROM memory INDEXED BY memory_pinned
WHERE scope_id IN (SELECT value FROM json_each(:scopes)) AND pinned
  AND status IN (SELECT value FROM json_each(:statuses)){seen}
"""

PINNED_RECORDS: Final = f"""
SELECT {COLUMNS}, memory.scope_id FROM memory
WHERE memory.scope_id IN (SELECT value FROM json_each(:scopes)) AND +memory.status = 'active' AND memory.key IN (
    SELECT key FROM memory INDEXED BY memory_pinned
    WHERE scope_id IN (SELECT value FROM json_each(:scopes)) AND pinned AND +status = 'active'
)
"""
"""Every record of every key that has a pin at the scopes."""

# With one status the index gives this order; with several the rows have to be sorted.
_NEWEST_KEYS_OF_ONE_STATUS = """
SELECT key FROM memory WHERE scope_id = :scope AND status = :status{seen} ORDER BY updated_at DESC, key
"""
_NEWEST_KEYS = """
SELECT key FROM memory WHERE scope_id = :scope AND status IN (SELECT value FROM json_each(:statuses)){seen}
ORDER BY updated_at DESC, key
"""

_COUNT_IN_SCOPES = """
SELECT scope_id, count(*) FROM memory
WHERE scope_id IN (SELECT value FROM json_each(:scopes))
  AND status IN (SELECT value FROM json_each(:statuses)){seen} GROUP BY scope_id
"""

# Records beside another one of their key at their scope. Few are: the partial index holds them alone.
_COUNT_BESIDE = """
SELECT scope_id, count(*) FROM memory INDEXED BY memory_apart
WHERE scope_id IN (SELECT value FROM json_each(:scopes)) AND lane <> ''
  AND status IN (SELECT value FROM json_each(:statuses)){seen} AND EXISTS (
    SELECT 1 FROM memory AS other
    WHERE other.scope_id = memory.scope_id AND other.key = memory.key AND other.lane < memory.lane
      AND other.status IN (SELECT value FROM json_each(:statuses)){other_seen}
) GROUP BY scope_id
"""

_COUNT_SHARED = """
SELECT count(DISTINCT key) FROM memory
WHERE scope_id = :scope AND status IN (SELECT value FROM json_each(:statuses)){seen} AND EXISTS (
    SELECT 1 FROM memory AS other
    WHERE other.scope_id IN (SELECT value FROM json_each(:larger)) AND other.key = memory.key
      AND other.status IN (SELECT value FROM json_each(:statuses)){other_seen}
)
"""

_HELD_KEYS = """
SELECT DISTINCT key FROM memory
WHERE scope_id IN (SELECT value FROM json_each(:scopes)) AND key IN (SELECT value FROM json_each(:keys))
  AND +status IN (SELECT value FROM json_each(:statuses)){seen}
"""

_PAGE = f"""
SELECT {COLUMNS} FROM memory JOIN scope ON scope.id = memory.scope_id
WHERE scope.token = :scope AND memory.key >= :key
  AND (memory.key > :key OR memory.id > :id) ORDER BY memory.key, memory.id LIMIT :limit
"""

_COUNTED = """
FROM memory JOIN scope ON scope.id = memory.scope_id WHERE scope.token IN (SELECT value FROM json_each(?))
"""
_UP_TO = "AND sensitivity IN (SELECT value FROM json_each(?))"

_NOTHING_KNOWN: Final[Mapping[int, dict[int, MemoryRecord]]] = MappingProxyType({})


def scope_ids(db: sqlite3.Connection, scopes: Sequence[str]) -> dict[int, str]:
    """The stored scopes among `scopes`, by row id, in the order given."""
    found = {token: scope_id for scope_id, token in db.execute(_SCOPES, (json_names(scopes),))}
    return {found[token]: token for token in scopes if token in found}


def stored_scopes(db: sqlite3.Connection, scopes: Sequence[str]) -> list[Scope[int]]:
    """The stored scopes among `scopes`. One statement, so that all are read in one state of the store."""
    asked = [token for token in dict.fromkeys(scopes) if is_storable(token)]
    if len(asked) <= _FEW_SCOPES:  # as nearly always; one text a count, for a list would have to be parsed as JSON
        rows = db.execute(f"{_SCOPES_NOW}({','.join('?' * len(asked))})", asked)
    else:
        rows = db.execute(f"{_SCOPES_NOW}(SELECT value FROM json_each(?))", (json_names(asked),))
    found = {row[0]: Scope[int](*row) for row in rows}
    return [found[token] for token in asked if token in found]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A list request in the store's own terms: its scopes by row id, its statuses, and what its filter comes to."""

    scopes: dict[int, str]
    statuses: tuple[Status, ...]
    narrowed: Narrowed

    def query(self, template: str, **more: object) -> tuple[str, dict[str, object]]:
        """A query and its parameters."""
        given: dict[str, object] = {"scopes": _json(self.scopes), "statuses": json.dumps(self.statuses)}
        query = template.format(seen=self.narrowed.clause(), other_seen=self.narrowed.clause("other"))
        return query, given | {"seen": self.narrowed.seen} | more


def list_records(db: sqlite3.Connection, request: ListRequest, cache: ScopeCache) -> Listing:
    stored = stored_scopes(db, request.scopes)
    scopes = {scope.id: scope.token for scope in stored}
    included: tuple[Status, ...] = ("quarantined",) if request.filter.include_quarantined else ()
    statuses = tuple(dict.fromkeys(request.statuses + included))
    # The statuses say which quarantined ones are asked for: as a part of the filter that would read the scopes whole.
    asked = _Asked(scopes, statuses, narrowed(db, scopes, replace(request.filter, include_quarantined=False), statuses))
    versions = [version.record for version in asked.narrowed.versions if _is_named(version.record, request)]
    if request.limit is None or request.ids is not None or request.keys is not None:
        return listing([*_matching(db, asked, request.ids, request.keys), *versions], request)
    pinned = {key for (key,) in db.execute(*asked.query(_PINNED_KEYS))}
    pinned.update(record.key for record in versions if comes_along(record))
    # A version that is no row may stand anywhere in the order: all of them are looked at.
    first = {*_first_keys(db, asked, request.limit, pinned), *(record.key for record in versions)}
    with cache.lock:
        cache.renew()
        # Turn after turn the same few are listed. A generation tells of changes to active records only.
        known = {scope.id: cache.scopes.listed(scope) for scope in stored} if statuses == ("active",) else {}
        before = sum(map(len, known.values()))
        current = _matching(db, asked, None, first, known)
        if sum(map(len, known.values())) > before:
            cache.scopes.shrink_records()
    listed = listing([*current, *versions], request)
    return Listing(listed.records, keys=_count_keys(db, asked, versions), pinned_keys=len(pinned))


def _is_named(record: MemoryRecord, request: ListRequest) -> bool:
    return (request.ids is None or record.id in request.ids) and (request.keys is None or record.key in request.keys)


def _count_keys(db: sqlite3.Connection, asked: _Asked, versions: Iterable[MemoryRecord]) -> int:
    """How many distinct keys the scopes hold together.

    Each scope adds its keys less those that a larger one holds too. Only the smaller ones, and records beside
    another of their key, are looked at one by one: counting distinct keys outright would sort all of them.
    """
    counts: dict[int, int] = dict(db.execute(*asked.query(_COUNT_IN_SCOPES)).fetchall())
    for scope, beside in db.execute(*asked.query(_COUNT_BESIDE)):
        counts[scope] -= beside
    total, larger = 0, list[int]()
    for scope in sorted(counts, key=lambda scope: counts[scope], reverse=True):
        shared = 0
        if larger:
            shared = db.execute(*asked.query(_COUNT_SHARED, scope=scope, larger=_json(larger))).fetchone()[0]
        total += counts[scope] - shared
        larger.append(scope)
    more = {record.key for record in versions}
    if more:
        more -= {key for (key,) in db.execute(*asked.query(_HELD_KEYS, keys=json_names(more)))}
    return total + len(more)


def _first_keys(db: sqlite3.Connection, asked: _Asked, limit: int, pinned: Iterable[str]) -> list[str]:
    """All pinned keys, then the newest of each scope, narrowest first, until there are as many as requested.

    A key met first at its narrowest scope is met at the record that answers it, so this is digest order, and
    it reads no more rows than it returns keys, however large the scopes are.
    """
    chosen = dict.fromkeys(pinned)
    for scope_id in asked.scopes:
        if len(asked.statuses) == 1:
            query = asked.query(_NEWEST_KEYS_OF_ONE_STATUS, scope=scope_id, status=asked.statuses[0])
        else:
            query = asked.query(_NEWEST_KEYS, scope=scope_id)
        for (key,) in db.execute(*query):
            if len(chosen) >= limit:
                return list(chosen)
            chosen[key] = None
    return list(chosen)


def _matching(
    db: sqlite3.Connection,
    asked: _Asked,
    ids: Iterable[str] | None,
    keys: Iterable[str] | None,
    known: Mapping[int, dict[int, MemoryRecord]] = _NOTHING_KNOWN,
) -> list[MemoryRecord]:
    """The records of these ids or keys. Those that are `known`, by scope and number, are not decoded again."""
    query, more = _MATCHING.format(index="" if ids is None else _BY_PLACE), dict[str, object]()
    if ids is not None:
        query += _WITH_IDS
        more["ids"] = json_names(ids)
    if keys is not None:
        query += _WITH_KEYS
        more["keys"] = json_names(keys)
    found: list[MemoryRecord] = []
    for row in db.execute(*asked.query(query + "{seen}", **more)):
        number, scope_id = row[-2:]
        records = known.get(scope_id, {})
        if number not in records:
            records[number] = record_of(asked.scopes[scope_id], row)
        found.append(records[number])
    return found


def page(db: sqlite3.Connection, request: PageRequest) -> tuple[MemoryRecord, ...]:
    # No key is blank, so before the first record is behind the blank one.
    after = request.after or PageCursor("")
    if not all(map(is_storable, (request.scope, after.key, after.id or ""))):
        return ()
    asked = {"scope": request.scope, "key": after.key, "id": after.id, "limit": request.limit}
    rows = db.execute(_PAGE, asked)
    return tuple(record_of(request.scope, row) for row in rows)


def all_scopes(db: sqlite3.Connection) -> tuple[str, ...]:
    rows = db.execute("SELECT token FROM scope WHERE id IN (SELECT scope_id FROM memory) ORDER BY token")
    return tuple(token for (token,) in rows)


def stats(db: sqlite3.Connection, scopes: Sequence[str], max_sensitivity: Sensitivity | None) -> Stats:
    counted, given = _COUNTED, [json_names(scopes)]
    if max_sensitivity is not None:
        counted += _UP_TO
        given.append(json.dumps(Filter(max_sensitivity=max_sensitivity).ceiling))
    records, pinned, last_write = db.execute(
        f"SELECT count(*), coalesce(sum(pinned & {PINNED}), 0), max(memory.updated_at) {counted}", given
    ).fetchone()
    by_scope = db.execute(f"SELECT scope.token, count(*) {counted} GROUP BY scope.token", given)
    counts = dict(by_scope.fetchall())
    by_kind = db.execute(f"SELECT kind, count(*) {counted} GROUP BY kind", given)
    by_status = db.execute(f"SELECT memory.status, count(*) {counted} GROUP BY memory.status", given)
    old = f"SELECT count(*) FROM history WHERE id IN (SELECT memory.id {counted})"
    return Stats(
        records=records,
        pinned=pinned,
        versions=records + db.execute(old, given).fetchone()[0],
        by_scope=tuple(ScopeCount(scope, counts[scope]) for scope in scopes if scope in counts),
        by_kind=dict(by_kind.fetchall()),
        by_status=dict(by_status.fetchall()),
        last_write=last_write,
        pending_erasures=db.execute("SELECT count(*) FROM erasure").fetchone()[0],
        last_maintenance=examining.last_maintenance(db),
    )


def _json(scopes: Iterable[int]) -> str:
    return json.dumps(list(scopes))
