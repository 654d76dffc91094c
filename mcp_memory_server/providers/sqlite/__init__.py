"""The default store: one SQLite file, shared by any number of server processes on one machine."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator, Container, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio

from mcp_memory_server.background import running_beside
from mcp_memory_server.errors import StoreBusy, StoreError
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
    Erasure,
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
    PageRequest,
    PinRequest,
    PruneRequest,
    RestoreRequest,
    ReviseRequest,
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
from mcp_memory_server.providers.signatures import UNSIGNED, check_language, signature_of
from mcp_memory_server.providers.versions import (
    check_carried,
    check_journalable,
    check_restorable,
    check_surfacing,
    check_vectors,
)
from mcp_memory_server.records import MemoryRecord, Sensitivity

from . import (
    carrying,
    changes,
    entities,
    examining,
    files,
    forgetting,
    history,
    journal,
    reading,
    restoring,
    reviewing,
    search,
    surfacing,
    vectors,
    writing,
)
from .backlog import Backlog
from .connection import DEFAULT_BUSY_TIMEOUT_S, Database, Synchronous, open_database
from .scope_cache import ScopeCache

__all__ = ["SqliteProvider", "open_sqlite"]

logger = logging.getLogger(__name__)

_ERASE_EVERY_S: Final = 5.0
_CAPABILITIES: Final = Capabilities("sqlite", frozenset(Group), frozenset(WriteOption))


class SqliteProvider:
    """A `MemoryProvider` with every group. Each call is one function in the database's thread."""

    def __init__(self, database: Database, language: str | None = None) -> None:
        self._database = database
        self._language = language
        self._backlog = Backlog(database, language)
        self._cache = ScopeCache(lambda: database.epoch, language, self._backlog.note)
        self._secret: tuple[int, bytes] | None = None
        self._seen_version: tuple[int, int] | None = None
        self._seen_cursor = 0
        self._feed_epoch = database.epoch

    @property
    def capabilities(self) -> Capabilities:
        return _CAPABILITIES

    @property
    def path(self) -> Path:
        return self._database.path

    async def list(self, request: ListRequest) -> Listing:
        return await self._database.read(lambda db: reading.list_records(db, request, self._cache))

    async def page(self, request: PageRequest) -> tuple[MemoryRecord, ...]:
        return await self._database.read(lambda db: reading.page(db, request))

    async def scopes(self) -> tuple[str, ...]:
        return await self._database.read(reading.all_scopes)

    async def stats(self, scopes: Sequence[str], max_sensitivity: Sensitivity | None = None) -> Stats:
        return await self._database.read(lambda db: reading.stats(db, scopes, max_sensitivity))

    async def write(self, request: WriteRequest) -> Written:
        written = await self._database.write(lambda db: writing.write(db, request, UNSIGNED))
        if written.status != "unchanged" and written.record.status == "active":
            self._backlog.note(written.record.id)
            self._backlog.wake()
        return written

    async def revise(self, request: ReviseRequest) -> Written | None:
        return await self._database.write(lambda db: writing.revise(db, request, self._language))

    async def write_many(self, requests: Sequence[WriteRequest]) -> tuple[Written, ...]:
        lexical = [signature_of(request, self._language) for request in requests]
        return await self._database.write(lambda db: writing.write_many(db, requests, lexical))

    async def pin(self, request: PinRequest) -> MemoryRecord | None:
        return await self._database.write(lambda db: writing.pin(db, request))

    async def restore(self, request: RestoreRequest) -> int:
        check_restorable(request)
        signatures = [signature_of(versions[-1], self._language) for versions in request.records]
        return await self._database.write(lambda db: restoring.restore(db, request, signatures))

    async def settle(self, request: SettleRequest) -> Settled | None:
        outcome = await self._database.write(lambda db: reviewing.settle(db, request, self._language))
        if outcome is None or outcome.erased is None:
            return outcome and outcome.settled
        return replace(outcome.settled, erasure=await self._finish_erasure(outcome.erased))

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        found = self._database.glance(lambda db: search.search_at_once(db, self._cache, request))
        if found is None:
            found = await self._database.read(lambda db: search.search(db, self._cache, request))
        self._backlog.wake()  # either may have noted some
        return found

    async def unembedded(
        self, embedder: str, limit: int, scopes: Sequence[str] | None = None
    ) -> tuple[MemoryRecord, ...]:
        return await self._database.read(lambda db: vectors.unembedded(db, embedder, limit, scopes))

    async def put_vectors(self, request: VectorsWrite) -> int:
        check_vectors(request)
        return await self._database.write(lambda db: vectors.put_vectors(db, request))

    async def count_vectors(self, embedder: str, scopes: Sequence[str] | None = None) -> VectorCount:
        return await self._database.read(lambda db: vectors.count_vectors(db, embedder, scopes))

    async def history(self, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
        return await self._database.read(lambda db: history.history(db, request))

    async def versions(self, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
        return await self._database.read(lambda db: history.versions(db, request))

    async def journal(self, digests: Sequence[JournaledDigest]) -> None:
        for digest in digests:
            check_journalable(digest)
        await self._database.write(lambda db: journal.append(db, digests))

    async def journaled(self, lookup: JournalLookup) -> JournaledDigest | None:
        return await self._database.read(lambda db: journal.find(db, lookup))

    async def prune_journal(self, request: PruneRequest) -> int:
        if request.count_only:
            return await self._database.read(lambda db: journal.count_prunable(db, request))
        return await self._database.write(lambda db: journal.prune(db, request))

    async def journal_secret(self) -> bytes:
        if self._secret is None or self._secret[0] != self._database.epoch:
            secret = await self._database.read(journal.find_secret) or await self._database.write(journal.make_secret)
            self._secret = (self._database.epoch, secret)
        return self._secret[1]

    async def entities(self, request: EntityRequest) -> tuple[Entity, ...]:
        return await self._database.read(lambda db: entities.find(db, request))

    async def mentions(self, request: MentionRequest) -> tuple[str, ...]:
        return await self._database.read(lambda db: entities.mentions(db, request))

    async def merge(self, request: MergeRequest) -> Merge | None:
        return await self._database.write(lambda db: entities.merge(db, request))

    async def unmerge(self, request: UnmergeRequest) -> Merge | None:
        return await self._database.write(lambda db: entities.unmerge(db, request))

    async def merges(self, request: LedgerRequest) -> tuple[Merge, ...]:
        return await self._database.read(lambda db: entities.ledger(db, request))

    async def surface(self, request: SurfaceRequest) -> None:
        check_surfacing(request)
        await self._database.write(lambda db: surfacing.add(db, request))

    async def surfaced(self, lookup: SurfacedLookup) -> Sequence[Surfaced]:
        return await self._database.read(lambda db: surfacing.find(db, lookup))

    async def prune_surfaced(self, request: PruneRequest) -> int:
        if request.count_only:
            return await self._database.read(lambda db: surfacing.count_prunable(db, request))
        return await self._database.write(lambda db: surfacing.prune(db, request))

    async def in_order(self, limit: int, after: str | None = None) -> OrderPage:
        return await self._database.read(lambda db: carrying.in_order(db, limit, after))

    async def carried(self, request: CarryRequest) -> CarryPage:
        return await self._database.read(lambda db: carrying.page(db, request))

    async def carry(self, rows: Sequence[Carried]) -> None:
        check_carried(rows)
        await self._database.write(lambda db: carrying.take(db, rows))

    async def audited(self, scope: str, ids: Sequence[str]) -> tuple[AuditLine, ...]:
        return await self._database.read(lambda db: carrying.audited(db, scope, ids))

    async def adopt_secret(self, secret: bytes) -> None:
        await self._database.write(lambda db: journal.replace_secret(db, secret))
        self._secret = (self._database.epoch, secret)

    async def changes(self, after: int | None) -> ChangeBatch:
        if after is not None and after == self._seen_cursor:
            seen = await self._database.read(changes.data_version)
            version = (self._database.epoch, seen)
            if version == self._seen_version:
                return ChangeBatch(after, ())
            self._seen_version = version
        batch = await self._database.read(lambda db: changes.changes(db, after))
        self._seen_cursor = batch.cursor
        if after is not None and self._feed_epoch != self._database.epoch:  # the cursor was another file's
            batch = replace(batch, gap=True)
        self._feed_epoch = self._database.epoch
        return batch

    async def forget(self, request: ForgetRequest) -> Forgotten | None:
        erased = await self._database.write(lambda db: forgetting.erase(db, request))
        if erased is None:
            return None
        erasure = await self._finish_erasure(erased)
        return Forgotten(request.id, erased.key, request.scope, erasure)

    async def _finish_erasure(self, erased: forgetting.Erased) -> Erasure:
        try:
            clean = await self._database.maintain(
                lambda db: forgetting.scrub(db, self.path, erased.texts, [erased.ticket])
            )
        except StoreError as error:
            # The record is gone from every answer; only the bytes wait. Whoever opens a ticket next sees to it.
            logger.warning("the bytes of an erasure wait (%s)", error.code)
            return "pending"
        return "done" if clean else "pending"

    async def complete_erasures(self, but: Container[int] = ()) -> list[int]:
        """Get the bytes out that earlier erasures had to leave; the tickets that are open still.

        Tickets in `but` are left for later: somebody may be at work on them.
        """
        tickets = await self._database.read(forgetting.open_tickets)
        due = [ticket for ticket in tickets if ticket not in but]
        if due and await self._database.maintain(lambda db: forgetting.scrub(db, self.path, None, due)):
            return [ticket for ticket in tickets if ticket in but]
        return tickets

    async def examine(self) -> Condition:
        await self._database.mend()
        with contextlib.suppress(StoreBusy):  # records without a signature are told as a fault, then
            await self._backlog.sign_all()
        with contextlib.suppress(StoreBusy):  # then the condition says so
            await self.complete_erasures()
        return await self._database.maintain(lambda db: examining.condition(db, self.path))

    async def record_maintenance(self, at: str) -> None:
        await self._database.write(lambda db: examining.record_maintenance(db, at))

    async def keep_signing(self) -> None:
        """Store the ranking signatures of what is written, and of what search met without, until cancelled."""
        await self._backlog.keep_signing()

    async def finish_signing(self) -> None:
        """The same with what is left, as far as a moment takes it."""
        await self._backlog.finish()

    async def keep_erasing(self) -> None:
        """Complete what an erasure of any process had to leave, every few seconds, until cancelled."""
        fresh = await self._database.read(forgetting.open_tickets)
        while True:
            await anyio.sleep(_ERASE_EVERY_S)
            try:
                known = set(fresh)
                fresh = await self._database.read(forgetting.open_tickets)
                await self.complete_erasures(but=set(fresh) - known)
            except StoreError as error:
                logger.warning("pending erasures wait (%s)", error.code)


@asynccontextmanager
async def open_sqlite(
    url: str,
    *,
    busy_timeout_s: float = DEFAULT_BUSY_TIMEOUT_S,
    synchronous: Synchronous = "FULL",
    language: str | None = None,
) -> AsyncGenerator[SqliteProvider]:
    """Open the store at a `sqlite:///path` URL, creating the file (0600) and missing folders (0700).

    Args:
        url: everything after `sqlite:///` is the path, verbatim; `~` is expanded.
        busy_timeout_s: how long a call waits for another process's lock before `StoreBusy`.
        synchronous: FULL: an acknowledged write survives a power cut. NORMAL: it survives a crash of the
            process, and commits are faster.
        language: of the texts and questions, a Snowball name; by default each text's own is detected. What was
            written under another setting is found by its words as written, and by their stems once `examine` ran.

    Raises:
        ConfigurationError, StoreUnavailable, StoreDamaged, StoreTooNew, StoreBusy
    """
    check_language(language)
    async with open_database(files.path_of(url), busy_timeout_s=busy_timeout_s, synchronous=synchronous) as database:
        provider = SqliteProvider(database, language)
        try:
            async with running_beside(provider.keep_erasing, provider.keep_signing):
                yield provider
        finally:
            await provider.finish_signing()
