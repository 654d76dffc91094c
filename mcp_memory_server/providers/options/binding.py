"""A provider with write options bound to it: every write carries them, every read is confined by the namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, cast

from mcp_memory_server.errors import InvalidOption, NotSupported
from mcp_memory_server.providers.base import (
    BrowsingProvider,
    BulkProvider,
    Capabilities,
    ChangeBatch,
    ChangingProvider,
    Condition,
    Entity,
    EntityProvider,
    EntityRequest,
    ForgetRequest,
    Forgotten,
    Group,
    HistoryRequest,
    Hit,
    JournaledDigest,
    JournalingProvider,
    JournalLookup,
    LedgerRequest,
    Listing,
    ListRequest,
    MaintainedProvider,
    MemoryProvider,
    MentionRequest,
    Merge,
    MergeRequest,
    PageRequest,
    PinRequest,
    PruneRequest,
    RestoreRequest,
    RestoringProvider,
    ReviewingProvider,
    ReviseRequest,
    SearchRequest,
    Settled,
    SettleRequest,
    Stats,
    Surfaced,
    SurfacedLookup,
    SurfaceRequest,
    SurfacingProvider,
    UnmergeRequest,
    VectorCount,
    VectorProvider,
    VectorsWrite,
    VersionRef,
    VersionsRequest,
    WriteOption,
    WriteRequest,
    Written,
)
from mcp_memory_server.records import Extraction, MemoryRecord, Sensitivity

from .asking import WriteOptions, assert_provider_honours, checked_namespace
from .namespaces import Space

Namespace = Mapping[str, str] | Callable[[], Mapping[str, str]]
"""A namespace, or a function that gives the one of the running request, such as from a context variable."""

_CONFINED: Final = frozenset(
    {
        Group.WRITE,
        Group.BULK,
        Group.SEARCH,
        Group.HISTORY,
        Group.JOURNAL,
        Group.BROWSE,
        Group.CHANGES,
        Group.RESTORE,
        Group.REVIEW,
        Group.ENTITIES,
        Group.SURFACED,
        Group.VECTORS,
    }
)
"""The groups that a namespace can confine. `maintain` and `carry` are about the whole store, so a confined provider
lacks them; and a group that is new to the seam is missing here until somebody has thought about it."""

_ASKED_FOR_BY_REQUESTS: Final = _CONFINED - {Group.JOURNAL, Group.CHANGES, Group.VECTORS}
"""The groups that are called on behalf of a request only. The others are called in the background as well, where no
function can tell whose turn it is."""

_OWN_SCOPES_NEEDED: Final = frozenset({Group.RESTORE, Group.VECTORS})
"""The groups whose calls are about the whole store, unless the scopes that belong to the namespace are listed."""


class _EveryGroup(
    BulkProvider,
    RestoringProvider,
    ReviewingProvider,
    JournalingProvider,
    BrowsingProvider,
    ChangingProvider,
    MaintainedProvider,
    VectorProvider,
    EntityProvider,
    SurfacingProvider,
    Protocol,
): ...


def bind_write_options(
    provider: MemoryProvider, *, extraction: Extraction | None = None, namespace: Namespace | None = None
) -> MemoryProvider:
    """A provider whose every write carries the options, and whose every read is confined by the namespace.

    A write overrides `extraction` only by asking for something. The namespace is never replaced: the bound provider
    does not honour `namespace_scope`, so asking for another one, once or by binding again, is refused. A function is
    asked at every call; one that returns an empty or malformed mapping refuses the call. Behind a function there are
    no groups `journal`, `changes` and `vectors`, whose calls belong to no request.

    Raises:
        OptionNotHonoured: the provider does not honour what is to be bound.
        InvalidOption: a wrong shape.
    """
    asked = WriteOptions(extraction, None if callable(namespace) else namespace)
    options = set(asked.asked)
    if callable(namespace):
        options.add(WriteOption.NAMESPACE_SCOPE)
    assert_provider_honours(provider, *options)
    if callable(namespace):
        return BoundProvider(provider, extraction, namespace)
    if not options:
        return provider
    return BoundProvider(provider, extraction, asked.namespace_scope or None)


class BoundProvider:
    """What `bind_write_options` returns. It holds no state of its own; closing stays with the provider inside."""

    def __init__(self, provider: MemoryProvider, extraction: Extraction | None, namespace: Namespace | None) -> None:
        self._inner = cast("_EveryGroup", provider)
        self._extraction: Extraction | None = extraction
        self._ask = namespace if callable(namespace) else None
        self._fixed = Space() if namespace is None or callable(namespace) else Space.of(namespace)
        self._capabilities = _confined(provider.capabilities, namespace)

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    # --- required ---------------------------------------------------------------------------------------

    async def list(self, request: ListRequest) -> Listing:
        space = self._space()
        return space.leave(await self._inner.list(space.enter(request)))

    async def forget(self, request: ForgetRequest) -> Forgotten | None:
        space = self._space()
        return space.leave(await self._inner.forget(space.enter(request)))

    # --- write, bulk, restore and review ------------------------------------------------------------------------

    async def write(self, request: WriteRequest) -> Written:
        space = self._space(Group.WRITE)
        return space.leave(await self._inner.write(space.enter(self._carrying(request))))

    async def write_many(self, requests: Sequence[WriteRequest]) -> tuple[Written, ...]:
        space = self._space(Group.BULK)
        return space.leave(await self._inner.write_many([space.enter(self._carrying(each)) for each in requests]))

    async def revise(self, request: ReviseRequest) -> Written | None:
        space = self._space(Group.WRITE)
        return space.leave(await self._inner.revise(space.enter(request)))

    async def pin(self, request: PinRequest) -> MemoryRecord | None:
        space = self._space(Group.WRITE)
        return space.leave(await self._inner.pin(space.enter(request)))

    async def restore(self, request: RestoreRequest) -> int:
        """An id that is held outside the namespace is not taken from there: nothing is taken in then."""
        space = self._space(Group.RESTORE)
        records = tuple(tuple(map(self._asking, versions)) for versions in request.records)
        if space.prefix and request.replace_at is None:
            targets = {version.scope for versions in records for version in versions}
            request = replace(request, replace_at=tuple({*targets, *await self._own_scopes(space)}))
        return await self._inner.restore(space.enter(replace(request, records=records)))

    async def settle(self, request: SettleRequest) -> Settled | None:
        space = self._space(Group.REVIEW)
        return space.leave(await self._inner.settle(space.enter(request)))

    # --- search, history and browse -----------------------------------------------------------------------

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        space = self._space(Group.SEARCH)
        return space.leave(await self._inner.search(space.enter(request)))

    async def history(self, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
        space = self._space(Group.HISTORY)
        return space.leave(await self._inner.history(space.enter(request)))

    async def versions(self, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
        space = self._space(Group.HISTORY)
        return space.leave(await self._inner.versions(space.enter(request)))

    async def page(self, request: PageRequest) -> tuple[MemoryRecord, ...]:
        space = self._space(Group.BROWSE)
        return space.leave(await self._inner.page(space.enter(request)))

    async def scopes(self) -> tuple[str, ...]:
        return await self._own_scopes(self._space(Group.BROWSE))

    async def stats(self, scopes: Sequence[str], max_sensitivity: Sensitivity | None = None) -> Stats:
        """Without `details`, which are about the whole store."""
        space = self._space(Group.BROWSE)
        within = [space.prefix + scope for scope in scopes]
        counts = space.leave(await self._inner.stats(within, max_sensitivity))
        return replace(counts, details={}) if space.prefix else counts

    # --- entities -----------------------------------------------------------------------------------------

    async def entities(self, request: EntityRequest) -> tuple[Entity, ...]:
        space = self._space(Group.ENTITIES)
        return space.leave(await self._inner.entities(space.enter(request)))

    async def mentions(self, request: MentionRequest) -> tuple[str, ...]:
        space = self._space(Group.ENTITIES)
        return await self._inner.mentions(space.enter(request))

    async def merge(self, request: MergeRequest) -> Merge | None:
        space = self._space(Group.ENTITIES)
        return space.leave(await self._inner.merge(space.enter(request)))

    async def unmerge(self, request: UnmergeRequest) -> Merge | None:
        space = self._space(Group.ENTITIES)
        return space.leave(await self._inner.unmerge(space.enter(request)))

    async def merges(self, request: LedgerRequest) -> tuple[Merge, ...]:
        space = self._space(Group.ENTITIES)
        return space.leave(await self._inner.merges(space.enter(request)))

    # --- surfaced -----------------------------------------------------------------------------------------

    async def surface(self, request: SurfaceRequest) -> None:
        space = self._space(Group.SURFACED)
        await self._inner.surface(space.enter(request))

    async def surfaced(self, lookup: SurfacedLookup) -> Sequence[Surfaced]:
        space = self._space(Group.SURFACED)
        return space.leave(await self._inner.surfaced(space.enter(lookup)))

    async def prune_surfaced(self, request: PruneRequest) -> int:
        space = self._space(Group.SURFACED)
        return await self._inner.prune_surfaced(replace(request, actors=space.prefix + request.actors))

    # --- journal, changes, vectors and maintain -----------------------------------------------------------

    async def journal(self, digests: Sequence[JournaledDigest]) -> None:
        space = self._space(Group.JOURNAL)
        await self._inner.journal([space.enter(digest) for digest in digests])

    async def journaled(self, lookup: JournalLookup) -> JournaledDigest | None:
        space = self._space(Group.JOURNAL)
        return space.leave(await self._inner.journaled(space.enter(lookup)))

    async def prune_journal(self, request: PruneRequest) -> int:
        space = self._space(Group.JOURNAL)
        return await self._inner.prune_journal(replace(request, actors=space.prefix + request.actors))

    async def journal_secret(self) -> bytes:
        space = self._space(Group.JOURNAL)
        return space.secret(await self._inner.journal_secret())

    async def changes(self, after: int | None) -> ChangeBatch:
        space = self._space(Group.CHANGES)
        return space.leave(await self._inner.changes(after))

    async def unembedded(
        self, embedder: str, limit: int, scopes: Sequence[str] | None = None
    ) -> tuple[MemoryRecord, ...]:
        space = self._space(Group.VECTORS)
        return space.leave(await self._inner.unembedded(embedder, limit, await self._within(space, scopes)))

    async def put_vectors(self, request: VectorsWrite) -> int:
        space = self._space(Group.VECTORS)
        return await self._inner.put_vectors(space.enter(request))

    async def count_vectors(self, embedder: str, scopes: Sequence[str] | None = None) -> VectorCount:
        space = self._space(Group.VECTORS)
        return await self._inner.count_vectors(embedder, await self._within(space, scopes))

    async def examine(self) -> Condition:
        self._space(Group.MAINTAIN)
        return await self._inner.examine()

    async def record_maintenance(self, at: str) -> None:
        self._space(Group.MAINTAIN)
        await self._inner.record_maintenance(at)

    # --- what the calls share -----------------------------------------------------------------------------

    def _space(self, group: Group | None = None) -> Space:
        """Where the call takes place.

        Raises:
            NotSupported: the group is not declared.
            InvalidOption: the namespace function does not say where.
        """
        declared = self._capabilities
        if group is not None and group not in declared.groups:
            raise NotSupported(declared.provider, f"do what belongs to {group.value!r}", "It does not declare that.")
        if self._ask is None:
            return self._fixed
        asked: Any = self._ask()
        namespace = checked_namespace(asked)
        if not namespace:
            raise InvalidOption(WriteOption.NAMESPACE_SCOPE, "is empty, as the bound function returned it")
        return Space.of(namespace)

    def _carrying(self, request: WriteRequest) -> WriteRequest:
        bound = self._extraction
        return request if bound is None or request.extraction else replace(request, extraction=bound)

    def _asking(self, record: MemoryRecord) -> MemoryRecord:
        bound = self._extraction
        return record if bound is None or record.extraction else record.model_copy(update={"extraction": bound})

    async def _own_scopes(self, space: Space) -> tuple[str, ...]:
        return space.own(await self._inner.scopes())

    async def _within(self, space: Space, scopes: Sequence[str] | None) -> Sequence[str] | None:
        if not space.prefix:
            return scopes
        return [space.prefix + scope for scope in (await self._own_scopes(space) if scopes is None else scopes)]


def _confined(inner: Capabilities, namespace: Namespace | None) -> Capabilities:
    """What a provider can do once the namespace is bound."""
    if namespace is None:  # an operator takes a store along as a whole, bound by nothing
        return replace(inner, groups=inner.groups - {Group.CARRY})
    groups = inner.groups & (_ASKED_FOR_BY_REQUESTS if callable(namespace) else _CONFINED)
    if Group.BROWSE not in groups:
        groups -= _OWN_SCOPES_NEEDED
    return replace(inner, groups=groups, honours=inner.honours - {WriteOption.NAMESPACE_SCOPE})
