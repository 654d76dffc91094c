"""Looking after a store: what has ended or is too much is set aside, what has proven itself is promoted (spec 9.1)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from mcp_memory_server.digest import is_spent
from mcp_memory_server.errors import Conflict, InvalidInput, NotFound, NotSupported
from mcp_memory_server.identity import RequestContext, is_own_scope
from mcp_memory_server.policy import write_verdict
from mcp_memory_server.providers.base import (
    SET_ASIDE_TOO,
    ListRequest,
    ReviseRequest,
    WritingProvider,
    can_write,
    is_maintained,
)
from mcp_memory_server.records import MemoryRecord
from mcp_memory_server.upkeep import (
    Promotion,
    ScopeUpkeep,
    SetAside,
    UpkeepRules,
    has_ended,
    plan_upkeep,
)

from .browse import browsing, everything_at
from .promotion import promote
from .reach import Reach, scopes_within
from .wiring import Wiring


@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """All that a run would do, scope by scope, and in the store as a whole.

    `digests` and `conversations` are how many journaled digests and sets of shown records are past being kept;
    `erasures` how many wait for another process.
    """

    at: str
    scopes: tuple[ScopeUpkeep, ...]
    digests: int
    conversations: int
    erasures: int

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        return tuple(aside for scope in self.scopes for aside in scope.set_aside)

    @property
    def promotions(self) -> tuple[Promotion, ...]:
        return tuple(promotion for scope in self.scopes for promotion in scope.promotions)


@dataclass(slots=True)
class MaintenanceReport:
    """What a run has done so far. `left` are records that somebody changed or erased since the plan was made."""

    set_aside: list[MemoryRecord] = field(default_factory=list[MemoryRecord])
    promoted: list[MemoryRecord] = field(default_factory=list[MemoryRecord])
    left: list[MemoryRecord] = field(default_factory=list[MemoryRecord])
    digests: int = 0
    conversations: int = 0
    erasures: int = 0

    @property
    def records(self) -> int:
        """How many records the run has come to."""
        return len(self.set_aside) + len(self.promoted) + len(self.left)


class Maintenance:
    """A plan that writes nothing, and carrying it out: one versioned write a record, by its version.

    So servers go on meanwhile, a run that is stopped has done some of it whole and can be made again, and what
    somebody changed since the plan was made is left to the next one.
    """

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring

    async def plan(self, context: RequestContext, reach: Reach | None = None) -> MaintenancePlan:
        """What is to be done within reach: at own scopes alone, unless an administrator asks.

        Raises:
            Refused: a scope of others without elevation.
            NotSupported: the provider cannot be browsed.
        """
        wiring, now = self._wiring, self._wiring.now()
        rules = UpkeepRules(wiring.limits.max_records, wiring.limits.promote_after)
        upkeep = [
            plan_upkeep(scope, [record async for record in everything_at(wiring, scope)], now, rules)
            for scope in await self._within(context, reach or Reach())
        ]
        return MaintenancePlan(
            now,
            tuple(upkeep),
            digests=await wiring.journal.prune(count_only=True),
            conversations=await wiring.conversations.prune(count_only=True),
            erasures=await self._pending_erasures(),
        )

    async def carry_out(self, context: RequestContext, plan: MaintenancePlan) -> AsyncGenerator[MaintenanceReport]:
        """Do it; yields the one report as it grows, after each record and at the end.

        Raises:
            NotSupported: the provider is read-only, or cannot note when it was maintained; nothing was done.
            StoreError
        """
        wiring, store = self._wiring, self._wiring.provider
        provider = self._writing
        if not is_maintained(store):
            raise NotSupported(store.capabilities.provider, "be maintained", "Nothing was done. Use its own tools.")
        report = MaintenanceReport()
        for aside in plan.set_aside:
            archived = await self._archive(context, provider, aside)
            if archived is None:
                report.left.append(aside.record)
            else:
                report.set_aside.append(archived)
            yield report
        for promotion in plan.promotions:
            promoted = await promote(wiring, context.actor, promotion.record)
            if promoted is None:
                report.left.append(promotion.record)
            else:
                report.promoted.append(promoted)
            yield report
        report.digests = await wiring.journal.prune()
        report.conversations = await wiring.conversations.prune()
        if await self._pending_erasures():
            await store.examine()
        report.erasures = await self._pending_erasures()
        await store.record_maintenance(wiring.now())
        wiring.embeddings.poke()
        yield report

    async def restore(
        self, context: RequestContext, id: str, scopes: Sequence[str] | None = None, *, elevated: bool = False
    ) -> MemoryRecord:
        """Bring back a record that was set aside. `scopes` widens where a person at the console looks.

        Raises:
            NotFound: no record of that id is there.
            InvalidInput: it is not set aside, or would be so again at once: it has ended, or votes are against it.
            Refused: it stands at a scope of others, without elevation.
            Conflict: somebody changed it just now.
            NotSupported
        """
        wiring, provider = self._wiring, self._writing
        applying = tuple(await wiring.resolver.resolve(context))
        within = applying if scopes is None else tuple(scopes)
        listing = await provider.list(ListRequest(within, ids=(id,), filter=SET_ASIDE_TOO))
        record = next((record for record in listing.records if record.scope in within), None)
        if record is None:
            raise NotFound("memory", id, "`mcp-memory-server list` shows ids, and which records are set aside.")
        write_verdict(context.actor, (*applying, *within), record.scope, "human", elevated).require()
        back = record.model_copy(update={"archived_at": None, "archived_because": None})
        _check_restorable(record, back, wiring.now())
        written = await provider.revise(ReviseRequest(back, wiring.now()))
        if written is None:
            raise NotFound("memory", id, "It was forgotten meanwhile.")
        wiring.embeddings.poke()
        return written.record

    async def _within(self, context: RequestContext, reach: Reach) -> tuple[str, ...]:
        scopes = await scopes_within(self._wiring, context, reach)
        if reach.elevated:
            return scopes
        if reach.scope is not None:
            write_verdict(context.actor, scopes, reach.scope, "human").require()
        return tuple(scope for scope in scopes if is_own_scope(context.actor, scope))

    async def _archive(
        self, context: RequestContext, provider: WritingProvider, aside: SetAside
    ) -> MemoryRecord | None:
        """The record set aside; None where somebody was faster."""
        now = self._wiring.now()
        because = f"{aside.because}; maintenance by {context.actor.id}"
        archived = aside.record.model_copy(update={"archived_at": now, "archived_because": because})
        async with self._wiring.changing:
            try:
                written = await provider.revise(ReviseRequest(archived, now))
            except Conflict:
                return None
        return written and written.record

    async def _pending_erasures(self) -> int:
        return (await browsing(self._wiring).stats(())).pending_erasures

    @property
    def _writing(self) -> WritingProvider:
        provider = self._wiring.provider
        if not can_write(provider):
            name = provider.capabilities.provider
            raise NotSupported(name, "be written to", "Nothing was done. Configure a writable store.")
        return provider


def _check_restorable(record: MemoryRecord, back: MemoryRecord, now: str) -> None:
    if record.archived_at is None:
        raise InvalidInput.of("id", "names a record that is not set aside")
    if has_ended(back, now):
        raise InvalidInput.of(
            "id", f"names a fact that ended {record.valid_to}: state it anew, with another end or none"
        )
    if is_spent(record):
        raise InvalidInput.of("id", "names an insight that votes are against: vote it up, which brings it back")
