"""Erasing a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_memory_server.errors import InvalidInput, NotFound, echo
from mcp_memory_server.identity import RequestContext, is_own_scope
from mcp_memory_server.policy import forget_verdict, may_see
from mcp_memory_server.providers.base import SET_ASIDE_TOO, Erasure, ForgetRequest, ListRequest
from mcp_memory_server.records import MemoryRecord

from .browse import find
from .wiring import Wiring

_REMEDY = "Call recall_digest to see ids and keys."


@dataclass(frozen=True, slots=True)
class ForgetCommand:
    """Exactly one of `id` and `key`. `elevated` is the host's word that an administrator asks."""

    id: str | None = None
    key: str | None = None
    elevated: bool = False
    reason: str = "requested"


@dataclass(frozen=True, slots=True)
class Forgot:
    """What was erased; other own scopes that still hold the same key; and the ids of insights that cite it.

    What was inferred from a fact may tell it: whoever has the fact forgotten decides about those, too.
    """

    id: str
    key: str
    scope: str
    erasure: Erasure
    still_at: tuple[str, ...] = ()
    cited_by: tuple[str, ...] = ()

    def told(self) -> str:
        """What a person or a model is told."""
        said = f"Forgot {echo(self.key)} at {self.scope}."
        if self.erasure == "pending":
            said += " Another process still holds bytes of it; they are erased as soon as it lets go."
        if self.still_at:
            said += f" The key is still held at {', '.join(self.still_at)}."
        if self.cited_by:
            ids = ", ".join(self.cited_by)
            said += f" What was inferred from it is still held; forget that, too, if it tells it: {ids}."
        return said


async def forget(
    wiring: Wiring, context: RequestContext, command: ForgetCommand, scopes: Sequence[str] | None = None
) -> Forgot:
    """Erase one record for good (spec section 10.4).

    By key it is the one at the narrowest own scope that holds the key, whatever its sensitivity: who knows of it may
    have it erased. `scopes` widens where an administrator looks; by default it is what the request resolves to.

    Raises:
        InvalidInput: not exactly one of id and key.
        NotFound: unknown, foreign and already forgotten records get the same error, and so do those that others share
            and that are kept from the session.
        Refused: the record stands at a wider scope; the message says who may.
    """
    if (command.id is None) == (command.key is None):
        raise InvalidInput.of("id", "or key: give exactly one of the two")
    within = tuple(scopes if scopes is not None else await wiring.resolver.resolve(context))
    held = await find(wiring, within, id=command.id, key=command.key)
    if scopes is None and not command.elevated:
        held = tuple(record for record in held if _is_known(wiring, context, record))
    target = _target(context, held, command)
    citing = await _citing(wiring, within, target)
    if scopes is None and not command.elevated:
        citing = tuple(record for record in citing if _is_known(wiring, context, record))
    await wiring.journal.drain()
    forgotten = await wiring.provider.forget(
        ForgetRequest(target.scope, target.id, by=context.actor.id, at=wiring.now(), reason=command.reason)
    )
    if forgotten is None:  # another process was faster
        raise _not_found(command)
    still = [record.scope for record in held if record.id != target.id and is_own_scope(context.actor, record.scope)]
    cited_by = tuple(record.id for record in citing)
    return Forgot(forgotten.id, forgotten.key, forgotten.scope, forgotten.erasure, tuple(still), cited_by)


async def _citing(wiring: Wiring, scopes: tuple[str, ...], target: MemoryRecord) -> tuple[MemoryRecord, ...]:
    """The insights at these scopes that rest on the record, those included that wait for review or are set aside."""
    insights = replace(SET_ASIDE_TOO, kinds=("insight",))
    held = (await wiring.provider.list(ListRequest(scopes, filter=insights))).records
    return tuple(record for record in held if record.insight and target.id in record.insight.cites)


def _is_known(wiring: Wiring, context: RequestContext, record: MemoryRecord) -> bool:
    """Whether the session may hear that there is such a record."""
    if is_own_scope(context.actor, record.scope):
        return True
    return record.sensitivity in wiring.shown_now(context).ceiling and may_see(context.actor, record)


def _target(context: RequestContext, held: Sequence[MemoryRecord], command: ForgetCommand) -> MemoryRecord:
    if not held:
        raise _not_found(command)
    own = [record for record in held if is_own_scope(context.actor, record.scope)]
    target = own[0] if own else held[0]
    forget_verdict(context.actor, target.scope, command.elevated).require()
    return target


def _not_found(command: ForgetCommand) -> NotFound:
    return NotFound("memory", command.id if command.id is not None else command.key or "", _REMEDY)
