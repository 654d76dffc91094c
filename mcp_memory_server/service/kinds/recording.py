"""What the use cases of all kinds share: who writes and where, and changes that several writers make at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from mcp_memory_server.errors import Conflict, NotFound, NotSupported
from mcp_memory_server.identity import RequestContext, actor_scope, project_scope
from mcp_memory_server.policy import write_verdict
from mcp_memory_server.providers.base import ListRequest, ReviseRequest, WritingProvider, can_write
from mcp_memory_server.records import Author, MemoryRecord, Status
from mcp_memory_server.service.remember import Remembered, RememberRequest, Where, own_scope, write_at
from mcp_memory_server.service.wiring import Wiring

T = TypeVar("T")

ATTEMPTS: Final = 100
"""How often a change is tried because another process was faster: of any number of them one gets through each time."""


@dataclass(frozen=True, slots=True)
class Writer:
    """By whom, and where: an assistant at an own scope, or a person, who may name a wider one when elevated.

    Without `where` and `scope` a change is made where the memory is, and a new one applies everywhere.
    """

    author: Author = "agent"
    where: Where | None = None
    scope: str | None = None
    elevated: bool = False

    def target(self, context: RequestContext) -> str:
        """The scope of what is new."""
        return self.scope if self.scope is not None else own_scope(context, self.where or "everywhere")

    def places(self, context: RequestContext) -> tuple[str, ...]:
        """The scopes at which what is to be changed is looked for, the narrowest first."""
        if self.scope is not None or self.where is not None or context.project is None:
            return (self.target(context),)
        return (project_scope(context.actor, context.project), actor_scope(context.actor))


ASSISTANT: Final = Writer()
PERSON: Final = Writer(author="human")


async def record(wiring: Wiring, context: RequestContext, request: RememberRequest, writer: Writer) -> Remembered:
    """Write a memory of any kind, by the same rules as a fact.

    Raises:
        InvalidInput, Refused, Conflict, NotSupported: as `remember` does.
    """
    scopes = await wiring.resolver.resolve(context)
    target = writer.target(context)
    return await write_at(wiring, context, request, scopes, target, author=writer.author, elevated=writer.elevated)


async def held(
    wiring: Wiring, context: RequestContext, *, id: str, statuses: tuple[Status, ...] = ("active",)
) -> MemoryRecord:
    """The record of that id, as far as the caller may be shown it.

    Raises:
        NotFound: unknown, foreign, withheld and erased ids get the same error.
    """
    scopes = tuple(await wiring.resolver.resolve(context))
    seen = replace(wiring.shown_now(context), at=None, include_archived=True)
    listing = await wiring.provider.list(ListRequest(scopes, ids=(id,), statuses=statuses, filter=seen))
    found = next((record for record in listing.records if record.scope in scopes), None)
    if found is None:
        raise NotFound("memory", id, "Recall shows the ids that there are.")
    return found


async def revise(
    wiring: Wiring,
    context: RequestContext,
    id: str,
    change: Callable[[MemoryRecord], MemoryRecord],
    writer: Writer,
) -> MemoryRecord:
    """The record after the change, in whichever state it is: a count or a vote, which makes it no other statement.

    Raises:
        NotFound: no such record.
        InvalidInput: `change` refuses it.
        Refused: it stands at a scope that the writer may not write at.
        Conflict: others changed it all the time.
        NotSupported: the provider is read-only.
    """
    scopes = tuple(await wiring.resolver.resolve(context))

    async def attempt() -> MemoryRecord:
        found = await held(wiring, context, id=id, statuses=("active", "quarantined"))
        write_verdict(context.actor, scopes, found.scope, writer.author, writer.elevated).require()
        written = await writing(wiring).revise(ReviseRequest(change(found), wiring.now()))
        if written is None:
            raise NotFound("memory", id, "It was forgotten meanwhile.")
        wiring.embeddings.poke()
        return written.record

    return await persistently(wiring, attempt)


async def persistently(wiring: Wiring, attempt: Callable[[], Awaitable[T]]) -> T:
    """What the attempt comes to; it is made anew while another process is faster.

    Raises:
        Conflict: others were faster all the time.
    """
    async with wiring.changing:
        for _ in range(ATTEMPTS - 1):
            with suppress(Conflict):
                return await attempt()
        return await attempt()


def writing(wiring: Wiring) -> WritingProvider:
    """The provider, where it can be written to."""
    provider = wiring.provider
    if not can_write(provider):
        name = provider.capabilities.provider
        raise NotSupported(name, "be written to", "Nothing was stored. Configure a writable store.")
    return provider
