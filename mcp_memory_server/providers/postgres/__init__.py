"""The store for more than one machine: a Postgres database, shared by any number of servers."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from mcp_memory_server.errors import ConfigurationError

try:
    import asyncpg as _asyncpg  # noqa: F401  # pyright: ignore[reportMissingTypeStubs, reportUnusedImport]
    import tenacity as _tenacity  # noqa: F401  # pyright: ignore[reportUnusedImport]
except ModuleNotFoundError as error:
    raise ConfigurationError(
        "A postgresql:// store needs a driver that is not installed: pip install 'mcp-memory-server[postgres]'."
    ) from error

from mcp_memory_server.background import running_beside
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
from mcp_memory_server.providers.signatures import check_language, signature_of
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
from .connection import Database, Limits, open_database
from .migrate import check_schema
from .names import is_storable, place_of_actor, places_of

__all__ = ["Limits", "PostgresProvider", "open_postgres"]

logger = logging.getLogger(__name__)

_CAPABILITIES: Final = Capabilities("postgresql", frozenset(Group), frozenset(WriteOption))


class PostgresProvider:
    """A `MemoryProvider` with every group. Each call is one transaction, which names the scopes it is about."""

    def __init__(
        self, database: Database, feed: changes.Feed, language: str | None = None, *, is_owned_apart: bool = False
    ) -> None:
        self._database = database
        self._feed = feed
        self._language = language
        self._is_owned_apart = is_owned_apart
        self._cache = search.ScopeCache(language)
        self._secret: bytes | None = None

    @property
    def capabilities(self) -> Capabilities:
        return _CAPABILITIES

    async def list(self, request: ListRequest) -> Listing:
        return await self._database.read(places_of(request.scopes), lambda db: reading.list_records(db, request))

    async def page(self, request: PageRequest) -> tuple[MemoryRecord, ...]:
        return await self._database.read(places_of([request.scope]), lambda db: reading.page(db, request))

    async def scopes(self) -> tuple[str, ...]:
        return await self._database.read(None, reading.all_scopes)

    async def stats(self, scopes: Sequence[str], max_sensitivity: Sensitivity | None = None) -> Stats:
        return await self._database.read(places_of(scopes), lambda db: reading.stats(db, scopes, max_sensitivity))

    async def write(self, request: WriteRequest) -> Written:
        lexical = signature_of(request, self._language)
        places = places_of([request.scope])
        return await self._database.write(places, lambda db: writing.write(db, request, lexical))

    async def write_many(self, requests: Sequence[WriteRequest]) -> tuple[Written, ...]:
        lexical = [signature_of(request, self._language) for request in requests]
        places = places_of(request.scope for request in requests)
        return await self._database.write(places, lambda db: writing.write_many(db, requests, lexical))

    async def revise(self, request: ReviseRequest) -> Written | None:
        places = places_of([request.record.scope])
        return await self._database.write(places, lambda db: writing.revise(db, request, self._language))

    async def pin(self, request: PinRequest) -> MemoryRecord | None:
        return await self._database.write(places_of([request.scope]), lambda db: writing.pin(db, request))

    async def restore(self, request: RestoreRequest) -> int:
        check_restorable(request)
        signatures = [signature_of(versions[-1], self._language) for versions in request.records]
        # Whether an id is held already is a question to the whole store.
        restored = await self._database.write(None, lambda db: restoring.restore(db, request, signatures))
        if restored.replaced:
            await forgetting.complete_soon(self._database)
        return restored.changed

    async def settle(self, request: SettleRequest) -> Settled | None:
        outcome = await self._database.write(
            places_of([request.scope]), lambda db: reviewing.settle(db, request, self._language)
        )
        if outcome is None or outcome.erased is None:
            return outcome and outcome.settled
        return replace(outcome.settled, erasure=await forgetting.finish(self._database, outcome.erased))

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        return await search.search(self._database, self._cache, request)

    async def unembedded(
        self, embedder: str, limit: int, scopes: Sequence[str] | None = None
    ) -> tuple[MemoryRecord, ...]:
        places = None if scopes is None else places_of(scopes)
        return await self._database.read(places, lambda db: vectors.unembedded(db, embedder, limit, scopes))

    async def put_vectors(self, request: VectorsWrite) -> int:
        check_vectors(request)
        places = places_of(record.scope for record in request.records)
        return await self._database.write(places, lambda db: vectors.put_vectors(db, request))

    async def count_vectors(self, embedder: str, scopes: Sequence[str] | None = None) -> VectorCount:
        places = None if scopes is None else places_of(scopes)
        return await self._database.read(places, lambda db: vectors.count_vectors(db, embedder, scopes))

    async def history(self, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
        return await self._database.read(places_of(request.scopes), lambda db: history.history(db, request))

    async def versions(self, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
        return await self._database.read(places_of(request.scopes), lambda db: history.versions(db, request))

    async def journal(self, digests: Sequence[JournaledDigest]) -> None:
        for digest in digests:
            check_journalable(digest)
        places = {place_of_actor(digest.actor_id) for digest in digests}
        await self._database.write(places, lambda db: journal.append(db, digests))

    async def journaled(self, lookup: JournalLookup) -> JournaledDigest | None:
        return await journal.find(self._database, lookup)

    async def prune_journal(self, request: PruneRequest) -> int:
        if request.count_only:
            return await self._database.read(None, lambda db: journal.count_prunable(db, request))
        return await self._database.write(None, lambda db: journal.prune(db, request))

    async def journal_secret(self) -> bytes:
        if self._secret is None:
            self._secret = await self._database.read((), journal.find_secret)
        if self._secret is None:
            self._secret = await self._database.write((), journal.make_secret)
        return self._secret

    async def entities(self, request: EntityRequest) -> tuple[Entity, ...]:
        return await self._database.read(places_of(request.scopes), lambda db: entities.find(db, request))

    async def mentions(self, request: MentionRequest) -> tuple[str, ...]:
        return await self._database.read(places_of(request.scopes), lambda db: entities.mentions(db, request))

    async def merge(self, request: MergeRequest) -> Merge | None:
        return await self._database.write(places_of([request.scope]), lambda db: entities.merge(db, request))

    async def unmerge(self, request: UnmergeRequest) -> Merge | None:
        return await self._database.write(places_of([request.scope]), lambda db: entities.unmerge(db, request))

    async def merges(self, request: LedgerRequest) -> tuple[Merge, ...]:
        return await self._database.read(places_of(request.scopes), lambda db: entities.ledger(db, request))

    async def surface(self, request: SurfaceRequest) -> None:
        check_surfacing(request)
        places = {place_of_actor(request.actor_id), *places_of(shown.scope for shown in request.shown)}
        await self._database.write(places, lambda db: surfacing.add(db, request))

    async def surfaced(self, lookup: SurfacedLookup) -> Sequence[Surfaced]:
        return await surfacing.find(self._database, lookup)

    async def prune_surfaced(self, request: PruneRequest) -> int:
        if request.count_only:
            return await self._database.read(None, lambda db: surfacing.count_prunable(db, request))
        return await self._database.write(None, lambda db: surfacing.prune(db, request))

    async def in_order(self, limit: int, after: str | None = None) -> OrderPage:
        return await self._database.read(None, lambda db: carrying.in_order(db, limit, after))

    async def carried(self, request: CarryRequest) -> CarryPage:
        return await self._database.read(None, lambda db: carrying.page(db, request))

    async def carry(self, rows: Sequence[Carried]) -> None:
        check_carried(rows)
        await self._database.write(None, lambda db: carrying.take(db, rows))

    async def audited(self, scope: str, ids: Sequence[str]) -> tuple[AuditLine, ...]:
        if not is_storable(scope):
            return ()
        return await self._database.read(places_of([scope]), lambda db: carrying.audited(db, scope, ids))

    async def adopt_secret(self, secret: bytes) -> None:
        await self._database.write((), lambda db: journal.replace_secret(db, secret))
        self._secret = secret

    async def changes(self, after: int | None) -> ChangeBatch:
        return await self._feed.changes(after)

    async def forget(self, request: ForgetRequest) -> Forgotten | None:
        erased = await self._database.write(places_of([request.scope]), lambda db: forgetting.erase(db, request))
        if erased is None:
            return None
        return Forgotten(request.id, erased.key, request.scope, await forgetting.finish(self._database, erased))

    async def examine(self) -> Condition:
        return await examining.examine(self._database, self._language, is_owned_apart=self._is_owned_apart)

    async def record_maintenance(self, at: str) -> None:
        await self._database.write((), lambda db: examining.record_maintenance(db, at))


@asynccontextmanager
async def open_postgres(
    url: str, *, limits: Limits | None = None, language: str | None = None, migrates: bool = True
) -> AsyncGenerator[PostgresProvider]:
    """Open the store in the database at a `postgresql://` URL.

    Args:
        url: as libpq and asyncpg read it: `postgresql://user@host:port/database?sslmode=verify-full`.
        limits: of time and connections.
        language: of the texts and questions, a Snowball name; by default each text's own is detected. What was
            written under another setting is found by its words as written, and by their stems once `examine` ran.
        migrates: whether to make or upgrade the schema where the URL's role may. Where it may not, and where this is
            False, the owner does that, by `mcp-memory-server migrate`.

    Raises:
        ConfigurationError, StoreUnavailable, StoreTooNew, StoreBusy
    """
    check_language(language)
    limits = limits or Limits()
    async with open_database(url, limits) as database:
        await check_schema(database, url, limits, migrates=migrates)
        async with changes.listening(database) as feed:
            provider = PostgresProvider(database, feed, language, is_owned_apart=not migrates)
            async with running_beside(lambda: forgetting.keep_erasing(database)):
                yield provider
