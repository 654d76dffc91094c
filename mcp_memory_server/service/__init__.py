"""`MemoryService`: every use case over one provider, for servers, consoles and hosts that embed the library."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self, Unpack

from mcp_memory_server.digest import MemoryDigest
from mcp_memory_server.identity import DefaultScopeResolver, RequestContext, ScopeResolver
from mcp_memory_server.policy import HELD_PROVENANCES
from mcp_memory_server.providers.base import Condition, Group, Hit, MemoryProvider, PageCursor, Stats, VectorCount
from mcp_memory_server.recall import Estimator, TokenBudget, estimate_tokens
from mcp_memory_server.records import MemoryRecord, Provenance

from . import browse, exchange, imports, operate, search, selection, wiring
from .audience import Audience, audience_of
from .browse import Page
from .conversations import Conversations
from .embeddings import Embeddings, OpenEmbedder
from .forget import ForgetCommand, Forgot, forget
from .imports import TakenIn
from .journal import Journal, Retention
from .kinds import Kinds
from .knowledge import Knowledge
from .maintenance import Maintenance, MaintenancePlan, MaintenanceReport
from .offer import OfferOptions, OfferRequest, offer, peek, read_ahead
from .offered import Form, Offered, block_text
from .reach import Reach, scopes_within
from .remember import Remembered, RememberOptions, RememberRequest, remember
from .review import Review
from .search import History, SearchOptions
from .selection import Listed, Recalled, RecallOptions, RecallRequest
from .selector_guard import SelectorGuard
from .wiring import Limits, Wiring
from .writes import Writes

__all__ = [
    "ForgetCommand",
    "Forgot",
    "Form",
    "History",
    "Kinds",
    "Knowledge",
    "Limits",
    "Listed",
    "Maintenance",
    "MaintenancePlan",
    "MaintenanceReport",
    "MemoryService",
    "OfferOptions",
    "OfferRequest",
    "Offered",
    "OpenEmbedder",
    "Page",
    "Reach",
    "RecallOptions",
    "RecallRequest",
    "Recalled",
    "RememberOptions",
    "RememberRequest",
    "Remembered",
    "Retention",
    "Review",
    "SearchOptions",
    "SelectorGuard",
    "Writes",
]


class MemoryService:
    """The use cases over one open provider.

    Use it as `async with MemoryService(provider) as service`: inside, the journal is written in the background,
    and leaving writes what still waits. Without entering it, the journal is written when something asks for it.
    """

    def __init__(  # noqa: PLR0913  # each is a seam with a default
        self,
        provider: MemoryProvider,
        *,
        resolver: ScopeResolver | None = None,
        limits: Limits | None = None,
        retention: Retention | None = None,
        open_embedder: OpenEmbedder | None = None,
        quarantine: Collection[Provenance] = HELD_PROVENANCES,
        selector: SelectorGuard | None = None,
        estimate: Estimator = estimate_tokens,
        now: Callable[[], str] = wiring.utc_now,
        new_id: Callable[[], str] = wiring.new_id,
    ) -> None:
        self._wiring = Wiring(
            provider=provider,
            journal=Journal(provider, retention),
            embeddings=Embeddings(provider, open_embedder),
            conversations=Conversations(provider, retention),
            limits=limits or Limits(),
            quarantine=quarantine,
            now=now,
            new_id=new_id,
            selector=selector,
            estimate=estimate,
            resolver=resolver or DefaultScopeResolver(),
        )
        self._running = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._running.enter_async_context(self._wiring.journal.running())
        await self._running.enter_async_context(self._wiring.embeddings.running())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._running.__aexit__(kind, error, trace)

    @property
    def provider(self) -> MemoryProvider:
        return self._wiring.provider

    @property
    def writes(self) -> Writes:
        """The library's write API: with write options, and several writes at once."""
        return Writes(self._wiring)

    @property
    def kinds(self) -> Kinds:
        """Working blocks, rules, insights, episodes and notes."""
        return Kinds.over(self._wiring)

    @property
    def knowledge(self) -> Knowledge:
        """Triples, and the entities that they are about."""
        return Knowledge(self._wiring)

    @property
    def maintenance(self) -> Maintenance:
        """Setting aside what has ended or is too much, promoting what has proven itself, pruning."""
        return Maintenance(self._wiring)

    @property
    def limits(self) -> Limits:
        return self._wiring.limits

    @property
    def writable(self) -> bool:
        """Whether `remember` can work, and so is offered."""
        return Group.WRITE in self.provider.capabilities.groups

    @property
    def review(self) -> Review:
        """Proposals, and what waits for a person's decision."""
        return Review(self._wiring)

    async def scopes(self, context: RequestContext) -> tuple[str, ...]:
        """The scopes that apply to the request, most specific first."""
        return tuple(await self._wiring.resolver.resolve(context))

    async def audience(self, context: RequestContext) -> Audience:
        """Of which changes the session may hear; see `audience`."""
        return await audience_of(self._wiring, context)

    async def offer(
        self,
        context: RequestContext,
        query: str | None = None,
        *,
        form: Form | None = None,
        **options: Unpack[OfferOptions],
    ) -> Offered:
        """The digest for this turn; see `offer.offer` and `OfferRequest`."""
        return await offer(self._wiring, context, OfferRequest(query, **options), form)

    async def recall(self, context: RequestContext, **options: Unpack[RecallOptions]) -> Recalled:
        """The notes for a turn out of more than can be shown; see `selection.recall` and `RecallRequest`."""
        return await selection.recall(self._wiring, context, RecallRequest(**options))

    async def search(
        self, context: RequestContext, options: SearchOptions, scopes: Sequence[str] | None = None
    ) -> tuple[Hit, ...]:
        """See `search.search`."""
        return await search.search(self._wiring, context, options, scopes)

    async def history(
        self,
        context: RequestContext,
        *,
        id: str | None = None,  # the record's field of that name
        key: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> History:
        """See `search.history`."""
        return await search.history(self._wiring, context, id=id, key=key, scopes=scopes)

    async def peek(self, context: RequestContext, max_memories: int) -> MemoryDigest:
        """See `offer.peek`."""
        return await peek(self._wiring, context, max_memories)

    async def read_ahead(self, context: RequestContext) -> None:
        """See `offer.read_ahead`."""
        await read_ahead(self._wiring, context)

    def block(self, offered: Offered) -> str:
        """The text that a host puts into the prompt."""
        return block_text(self._wiring, offered)

    def budget(self, max_tokens: int | None) -> TokenBudget | None:
        """A ceiling on a text, as the service counts tokens; None where there is none.

        Raises:
            InvalidInput: fewer tokens than the smallest budget.
        """
        return None if max_tokens is None else TokenBudget(max_tokens, self._wiring.estimate)

    async def remember(
        self, context: RequestContext, key: str, fact: str, **options: Unpack[RememberOptions]
    ) -> Remembered:
        """Record an assistant's conclusion; see `remember.remember` and `RememberRequest`."""
        return await remember(self._wiring, context, RememberRequest(key, fact, **options))

    async def forget(
        self,
        context: RequestContext,
        *,
        id: str | None = None,  # the record's field of that name
        key: str | None = None,
        elevated: bool = False,
        scopes: Sequence[str] | None = None,
    ) -> Forgot:
        """Erase one record for good; see `forget.forget`."""
        return await forget(self._wiring, context, ForgetCommand(id, key, elevated), scopes)

    async def find(
        self, scopes: Sequence[str], *, id: str | None = None, key: str | None = None
    ) -> tuple[MemoryRecord, ...]:
        """See `browse.find`."""
        return await browse.find(self._wiring, scopes, id=id, key=key)

    async def record_versions(
        self, context: RequestContext, record_id: str, scopes: Sequence[str] | None = None
    ) -> tuple[MemoryRecord, ...]:
        """See `browse.record_versions`."""
        return await browse.record_versions(self._wiring, context, record_id, scopes)

    async def page(self, context: RequestContext, scope: str, after: PageCursor | None = None) -> Page:
        """See `browse.page`."""
        return await browse.page(self._wiring, context, scope, after)

    async def everything_then(
        self, scopes: Sequence[str], as_of: str | None, known_at: str | None
    ) -> tuple[MemoryRecord, ...]:
        """See `browse.everything_then`."""
        return await browse.everything_then(self._wiring, scopes, as_of, known_at)

    def everything_at(self, scope: str) -> AsyncGenerator[MemoryRecord]:
        """See `browse.everything_at`."""
        return browse.everything_at(self._wiring, scope)

    async def vectors(self) -> VectorCount:
        """How many records have vectors of the configured embedder; see `embeddings.Embeddings.count`."""
        return await self._wiring.embeddings.count()

    async def reindex(self) -> AsyncGenerator[VectorCount]:
        """Give every record vectors of the configured embedder; yields how far it has come, first and after a batch.

        What a run before has done stays done, so it can be stopped and taken up again at any time.

        Raises:
            NotSupported: no embedder, one that cannot be loaded, or a provider without vectors.
        """
        yield await self._wiring.embeddings.count()
        while await self._wiring.embeddings.embed_batch():
            yield await self._wiring.embeddings.count()

    async def stats(self, context: RequestContext, scopes: Sequence[str] | None = None) -> Stats:
        """See `browse.stats`."""
        return await browse.stats(self._wiring, context, scopes)

    async def scopes_within(self, context: RequestContext, reach: Reach) -> tuple[str, ...]:
        """See `reach.scopes_within`."""
        return await scopes_within(self._wiring, context, reach)

    def held_versions(self, scopes: Sequence[str]) -> AsyncGenerator[tuple[MemoryRecord, ...]]:
        """See `exchange.held_versions`."""
        return exchange.held_versions(self._wiring, scopes)

    async def state(  # `remember`, and by whose power
        self,
        context: RequestContext,
        key: str,
        fact: str,
        *,
        scope: str | None = None,
        elevated: bool = False,
        **options: Unpack[RememberOptions],
    ) -> Remembered:
        """Record what a person states; see `operate.state`."""
        request = RememberRequest(key, fact, **options)
        return await operate.state(self._wiring, context, request, scope, elevated=elevated)

    async def pin(
        self, context: RequestContext, record_id: str, *, pinned: bool, elevated: bool = False
    ) -> MemoryRecord:
        """See `operate.pin`."""
        return await operate.pin(self._wiring, context, record_id, pinned=pinned, elevated=elevated)

    async def examine(self) -> Condition:
        """See `operate.examine`."""
        return await operate.examine(self._wiring)

    async def take_in(
        self,
        context: RequestContext,
        records: Sequence[tuple[MemoryRecord, ...]],
        *,
        elevated: bool = False,
        any_scope: bool = False,
    ) -> int:
        """See `operate.take_in`."""
        return await operate.take_in(self._wiring, context, records, elevated=elevated, any_scope=any_scope)

    async def take_in_foreign(
        self,
        context: RequestContext,
        records: Sequence[tuple[MemoryRecord, ...]],
        *,
        elevated: bool = False,
        any_scope: bool = False,
    ) -> TakenIn:
        """See `imports.take_in_foreign`."""
        return await imports.take_in_foreign(self._wiring, context, records, elevated=elevated, any_scope=any_scope)
