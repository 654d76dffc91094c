"""Seeing what is held: one record with its history, a scope page by page, counts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcp_memory_server.errors import InvalidInput, NotFound, NotSupported
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.policy import may_see
from mcp_memory_server.providers.base import (
    SENSITIVITIES,
    SET_ASIDE_TOO,
    BrowsingProvider,
    HistoryRequest,
    ListRequest,
    PageCursor,
    PageRequest,
    Stats,
    can_browse,
    has_history,
)
from mcp_memory_server.records import MemoryRecord, normal_key

from .wiring import Wiring

PAGE_SIZE: Final = 200


@dataclass(frozen=True, slots=True)
class Page:
    """Records of one scope in order of key. `next_after` continues behind the last one; None when it was the last."""

    scope: str
    records: tuple[MemoryRecord, ...]
    next_after: PageCursor | None


async def find(
    wiring: Wiring, scopes: Sequence[str], *, id: str | None = None, key: str | None = None
) -> tuple[MemoryRecord, ...]:
    """The records of that id or key at the scopes, of any status, set aside or not, in the order of the scopes.

    At one scope those that wait for review stand last: a key means the fact that it has.
    """
    if id is not None:
        request = ListRequest(tuple(scopes), ids=(id,), filter=SET_ASIDE_TOO)
    else:
        request = ListRequest(tuple(scopes), keys=(_stored_key(key or ""),), filter=SET_ASIDE_TOO)
    listing = await wiring.provider.list(request)
    held = (record for record in listing.records if record.scope in scopes)
    return tuple(sorted(held, key=lambda record: (scopes.index(record.scope), record.status != "active")))


def _stored_key(key: str) -> str:
    """The key in the form in which it is stored. One that could not be is looked for as it is, as nothing else."""
    try:
        return normal_key(key)
    except InvalidInput:
        return key


async def record_versions(
    wiring: Wiring, context: RequestContext, record_id: str, scopes: Sequence[str] | None = None
) -> tuple[MemoryRecord, ...]:
    """A record's versions, oldest first, the current one last; only that where the provider keeps no history.

    `scopes` widens where a person at the console looks; by default it is what the request resolves to, and versions
    above the session's ceiling are left out, all of them where the current one lies above it, or waits for somebody
    else's review.

    Raises:
        NotFound: unknown, foreign and erased ids get the same error.
    """
    console = scopes is not None
    ceiling = SENSITIVITIES if console else wiring.shown_now(context).ceiling
    scopes = tuple(scopes if scopes is not None else await wiring.resolver.resolve(context))
    if has_history(wiring.provider):
        found = await wiring.provider.history(HistoryRequest(scopes, record_id))
    else:
        found = (await wiring.provider.list(ListRequest(scopes, ids=(record_id,), filter=SET_ASIDE_TOO))).records
    visible = tuple(version for version in found if version.scope in scopes and version.sensitivity in ceiling)
    hidden = bool(visible) and not (console or may_see(context.actor, found[-1]))
    if not visible or hidden or found[-1].sensitivity not in ceiling:
        raise NotFound("memory", record_id, "Read memory://digest to see ids.")
    return visible


async def page(
    wiring: Wiring, context: RequestContext, scope: str, after: PageCursor | None = None, limit: int = PAGE_SIZE
) -> Page:
    """Everything held at one scope that applies to the request, up to the session's ceiling: the read-back.

    What waits there is left out for whoever does not decide about it.

    Raises:
        NotFound: the scope does not apply, or does not exist: the two look the same.
    """
    if scope not in await wiring.resolver.resolve(context):
        raise NotFound("scope", scope, "Read memory://stats to see your scopes.")
    found = await _page(browsing(wiring), scope, after, limit)
    ceiling = wiring.shown_now(context).ceiling
    shown = (record for record in found.records if record.sensitivity in ceiling)
    return replace(found, records=tuple(record for record in shown if may_see(context.actor, record)))


async def _page(provider: BrowsingProvider, scope: str, after: PageCursor | None, limit: int) -> Page:
    found = await provider.page(PageRequest(scope, limit, after))
    held = tuple(record for record in found if record.scope == scope)
    return Page(scope, held, PageCursor.behind(found[-1]) if len(found) == limit else None)


async def everything_at(wiring: Wiring, scope: str) -> AsyncGenerator[MemoryRecord]:
    """Every record at a scope, without asking whom it applies to: for callers that have checked."""
    provider = browsing(wiring)
    after: PageCursor | None = None
    while True:
        found = await _page(provider, scope, after, PAGE_SIZE)
        for record in found.records:
            yield record
        if found.next_after is None:
            return
        after = found.next_after


async def everything_then(
    wiring: Wiring, scopes: Sequence[str], as_of: str | None, known_at: str | None
) -> tuple[MemoryRecord, ...]:
    """What was true, or believed, at the scopes at another time (`Filter`), by scope and key; set aside or not.

    For callers that have checked whom the scopes apply to.

    Raises:
        InvalidInput: a time that is none, or has no zone.
    """
    asked = replace(SET_ASIDE_TOO, as_of=as_of, known_at=known_at)
    listing = await wiring.provider.list(ListRequest(tuple(scopes), filter=asked))
    held = (record for record in listing.records if record.scope in scopes)
    return tuple(sorted(held, key=lambda record: (scopes.index(record.scope), record.key)))


async def stats(wiring: Wiring, context: RequestContext, scopes: Sequence[str] | None = None) -> Stats:
    """Counts at the scopes that apply to the request, up to the session's ceiling; or all at those that are named.

    `scopes` widens where a person at the console looks.
    """
    if scopes is not None:
        return await browsing(wiring).stats(tuple(scopes))
    return await browsing(wiring).stats(tuple(await wiring.resolver.resolve(context)), wiring.ceiling(context))


def browsing(wiring: Wiring) -> BrowsingProvider:
    provider = wiring.provider
    if not can_browse(provider):
        raise NotSupported(provider.capabilities.provider, "be browsed", "Use memory://digest instead.")
    return provider
