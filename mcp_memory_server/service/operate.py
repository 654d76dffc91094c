"""What a person does at the console: state, publish, pin, take in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcp_memory_server.errors import NotFound, NotSupported, Refused, echo
from mcp_memory_server.identity import RequestContext, is_own_scope
from mcp_memory_server.policy import write_verdict
from mcp_memory_server.providers.base import (
    SET_ASIDE_TOO,
    Condition,
    ListRequest,
    MemoryProvider,
    PinRequest,
    RestoreRequest,
    can_browse,
    can_restore,
    can_write,
    is_maintained,
)
from mcp_memory_server.records import MemoryRecord

from .remember import Remembered, RememberRequest, own_scope, write_at
from .wiring import Wiring


async def state(
    wiring: Wiring,
    context: RequestContext,
    request: RememberRequest,
    scope: str | None = None,
    *,
    elevated: bool = False,
) -> Remembered:
    """Record what a person states: at their own scope, or published at a wider one when elevated.

    Raises:
        InvalidInput, Refused, Conflict, NotSupported
    """
    scopes = await wiring.resolver.resolve(context)
    target = own_scope(context, request.where) if scope is None else scope
    _require_applying(target, scopes, "The flags --tenant and --project add theirs.")
    return await write_at(wiring, context, request, scopes, target, author="human", elevated=elevated)


async def pin(
    wiring: Wiring, context: RequestContext, record_id: str, *, pinned: bool, elevated: bool = False
) -> MemoryRecord:
    """Set or clear the pin of a record that the caller sees; above the own scope that needs elevation.

    Raises:
        NotFound, Refused, NotSupported
    """
    provider = wiring.provider
    if not can_write(provider):
        raise NotSupported(provider.capabilities.provider, "be written to", "Configure a writable store.")
    scopes = tuple(await wiring.resolver.resolve(context))
    listing = await provider.list(ListRequest(scopes, ids=(record_id,), filter=SET_ASIDE_TOO))
    record = next((record for record in listing.records if record.scope in scopes), None)
    if record is not None:
        write_verdict(context.actor, scopes, record.scope, "human", elevated).require()
        record = await provider.pin(PinRequest(record.scope, record.id, pinned, wiring.now()))
    if record is None:
        raise NotFound("memory", record_id, "List them with `mcp-memory-server list`.")
    return record


async def examine(wiring: Wiring) -> Condition:
    """The state of the store, with what could be mended mended. For operators: it tells of all scopes.

    Raises:
        NotSupported, StoreError
    """
    provider = wiring.provider
    if not is_maintained(provider):
        raise NotSupported(provider.capabilities.provider, "be examined", "Use its own tools.")
    return await provider.examine()


async def take_in(
    wiring: Wiring,
    context: RequestContext,
    records: Sequence[tuple[MemoryRecord, ...]],
    *,
    elevated: bool = False,
    any_scope: bool = False,
) -> int:
    """Restore records with their history, all or none; how many were new or changed.

    Args:
        records: the versions of each record, oldest first.
        elevated: a host's word that scopes above the own one may be written.
        any_scope: also scopes that do not apply to this request, as restoring a whole store needs.

    Raises:
        Refused: a record stands at a scope that the caller may not write, or has the id of one that does;
            nothing was taken in.
        InvalidInput, NotSupported
    """
    provider = wiring.provider
    if not can_restore(provider):
        raise NotSupported(provider.capabilities.provider, "take in records", "Import into another store.")
    targets = {versions[-1].scope for versions in records if versions}
    targets |= await _holders(provider, {versions[-1].id for versions in records if versions})
    # One's own projects count as applying whichever of them is configured now: nobody else reads there.
    reachable = targets if any_scope and elevated else {at for at in targets if is_own_scope(context.actor, at)}
    applying = tuple(await wiring.resolver.resolve(context))
    for scope in sorted(targets):
        if scope not in reachable:
            _require_applying(scope, applying, "Records of every scope are taken in with --all --elevated.")
        write_verdict(context.actor, (*applying, *reachable), scope, "human", elevated).require()
    return await provider.restore(RestoreRequest(tuple(records), wiring.now()))


def _require_applying(scope: str, applying: Sequence[str], remedy: str) -> None:
    """Refuse a scope that does not apply, and name those that do: the caller may know their own."""
    if scope not in applying:
        known = ", ".join(map(echo, applying))
        raise Refused(f"The scope {echo(scope)} does not apply to you. These do: {known}. {remedy}")


async def _holders(provider: MemoryProvider, ids: Iterable[str]) -> set[str]:
    """The scopes at which records of these ids stand now: restoring replaces them wherever they are."""
    if not can_browse(provider):
        return set()
    every_scope = await provider.scopes()
    listing = await provider.list(ListRequest(every_scope, ids=tuple(ids), filter=SET_ASIDE_TOO))
    return {record.scope for record in listing.records}
