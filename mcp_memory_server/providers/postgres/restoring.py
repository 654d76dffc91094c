"""Taking records in as they are, with their history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mcp_memory_server.providers.base import RestoreRequest
from mcp_memory_server.providers.versions import refuse_outside
from mcp_memory_server.records import MemoryRecord, lane_of

from .connection import Transaction
from .forgetting import open_ticket
from .history import stored_versions
from .names import stored_names, told
from .turns import Held, Turn, begin
from .writing import meet_current, meet_ids

_LOCK: Final = 0x4D4D_5332
"""An id is unique in the whole store, which no key of a table that is split by scope can say. Ids made by a write are
random; those that are brought along are taken in by one transaction at a time, which holds this advisory lock."""
_BEGIN: Final = "SELECT pg_advisory_xact_lock($1)"
_HOLDERS: Final = """
SELECT scope.token, memory.id FROM memory JOIN scope ON scope.scope_id = memory.scope_id
WHERE memory.id = ANY($1::text[])
"""


@dataclass(frozen=True, slots=True)
class Restored:
    """How many records were new or changed, and whether any took the place of what has to leave the files now."""

    changed: int
    replaced: bool


async def restore(db: Transaction, request: RestoreRequest, signatures: Sequence[bytes]) -> Restored:
    """`signatures` are those of each record's current version, in the same order."""
    if not request.records:
        return Restored(0, replaced=False)
    turn, held = await _begin(db, [versions[-1] for versions in request.records])
    changed, left = 0, set[str]()
    for place, (versions, lexical) in enumerate(zip(request.records, signatures, strict=True), start=1):
        *old, current = versions
        if held.versions.get(current.id) == list(versions):
            continue
        number = None
        for found in held.in_the_way(turn, current):
            if (found.record.id, found.record.scope) == (current.id, current.scope):
                number = found.number
            refuse_outside(request, place, found.record.scope)
            turn.drop(found)
            left.add(found.record.scope)
            held.forget(found.record)
        turn.put(current, lexical, number)
        turn.take(old)
        held.add(versions)
        changed += 1
    await turn.end()
    for scope in sorted(left):  # what is erased later may have been elsewhere before
        await open_ticket(db, scope)
    return Restored(changed, bool(left))


class _HeldIds:
    """Where the ids are held that are in question, and all versions of what is held there."""

    def __init__(self, versions: Sequence[MemoryRecord]) -> None:
        self._scopes: dict[str, str] = {}
        self.versions: dict[str, list[MemoryRecord]] = {}
        for version in versions:
            self.versions.setdefault(version.id, []).append(version)
            self._scopes[version.id] = version.scope

    def in_the_way(self, turn: Turn, record: MemoryRecord) -> list[Held]:
        """The record that has the id, and the one that has the place."""
        found = (
            turn.find(self._scopes.get(record.id, record.scope), record.id),
            turn.current(record.scope, record.key, lane_of(record)),
        )
        return list({(held.record.scope, held.record.id): held for held in found if held is not None}.values())

    def add(self, versions: Sequence[MemoryRecord]) -> None:
        self.versions[versions[-1].id] = list(versions)
        self._scopes[versions[-1].id] = versions[-1].scope

    def forget(self, record: MemoryRecord) -> None:
        self.versions.pop(record.id, None)
        self._scopes.pop(record.id, None)


async def _begin(db: Transaction, records: Sequence[MemoryRecord]) -> tuple[Turn, _HeldIds]:
    """A turn at every scope that the records, or what has their ids, are at."""
    await db.run(_BEGIN, _LOCK)
    holders = await db.rows(_HOLDERS, stored_names({record.id for record in records}))
    turn = await begin(db, {*(record.scope for record in records), *(told(scope) for scope, _ in holders)})
    # Only what is held now that everybody else waits counts.
    await meet_current(turn, list({(record.scope, record.key, lane_of(record)) for record in records}))
    await meet_ids(turn, [(told(scope), told(id)) for scope, id in holders])
    met = turn.met()
    versions = await stored_versions(db, list({held.record.scope for held in met}), [held.record.id for held in met])
    return turn, _HeldIds(versions)
