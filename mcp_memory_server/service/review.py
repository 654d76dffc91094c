"""What waits for a person: proposing it, seeing it, deciding about it (spec section 9.2).

No model's word approves anything: these calls are for a console, the command line, and for a server that has asked
the person through their client.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcp_memory_server.errors import InvalidInput, NotFound, NotSupported, Problem, Refused, echo
from mcp_memory_server.identity import RequestContext, check_scope, is_own_scope
from mcp_memory_server.policy import approve_verdict, may_review
from mcp_memory_server.providers.base import (
    SET_ASIDE_TOO,
    Decision,
    Erasure,
    Filter,
    ListRequest,
    ReviewingProvider,
    SettleRequest,
    WriteRequest,
    WriteStatus,
    Written,
    can_review,
)
from mcp_memory_server.records import (
    Author,
    MemoryOrigin,
    MemoryRecord,
    active_lane,
    lane_of,
    normal_text,
    visible_line,
)

from .pending import Pending
from .remember import RememberRequest, drafted
from .trust import refuse_credentials, suspicion_of, suspicion_of_record
from .wiring import Wiring

MAX_REASON_CHARS: Final = 200
MAX_PROPOSALS: Final = 100
"""How many of one person's proposals may wait at a scope: more are read by nobody."""

_REMEDY: Final = "List what waits with `mcp-memory-server review`; what others share needs --elevated there."


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fact for a scope that others share, and why they should have it."""

    key: str
    fact: str
    scope: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """How a record is approved. `fact` is what it says instead, in the approver's words or those of their assistant.

    `words_of` says whose they are. `elevated` is the host's word that an administrator asks; `if_version` approves only
    over that version of the active fact of the key, 0 only where there is none.
    """

    elevated: bool = False
    fact: str | None = None
    words_of: Author = "human"
    if_version: int | None = None


@dataclass(frozen=True, slots=True)
class Approved:
    """The fact that holds now, and the one that it replaced. `unchanged`: it held already."""

    status: WriteStatus
    record: MemoryRecord
    previous: MemoryRecord | None
    erasure: Erasure


class Review:
    """Proposals, and decisions about what waits.

    `scopes` widens where a person at the console looks, as `Reach` does. By default it is what the request resolves
    to, and what lies above the session's ceiling of sensitivity is left out.
    """

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring

    @property
    def offered(self) -> bool:
        """Whether the provider can do any of this."""
        return can_review(self._wiring.provider)

    async def propose(self, context: RequestContext, proposal: Proposal) -> Written:
        """Suggest a fact for a wider scope: it waits there until a reviewer has approved it.

        `unchanged`: the same waits already, or holds already.

        Raises:
            InvalidInput: every wrong argument; the scope is one's own, or does not apply.
            Refused: as many of the caller's proposals wait there as may.
            CredentialRefused, NotSupported
        """
        refuse_credentials({"reason": proposal.reason})
        scopes = tuple(await self._wiring.resolver.resolve(context))
        wrong = list(_scope_problems(context, proposal.scope, scopes))
        reason = visible_line(proposal.reason or "")
        if len(reason) > MAX_REASON_CHARS:
            wrong.append(Problem("reason", f"has {len(reason)} characters and the limit is {MAX_REASON_CHARS}"))
        request = RememberRequest(proposal.key, proposal.fact)
        draft = drafted(self._wiring, context, request, proposal.scope, "agent", wrong=wrong)
        suspicion = suspicion_of({"key": proposal.key, "fact": proposal.fact, "reason": proposal.reason})
        because = ["proposal" + (f": {reason}" if reason else "")]
        because += [f"reads like an instruction: {suspicion}"] if suspicion else []
        held = replace(draft, provenance="tool", status="quarantined", held_because="; ".join(because))
        await self._refuse_a_flood(held)
        return await self._provider.write(held)

    async def _refuse_a_flood(self, proposed: WriteRequest) -> None:
        """Refuse a further proposal where enough wait; one that waits already is none."""
        request = ListRequest((proposed.scope,), statuses=("quarantined",), filter=SET_ASIDE_TOO)
        by = proposed.origin.actor_ref
        waiting = [
            (record.key, record.text)
            for record in (await self._provider.list(request)).records
            if record.status == "quarantined" and record.origin.actor_ref == by and record.provenance == "tool"
        ]
        if len(waiting) >= MAX_PROPOSALS and (proposed.key, proposed.text) not in waiting:
            raise Refused(
                f"Nothing was proposed: {len(waiting)} of your proposals wait at {echo(proposed.scope)} already. "
                "People decide about those first, with `mcp-memory-server review`."
            )

    async def pending(
        self, context: RequestContext, scopes: Sequence[str] | None = None, *, elevated: bool = False
    ) -> tuple[Pending, ...]:
        """What waits for a decision of the caller's, by scope and then newest first."""
        waiting = await self._waiting(context, scopes, None, elevated=elevated)
        return await self._weighed(context, waiting, elevated=elevated)

    async def weigh(self, context: RequestContext, record: MemoryRecord, *, elevated: bool = False) -> Pending:
        """A record that the caller has, such as their own proposal, as one that waits."""
        (pending,) = await self._weighed(context, [record], elevated=elevated)
        return pending

    async def find(
        self, context: RequestContext, record_id: str, scopes: Sequence[str] | None = None, *, elevated: bool = False
    ) -> Pending:
        """One record that waits for a decision of the caller's.

        Raises:
            NotFound: unknown, foreign and settled ids, and those that others decide about, get the same error.
        """
        waiting = await self._waiting(context, scopes, record_id, elevated=elevated)
        if not waiting:
            raise NotFound("memory waiting for review", record_id, _REMEDY)
        return await self.weigh(context, waiting[0], elevated=elevated)

    async def approve(
        self,
        context: RequestContext,
        record_id: str,
        approval: Approval | None = None,
        scopes: Sequence[str] | None = None,
    ) -> Approved:
        """Make a fact of a record that waits, in its words or in the approver's.

        At an own scope it stays the assistant's note unless the approver put it otherwise; what others share is
        published in the approver's name.

        Raises:
            NotFound: see `find`.
            Refused: where roles are in force, nobody approves what they proposed.
            Conflict: the active fact is not the one that was looked at.
            InvalidInput, CredentialRefused, NotSupported
        """
        approval = approval or Approval()
        record = (await self.find(context, record_id, scopes, elevated=approval.elevated)).record
        approve_verdict(context.actor, record, approval.elevated).require()
        text = None if approval.fact is None else self.worded(record, approval.fact)
        asked = self._settling(context, record, "approve")
        asked = replace(asked, text=text, if_version=approval.if_version)
        put_otherwise = text not in (None, record.text) and approval.words_of == "human"
        if put_otherwise or not is_own_scope(context.actor, record.scope):
            person = MemoryOrigin(author="human", thread_id=context.thread_id, actor_ref=context.actor.id)
            asked = replace(asked, origin=person, provenance="user")
        settled = await self._provider.settle(asked)
        if settled is None or settled.record is None:  # another process was faster
            raise NotFound("memory waiting for review", record_id, _REMEDY)
        self._wiring.embeddings.poke()
        held_already = settled.previous is None and settled.record.id != record.id
        status = "replaced" if settled.previous else "unchanged" if held_already else "stored"
        return Approved(status, settled.record, settled.previous, settled.erasure)

    def worded(self, record: MemoryRecord, fact: str) -> str:
        """Other words for a record that waits, as they would be stored.

        Raises:
            InvalidInput, CredentialRefused
        """
        refuse_credentials({"key": record.key, "fact": fact})
        return normal_text(fact, self._wiring.limits.max_fact_chars)

    async def reject(
        self, context: RequestContext, record_id: str, scopes: Sequence[str] | None = None, *, elevated: bool = False
    ) -> Erasure:
        """Erase a record that waits, down to the bytes.

        Raises:
            NotFound: see `find`.
            NotSupported
        """
        record = (await self.find(context, record_id, scopes, elevated=elevated)).record
        settled = await self._provider.settle(self._settling(context, record, "reject"))
        if settled is None:
            raise NotFound("memory waiting for review", record_id, _REMEDY)
        return settled.erasure

    @property
    def _provider(self) -> ReviewingProvider:
        provider = self._wiring.provider
        if not can_review(provider):
            name = provider.capabilities.provider
            raise NotSupported(name, "hold anything for review", "Use a store that declares the group review.")
        return provider

    def _settling(self, context: RequestContext, record: MemoryRecord, decision: Decision) -> SettleRequest:
        return SettleRequest(record.scope, record.id, decision, at=self._wiring.now(), by=context.actor.id)

    async def _waiting(
        self, context: RequestContext, scopes: Sequence[str] | None, record_id: str | None, *, elevated: bool
    ) -> list[MemoryRecord]:
        asked = tuple(scopes if scopes is not None else await self._wiring.resolver.resolve(context))
        visible = tuple(scope for scope in asked if may_review(context.actor, scope, elevated))
        ids = None if record_id is None else (record_id,)
        ceiling = self._wiring.ceiling(context) if scopes is None else None
        narrowed = replace(SET_ASIDE_TOO, max_sensitivity=ceiling)
        request = ListRequest(visible, ids=ids, statuses=("quarantined",), filter=narrowed)
        listing = await self._provider.list(request)
        waiting = [record for record in listing.records if record.scope in visible and record.status == "quarantined"]
        waiting.sort(key=lambda record: record.updated_at, reverse=True)
        return sorted(waiting, key=lambda record: visible.index(record.scope))

    async def _weighed(
        self, context: RequestContext, waiting: Sequence[MemoryRecord], *, elevated: bool
    ) -> tuple[Pending, ...]:
        scopes = tuple({record.scope for record in waiting})
        keys = tuple({record.key for record in waiting})
        ended = tuple({record.supersedes for record in waiting if record.supersedes is not None})
        standing = {(held.scope, held.key, lane_of(held)): held for held in await self._active(scopes, keys=keys)}
        ends = {(held.scope, held.id): held for held in await self._active(scopes, ids=ended)}
        return tuple(
            Pending(
                record,
                standing.get(_place(record)),
                ends.get((record.scope, record.supersedes or "")),
                suspicion_of_record(record),
                approve_verdict(context.actor, record, elevated).reason or None,
            )
            for record in waiting
        )

    async def _active(
        self, scopes: tuple[str, ...], keys: tuple[str, ...] | None = None, ids: tuple[str, ...] | None = None
    ) -> Sequence[MemoryRecord]:
        if not (keys or ids):
            return ()
        request = ListRequest(scopes, keys=keys, ids=ids, filter=Filter(include_archived=True))
        return (await self._wiring.provider.list(request)).records


def _place(record: MemoryRecord) -> tuple[str, str, str]:
    """Where the record would stand if it were approved."""
    return record.scope, record.key, active_lane(record.kind, record.origin.thread_id)


def _scope_problems(context: RequestContext, scope: str, scopes: Sequence[str]) -> Iterable[Problem]:
    try:
        check_scope(scope)
    except InvalidInput as error:
        return error.problems
    if is_own_scope(context.actor, scope):
        return [Problem("scope", "is your own: remember it there, which needs no approval")]
    if scope not in scopes:
        wider = [name for name in scopes if not is_own_scope(context.actor, name)]
        return [Problem("scope", f"does not apply here; others share {', '.join(wider)}")]
    return []
