"""The reference provider: everything in this process, gone when it is closed.

It is the plain statement of what the seam asks for, and what the SQL providers are compared with. Every method
gives way to other tasks once, before it looks at anything, and then runs to its end without awaiting: so each
call is whole, whatever runs beside it and whenever it is cancelled.
"""

from __future__ import annotations

import contextlib
import secrets
from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Final

from anyio.lowlevel import checkpoint
from uuid6 import uuid7

from mcp_memory_server.errors import ConfigurationError, InvalidInput, StoreUnavailable
from mcp_memory_server.providers.base import (
    AuditLine,
    Capabilities,
    Carried,
    CarryPage,
    CarryRequest,
    ChangeBatch,
    Condition,
    Entity,
    EntityRequest,
    Filter,
    ForgetRequest,
    Forgotten,
    Group,
    HistoryRequest,
    Hit,
    JournaledDigest,
    JournalLookup,
    LedgerRequest,
    Listing,
    ListRequest,
    MentionRequest,
    Merge,
    MergeRequest,
    OrderPage,
    PageCursor,
    PageRequest,
    PinRequest,
    PruneRequest,
    RestoreRequest,
    ReviseRequest,
    ScopeCount,
    SearchRequest,
    Settled,
    SettleRequest,
    Stats,
    Surfaced,
    SurfacedLookup,
    SurfaceRequest,
    UnmergeRequest,
    VectorCount,
    VectorsWrite,
    VersionRef,
    VersionsRequest,
    WriteOption,
    WriteRequest,
    Written,
)
from mcp_memory_server.providers.key_order import listing, pinned_among, with_pins
from mcp_memory_server.providers.scope_index import ScopeIndex
from mcp_memory_server.providers.signatures import check_language
from mcp_memory_server.providers.timeline import answers
from mcp_memory_server.providers.versions import (
    approval,
    check_restorable,
    check_vectors,
    closed_history,
    lane_of,
    next_version,
    refuse_outside,
    revised,
    superseded,
    target_lane,
)
from mcp_memory_server.records import MemoryRecord, Sensitivity, Status, active_lane

from .carrying import Carrying
from .changes import ChangeFeed
from .entities import Entities
from .journal import Journal
from .surfacing import SurfacedSets

_URL: Final = "memory://"
_CAPABILITIES: Final = Capabilities("memory", frozenset(Group), frozenset(WriteOption))

_Versions = tuple[MemoryRecord, ...]
"""The versions of one record as they were when current, oldest first: never empty, the last one is current."""


@asynccontextmanager
async def open_in_memory(url: str, *, language: str | None = None) -> AsyncGenerator[InMemoryProvider]:
    """A fresh, empty store for `memory://`; what it holds is gone afterwards.

    `language` is that of the texts and questions, a Snowball name; by default each text's own is detected.
    """
    if url != _URL:
        raise ConfigurationError(f"An in-memory store has neither a path nor a name: write its URL as {_URL}")
    check_language(language)
    provider = InMemoryProvider(language)
    try:
        yield provider
    finally:
        provider.close()


class InMemoryProvider:
    """Declares every group. `audit` is for an embedding host to read."""

    def __init__(self, language: str | None = None) -> None:
        self.audit: deque[AuditLine] = deque()
        self._held: dict[str, dict[str, dict[str, _Versions]]] = {}
        """By scope, then by key, then by lane."""
        self._places: dict[str, tuple[str, str, str]] = {}
        """The scope, key and lane of each id."""
        self._index = ScopeIndex(language)
        self._changes = ChangeFeed()
        self._journal = Journal()
        self._entities = Entities()
        self._surfaced = SurfacedSets()
        self._carrying = Carrying(self._entities, self.audit, self._journal, self._surfaced, self._index)
        self._secret = secrets.token_bytes(32)
        self._maintained_at: str | None = None
        self._open = True

    @property
    def capabilities(self) -> Capabilities:
        return _CAPABILITIES

    def close(self) -> None:
        """Later calls raise `StoreUnavailable`."""
        self._open = False

    async def list(self, request: ListRequest) -> Listing:
        await self._enter()
        return listing(_named(self._answering(request.scopes, request.filter, request.statuses), request), request)

    async def forget(self, request: ForgetRequest) -> Forgotten | None:
        await self._enter()
        versions = self._versions((request.scope,), request.id)
        if not versions:
            return None
        record = versions[-1]
        self._remove(record)
        self._entities.sweep(record.scope)
        self._changes.report(record)
        self._carrying.take_line(AuditLine(request.scope, request.id, request.by, request.at, request.reason))
        return Forgotten(record.id, record.key, record.scope, "done")

    async def write(self, request: WriteRequest) -> Written:
        return (await self.write_many((request,)))[0]

    async def write_many(self, requests: Sequence[WriteRequest]) -> tuple[Written, ...]:
        await self._enter()
        staged: dict[tuple[str, str], dict[str, _Versions]] = {}
        done: list[Written] = []
        changed: list[MemoryRecord] = []

        def lanes_of(scope: str, key: str) -> dict[str, _Versions]:
            return staged.setdefault((scope, key), {**self._held.get(scope, {}).get(key, {})})

        for request in requests:  # any of them may be refused: nothing is put before all have been looked at
            lanes = lanes_of(request.scope, request.key)
            written, versions = _written(lanes, request)
            done.append(written)
            if written.status == "unchanged":
                continue
            if request.supersedes is not None and written.record.status == "active":
                place = self._places.get(request.supersedes)
                old = () if place is None else lanes_of(*place[:2]).get(place[2], ())
                closing = superseded(old[-1] if old else None, written.record)
                lanes_of(closing.scope, closing.key)[lane_of(closing)] = (*old, closing)
                changed.append(closing)
            lanes[lane_of(written.record)] = versions
            changed.append(written.record)
        for record in changed:
            self._put(staged[record.scope, record.key][lane_of(record)])
            self._changes.report(record)
        return tuple(done)

    async def revise(self, request: ReviseRequest) -> Written | None:
        await self._enter()
        versions = self._versions((request.record.scope,), request.record.id)
        if not versions:
            return None
        written = revised(versions[-1], request)
        if written.previous is not None:
            self._put((*versions, written.record))
            self._changes.report(written.record)
        return written

    async def pin(self, request: PinRequest) -> MemoryRecord | None:
        await self._enter()
        versions = self._versions((request.scope,), request.id)
        if not versions:
            return None
        current = versions[-1]
        if current.pinned == request.pinned:
            return current
        record = current.model_copy(update={"pinned": request.pinned})
        self._put((*versions[:-1], record))
        self._changes.report(record)
        return record

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        await self._enter()
        found = list(self._answering(request.scopes, request.filter, ("active",)))
        pinned = pinned_among(found, request.scopes)
        # A pinned key that ranks must not take the place of one that does not come along anyway.
        wanted = request.limit + len({record.key for record in pinned})
        ranked = self._index.search(request, wanted, found)
        return with_pins(ranked, pinned, request.limit)

    async def unembedded(
        self, embedder: str, limit: int, scopes: Sequence[str] | None = None
    ) -> tuple[MemoryRecord, ...]:
        await self._enter()
        lacking = (record for record in self._searchable(scopes) if not self._index.has_vectors(record, embedder))
        return tuple(islice(lacking, limit))

    async def put_vectors(self, request: VectorsWrite) -> int:
        await self._enter()
        check_vectors(request)
        taken = 0
        for vectors in request.records:
            versions = self._versions((vectors.scope,), vectors.ref.id)
            if versions and versions[-1].version == vectors.ref.version and versions[-1].status == "active":
                self._index.put_vectors(versions[-1], request.embedder, vectors.pooled, vectors.tokens)
                taken += 1
        return taken

    async def count_vectors(self, embedder: str, scopes: Sequence[str] | None = None) -> VectorCount:
        await self._enter()
        searchable = list(self._searchable(scopes))
        return VectorCount(len(searchable), sum(self._index.has_vectors(record, embedder) for record in searchable))

    def _searchable(self, scopes: Sequence[str] | None) -> Iterator[MemoryRecord]:
        within = tuple(self._held) if scopes is None else scopes
        return (record for record in self._current(within) if record.status == "active")

    async def history(self, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
        await self._enter()
        return closed_history(self._versions(request.scopes, request.id))

    async def versions(self, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
        await self._enter()
        return {
            ref: version
            for ref in request.refs
            for version in self._versions(request.scopes, ref.id)
            if version.version == ref.version
        }

    async def journal(self, digests: Sequence[JournaledDigest]) -> None:
        await self._enter()
        self._journal.append(digests)

    async def journaled(self, lookup: JournalLookup) -> JournaledDigest | None:
        await self._enter()
        return self._journal.find(lookup)

    async def prune_journal(self, request: PruneRequest) -> int:
        await self._enter()
        return self._journal.prune(request)

    async def journal_secret(self) -> bytes:
        await self._enter()
        return self._secret

    async def page(self, request: PageRequest) -> tuple[MemoryRecord, ...]:
        await self._enter()
        records = sorted(self._current((request.scope,)), key=lambda record: (record.key, record.id))
        return tuple(islice((record for record in records if _is_behind(record, request.after)), request.limit))

    async def scopes(self) -> tuple[str, ...]:
        await self._enter()
        return tuple(sorted(self._held))

    async def stats(self, scopes: Sequence[str], max_sensitivity: Sensitivity | None = None) -> Stats:
        await self._enter()
        ceiling = Filter(max_sensitivity=max_sensitivity).ceiling
        records = tuple(record for record in self._current(scopes) if record.sensitivity in ceiling)
        held = Counter(record.scope for record in records)
        counted = [scope for scope in dict.fromkeys(scopes) if scope in held]
        return Stats(
            records=len(records),
            pinned=sum(record.pinned for record in records),
            versions=sum(len(self._versions(counted, record.id)) for record in records),
            by_scope=tuple(ScopeCount(scope, held[scope]) for scope in counted),
            by_kind=Counter(record.kind for record in records),
            by_status=Counter(record.status for record in records),
            last_write=max((record.updated_at for record in records), default=None),
            pending_erasures=0,
            last_maintenance=self._maintained_at,
        )

    async def entities(self, request: EntityRequest) -> tuple[Entity, ...]:
        await self._enter()
        return self._entities.find(request)

    async def mentions(self, request: MentionRequest) -> tuple[str, ...]:
        await self._enter()
        return self._entities.mentions(request, {record.id: record for record in self._current(request.scopes)})

    async def merge(self, request: MergeRequest) -> Merge | None:
        await self._enter()
        return self._entities.merge(request)

    async def unmerge(self, request: UnmergeRequest) -> Merge | None:
        await self._enter()
        return self._entities.unmerge(request)

    async def merges(self, request: LedgerRequest) -> tuple[Merge, ...]:
        await self._enter()
        return self._entities.ledger(request)

    async def surface(self, request: SurfaceRequest) -> None:
        await self._enter()
        self._surfaced.add(request, {(scope, id) for id, (scope, _, _) in self._places.items()})

    async def surfaced(self, lookup: SurfacedLookup) -> Sequence[Surfaced]:
        await self._enter()
        return self._surfaced.find(lookup)

    async def prune_surfaced(self, request: PruneRequest) -> int:
        await self._enter()
        return self._surfaced.prune(request)

    async def in_order(self, limit: int, after: str | None = None) -> OrderPage:
        await self._enter()
        return self._carrying.in_order(self._current(tuple(self._held)), limit, after)

    async def carried(self, request: CarryRequest) -> CarryPage:
        await self._enter()
        return self._carrying.page(request, self._current(tuple(self._held)))

    async def carry(self, rows: Sequence[Carried]) -> None:
        await self._enter()
        self._carrying.take(rows, {record.id: record for record in self._current(tuple(self._held))})

    async def audited(self, scope: str, ids: Sequence[str]) -> tuple[AuditLine, ...]:
        await self._enter()
        return tuple(line for line in self.audit if line.scope == scope and line.id in ids)

    async def adopt_secret(self, secret: bytes) -> None:
        await self._enter()
        self._secret = secret

    async def changes(self, after: int | None) -> ChangeBatch:
        await self._enter()
        return self._changes.since(after)

    async def examine(self) -> Condition:
        await self._enter()
        return Condition({"records": len(self._places), "audit_lines": len(self.audit)})

    async def record_maintenance(self, at: str) -> None:
        await self._enter()
        self._maintained_at = at

    async def restore(self, request: RestoreRequest) -> int:
        await self._enter()
        check_restorable(request)
        for place, versions in enumerate(request.records, start=1):
            if (held := self._places.get(versions[-1].id)) is not None:
                refuse_outside(request, place, held[0])
        changed = sum([self._restore(tuple(versions)) for versions in request.records])
        self._entities.sweep_all()
        return changed

    def _restore(self, versions: _Versions) -> bool:
        """Whether this changed anything."""
        record = versions[-1]
        if self._versions((record.scope,), record.id) == versions:
            return False
        beaten = self._held.get(record.scope, {}).get(record.key, {}).get(lane_of(record), ())
        moved = self._versions(tuple(self._held), record.id)
        for held in (beaten, moved):
            if held and held[-1].id in self._places:
                if (held[-1].id, held[-1].scope) == (record.id, record.scope):
                    self._surfaced.drop(record.scope, record.id)  # and it keeps its place in the order of writing
                else:
                    self._remove(held[-1])
                self._changes.report(held[-1])
        self._put(versions)
        self._changes.report(record)
        return True

    async def settle(self, request: SettleRequest) -> Settled | None:
        await self._enter()
        versions = self._versions((request.scope,), request.id)
        if not versions or versions[-1].status != "quarantined":
            return None
        held, settled = versions[-1], Settled(None)
        if request.decision == "approve":
            lane = active_lane(held.kind, held.origin.thread_id)
            standing = self._held[held.scope][held.key].get(lane, ())
            approved = approval(held, standing[-1] if standing else None, request)
            settled = Settled(approved.record, approved.previous)
            if approved.status != "unchanged" and approved.record.supersedes is not None:
                old = self._versions((held.scope,), approved.record.supersedes)
                with contextlib.suppress(InvalidInput):  # it is gone by now, or was never active
                    self._put((*old, superseded(old[-1] if old else None, approved.record)))
        if settled.record is not None and settled.record.id == held.id:
            self._put((*versions[:-1], settled.record))
        else:
            self._remove(held)
        if settled.record is not None and settled.previous is not None:
            self._put((*self._versions((held.scope,), settled.record.id), settled.record))
            self._changes.report(settled.record)
        self._entities.sweep(held.scope)
        self._changes.report(held)
        reason = "rejected" if request.decision == "reject" else "approved"
        self.audit.append(AuditLine(request.scope, request.id, request.by, request.at, reason))
        return settled

    async def _enter(self) -> None:
        """The one moment of a call at which others run and a cancellation arrives: nothing has happened yet."""
        await checkpoint()
        if not self._open:
            raise StoreUnavailable("The in-memory store was closed, and what it held is gone. Open a new one.")

    def _current(self, scopes: Sequence[str]) -> Iterator[MemoryRecord]:
        for scope in dict.fromkeys(scopes):
            for lanes in self._held.get(scope, {}).values():
                for versions in lanes.values():
                    yield versions[-1]

    def _answering(self, scopes: Sequence[str], asked: Filter, statuses: Sequence[Status]) -> Iterator[MemoryRecord]:
        """The versions that a list or a search is about."""
        for scope in dict.fromkeys(scopes):
            for lanes in self._held.get(scope, {}).values():
                for versions in lanes.values():
                    yield from answers(versions, asked, statuses)

    def _versions(self, scopes: Sequence[str], id: str) -> _Versions:
        """The versions of a record that is at one of `scopes`; none of any other."""
        scope, key, lane = self._places.get(id, ("", "", ""))
        return self._held[scope][key][lane] if id in self._places and scope in scopes else ()

    def _put(self, versions: _Versions) -> None:
        record = versions[-1]
        lane = lane_of(record)
        if record.id in self._places:
            self._vacate(record.id)
        self._held.setdefault(record.scope, {}).setdefault(record.key, {})[lane] = versions
        self._places[record.id] = (record.scope, record.key, lane)
        self._index.put(record)
        self._entities.put(versions)

    def _remove(self, record: MemoryRecord) -> None:
        self._vacate(record.id)
        self._index.remove(record)
        self._entities.drop(record.scope, record.id)
        self._surfaced.drop(record.scope, record.id)

    def _vacate(self, record_id: str) -> None:
        scope, key, lane = self._places.pop(record_id)
        del self._held[scope][key][lane]
        if not self._held[scope][key]:
            del self._held[scope][key]
        if not self._held[scope]:
            del self._held[scope]


def _written(lanes: Mapping[str, _Versions], request: WriteRequest) -> tuple[Written, _Versions]:
    """What a write comes to where the key has these lanes, and the versions that the record then has."""
    versions = lanes.get(target_lane(request), ())
    waiting = (held[-1] for held in lanes.values() if held[-1].status == "quarantined")
    written = next_version(versions[-1] if versions else None, request, str(uuid7()), waiting)
    if written.status == "unchanged":
        return written, lanes[lane_of(written.record)]
    return written, (*versions, written.record) if written.previous else (written.record,)


def _is_behind(record: MemoryRecord, cursor: PageCursor | None) -> bool:
    if cursor is None or record.key > cursor.key:
        return True
    return record.key == cursor.key and cursor.id is not None and record.id > cursor.id


def _named(records: Iterator[MemoryRecord], request: ListRequest) -> Iterator[MemoryRecord]:
    ids = None if request.ids is None else frozenset(request.ids)
    keys = None if request.keys is None else frozenset(request.keys)
    for record in records:
        if (ids is None or record.id in ids) and (keys is None or record.key in keys):
            yield record
