"""Who may hear of a change: whoever may read what changed, as it was or as it is now.

That something happened to what lies above a session's ceiling, or waits for others to decide about it, is nobody
else's business either. The feed of changes names records, not what they are: so it is looked up, once for everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from mcp_memory_server.identity import RequestContext
from mcp_memory_server.policy import may_review, may_see
from mcp_memory_server.providers.base import (
    SENSITIVITIES,
    SET_ASIDE_TOO,
    Change,
    Filter,
    HistoryRequest,
    ListRequest,
    MemoryProvider,
    has_history,
)
from mcp_memory_server.records import MemoryRecord

from .wiring import Wiring

_ARCHIVED_TOO: Final = Filter(include_archived=True)


@dataclass(frozen=True, slots=True)
class News:
    """Changes, each record once, and the records that there still are."""

    provider: MemoryProvider
    changes: tuple[Change, ...]
    held: Mapping[Change, MemoryRecord]
    _earlier: dict[Change, tuple[MemoryRecord, ...]] = field(default_factory=dict[Change, tuple[MemoryRecord, ...]])

    @classmethod
    async def of(cls, provider: MemoryProvider, changes: Iterable[Change]) -> News:
        once = tuple(dict.fromkeys(changes))
        if not once:
            return cls(provider, (), {})
        scopes = tuple(dict.fromkeys(change.scope for change in once))
        ids = tuple(dict.fromkeys(change.id for change in once))
        found = await provider.list(ListRequest(scopes, ids=ids, filter=SET_ASIDE_TOO))
        return cls(provider, once, {Change(record.scope, record.id): record for record in found.records})

    async def earlier(self, change: Change) -> tuple[MemoryRecord, ...]:
        """The versions before the current one, as far as the store keeps them."""
        if change not in self._earlier:
            versions: tuple[MemoryRecord, ...] = ()
            if has_history(self.provider):
                versions = await self.provider.history(HistoryRequest((change.scope,), change.id))
            self._earlier[change] = versions[:-1]
        return self._earlier[change]


@dataclass(eq=False, slots=True)
class Audience:
    """One session: the scopes that apply to it, what it may read there, and the records that are kept from it."""

    scopes: frozenset[str]
    may_read: Callable[[MemoryRecord], bool]
    kept_back: set[Change]

    @classmethod
    def nobody(cls) -> Audience:
        return cls(frozenset(), lambda _: False, set())

    async def heard(self, news: News) -> list[Change]:
        """What it hears of: records that it may read, or might before they changed."""
        mine = [change for change in news.changes if change.scope in self.scopes]
        heard = [change for change in mine if await self._hears(change, news)]
        for change in mine:
            record = news.held.get(change)
            if record is None or self.may_read(record):
                self.kept_back.discard(change)
            else:
                self.kept_back.add(change)
        return heard

    async def _hears(self, change: Change, news: News) -> bool:
        record = news.held.get(change)
        if record is not None and self.may_read(record):
            return True
        if change in self.kept_back:
            return False
        if record is None:  # erased
            return True
        return any(self.may_read(version) for version in await news.earlier(change))


async def audience_of(wiring: Wiring, context: RequestContext) -> Audience:
    """The session's, as of now."""
    scopes = tuple(await wiring.resolver.resolve(context))
    ceiling = wiring.shown_now(context).ceiling

    def may_read(record: MemoryRecord) -> bool:
        return record.sensitivity in ceiling and may_see(context.actor, record)

    kept_back: set[Change] = set()
    for request in _kept_back(context, scopes, len(ceiling)):
        listing = await wiring.provider.list(request)
        kept_back |= {Change(record.scope, record.id) for record in listing.records}
    return Audience(frozenset(scopes), may_read, kept_back)


def _kept_back(context: RequestContext, scopes: tuple[str, ...], levels: int) -> Iterator[ListRequest]:
    """What lists all that is kept from a session that may read so many levels of sensitivity."""
    if levels < len(SENSITIVITIES):
        yield ListRequest(scopes, filter=replace(SET_ASIDE_TOO, min_sensitivity=SENSITIVITIES[levels]))
    if decided_by_others := tuple(scope for scope in scopes if not may_review(context.actor, scope)):
        yield ListRequest(decided_by_others, statuses=("quarantined",), filter=_ARCHIVED_TOO)
