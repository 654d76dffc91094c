"""Erasing a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory_server.errors import InvalidInput, NotFound
from mcp_memory_server.identity import RequestContext, is_own_scope
from mcp_memory_server.policy import forget_verdict, may_see
from mcp_memory_server.providers.base import Erasure, ForgetRequest
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
    """What was erased, and other own scopes that still hold the same key."""

    id: str
    key: str
    scope: str
    erasure: Erasure
    still_at: tuple[str, ...] = ()


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
    await wiring.journal.drain()
    forgotten = await wiring.provider.forget(
        ForgetRequest(target.scope, target.id, by=context.actor.id, at=wiring.now(), reason=command.reason)
    )
    if forgotten is None:  # another process was faster
        raise _not_found(command)
    still = [record.scope for record in held if record.id != target.id and is_own_scope(context.actor, record.scope)]
    return Forgot(forgotten.id, forgotten.key, forgotten.scope, forgotten.erasure, tuple(still))


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
